r"""What differs between two states of one file, as lines: for cards and for checks of added text.

Knows text only. A line ends at ``\r\n``, ``\n`` or a lone ``\r``, and at nothing else.
"""

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

from healbot.rules.edits import decode

CONTEXT_LINES = 3

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


class LineChange(NamedTuple):
    """Lines that came and went, without their line breaks, and where.

    Attributes:
        first_line_number: 1-based, in the later state; where lines only went, the line after them.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    first_line_number: int


def lines_of(text: str) -> list[str]:
    """Split text into lines that keep their line breaks."""
    return _LINE.findall(text)


def changed_lines(before: bytes, after: bytes) -> LineChange:
    """Return the lines that an edit added and removed; equal states give none, at line 1."""
    old, new = lines_of(decode(before)), lines_of(decode(after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    added: list[str] = []
    removed: list[str] = []
    first = 0
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            first = first or j1 + 1
            removed += old[i1:i2]
            added += new[j1:j2]
    return LineChange(_bare(added), _bare(removed), first or 1)


def unified(before: bytes, after: bytes, path: str, *, context: int = CONTEXT_LINES) -> str:
    r"""Return a unified diff as git would show it, lines joined by ``\\n``, empty where equal."""
    old, new = lines_of(decode(before)), lines_of(decode(after))
    shown: list[str] = []
    for line in difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", n=context):
        bare = line.rstrip("\r\n")
        shown.append(bare)
        if bare == line:
            shown.append("\\ No newline at end of file")
    return "".join(line + "\n" for line in shown)


def _bare(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line.rstrip("\r\n") for line in lines)
