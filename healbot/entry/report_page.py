"""``healbot report``: one HTML page that needs no server, no network and no script.

Knows where the page goes and how it gets there whole; what it shows is ``entry/report_facts.py``.
"""

import sys
import webbrowser
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from healbot.entry.options import HERE, JsonOption, RepoOption, opened
from healbot.entry.printing import as_json
from healbot.entry.templates import template

NAME = "healbot-report.html"
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
    """Write one HTML page: pass rates, verdicts, spend, questions."""
    from healbot.entry.page_file import require_ours, write_whole  # noqa: PLC0415 - heavy
    from healbot.entry.report_facts import report_facts  # noqa: PLC0415 - heavy, only here
    from healbot.views.chart import can_draw  # noqa: PLC0415 - heavy, only here
    from healbot.views.page import render  # noqa: PLC0415 - heavy, only here

    if not as_document:
        require_ours(out, force=force)
    with opened(repo) as shop:
        facts = report_facts(shop)
    if as_document:
        as_json(facts)
        return
    drawn = can_draw()
    write_whole(out, render(facts, template("report/page.html"), pictures=drawn))
    print(f"Wrote {out}.")
    if not drawn:
        print(f"Without pictures: they need an extra. {EXTRA}", file=sys.stderr)
    if open_ is YesNo.YES:
        webbrowser.open(out.resolve().as_uri())
