"""Writing the report's file: whole or not at all, and never over somebody else's file.

Knows a path and a text; not what the page shows.
"""

import os
import tempfile
from pathlib import Path

from healbot.errors import InputError
from healbot.views.page import MARK

HEAD_BYTES = 4096
"""How far into a file our mark is looked for."""


def require_ours(out: Path, *, force: bool) -> None:
    """Refuse to write over what is no page of ours."""
    if out.is_dir():
        raise InputError(f"{out} is a folder.", "Name a file with --out.")
    if out.exists() and not out.is_file():
        raise InputError(f"{out} is no regular file.", "Name another file with --out.")
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


def write_whole(out: Path, text: str) -> None:
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
