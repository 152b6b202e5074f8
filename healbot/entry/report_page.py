"""``healbot report``: one HTML page that needs no server, no network and no script.

Knows where the page goes and how it gets there whole; what it shows is ``entry/report_facts.py``.
"""

import os
import sys
import tempfile
import webbrowser
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from healbot.entry.options import HERE, JsonOption, RepoOption, opened
from healbot.entry.printing import as_json
from healbot.entry.templates import template
from healbot.errors import InputError

NAME = "healbot-report.html"
HEAD_BYTES = 4096
EXTRA = "pip install 'healbot[report]'"


class YesNo(StrEnum):
    """An answer."""

    YES = "yes"
    NO = "no"


def report(
    *,
    out: Annotated[Path, typer.Option("--out", help="Where the page is written.")] = Path(NAME),
    open_: Annotated[
        YesNo, typer.Option("--open", help="Show it in the browser afterwards.")
    ] = YesNo.NO,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a file that is no report.")
    ] = False,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Write one HTML page: pass rates, verdicts, spend, open questions, cases."""
    from healbot.entry.report_facts import report_facts  # noqa: PLC0415 - heavy, only here
    from healbot.views.chart import can_draw  # noqa: PLC0415 - heavy, only here
    from healbot.views.page import render  # noqa: PLC0415 - heavy, only here

    if not as_document:
        _require_ours(out, force=force)
    with opened(repo) as shop:
        facts = report_facts(shop)
    if as_document:
        as_json(facts)
        return
    drawn = can_draw()
    _write(out, render(facts, template("report/page.html"), pictures=drawn))
    print(f"Wrote {out}.")
    if not drawn:
        print(f"Without pictures: they need an extra. {EXTRA}", file=sys.stderr)
    if open_ is YesNo.YES:
        webbrowser.open(out.resolve().as_uri())


def _require_ours(out: Path, *, force: bool) -> None:
    """Refuse to write over what is no page of ours."""
    from healbot.views.page import MARK  # noqa: PLC0415 - heavy, only here

    if out.is_dir():
        raise InputError(f"{out} is a folder.", "Name a file with --out.")
    if not out.parent.is_dir():
        raise InputError(f"The folder {out.parent} is not there.", "Make it, or name another.")
    if force or not out.exists():
        return
    with out.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if MARK.encode() not in head:
        raise InputError(
            f"{out} is there already, and is no report of healbot.",
            "Name another file with --out, or write over it with --force.",
        )


def _write(out: Path, text: str) -> None:
    """Write the page whole or not at all."""
    try:
        handle, name = tempfile.mkstemp(dir=out.parent, prefix=".healbot-")
    except OSError as error:
        raise InputError(
            f"{out} can't be written: {error.strerror}.", "Name another file with --out."
        ) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(out)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise InputError(
            f"{out} can't be written: {error.strerror}.", "Name another file with --out."
        ) from error
