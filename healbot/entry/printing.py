"""How commands show what they found: one JSON document, or a table; plain in a pipe.

Knows plain data only. Nothing but the answer goes to stdout.
"""

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from healbot.views.plain import cleaned

NARROWEST = 8
LONG_SECONDS = (90, 5400)
"""From here on a time is told in minutes, and from there on in hours."""


def as_json(value: Any) -> None:
    """Print one JSON document."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def table(rows: Sequence[Mapping[str, object]], columns: Sequence[str], *, empty: str) -> None:
    """Print rows under headings on a terminal, tab-separated without headings in a pipe."""
    if not rows:
        print(empty, file=sys.stderr)
        return
    cells = [
        [cleaned(_text(row.get(column))).replace("\n", " ") for column in columns] for row in rows
    ]
    if not sys.stdout.isatty():
        for line in cells:
            print("\t".join(line))
        return
    heads = [column.replace("_", " ").upper() for column in columns]
    widths = [max(len(line[place]) for line in [heads, *cells]) for place in range(len(columns))]
    room = shutil.get_terminal_size().columns - sum(widths[:-1]) - 2 * (len(widths) - 1)
    widths[-1] = max(NARROWEST, min(widths[-1], room))
    for line in [heads, *cells]:
        shown = [_fit(cell, width) for cell, width in zip(line, widths, strict=True)]
        print("  ".join(shown).rstrip())


def _fit(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def spoken(seconds: float) -> str:
    """Say a length of time in the unit that a person would use."""
    minutes, hours = LONG_SECONDS
    if seconds >= hours:
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / 60:.0f} minutes" if seconds >= minutes else f"{seconds:.0f} seconds"
