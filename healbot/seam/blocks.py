"""The block that a heal changed: given, or computed from the text before and the text after.

Knows texts only. On whole files two configs are alike because files are; only the changed block
says whether a loop came back to where it was.
"""

from difflib import SequenceMatcher
from typing import NamedTuple

from healbot.seam.schema import Change

LINES_MOST = 4_000
"""Changed regions longer than this are taken whole; a line-by-line comparison would be slow."""


class Block(NamedTuple):
    """What a heal wrote, or, where it only deleted, what it removed."""

    text: str
    removed: bool = False

    @property
    def is_empty(self) -> bool:
        """Return whether nothing but white space changed."""
        return not self.text or self.text.isspace()


EMPTY = Block("")


def changed_block(change: Change) -> Block | None:
    """Return the block that a change wrote or removed; None where the event has no text."""
    if change.block is not None:
        return Block(change.block)
    if change.after_text is None:
        return None
    if change.before_text is None:
        return Block(change.after_text)
    return difference(change.before_text, change.after_text)


def difference(before: str, after: str) -> Block:
    """Return the lines of ``after`` that ``before`` lacks; failing these, the lines removed."""
    olds, news = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if before and after:  # a missing last line break is no change of that line
        olds[-1], news[-1] = olds[-1].rstrip("\r\n") + "\n", news[-1].rstrip("\r\n") + "\n"
    start = _common(olds, news)
    olds, news = olds[start:], news[start:]
    end = _common(olds[::-1], news[::-1])
    olds, news = olds[: len(olds) - end], news[: len(news) - end]
    added, removed = _changed(olds, news)
    if added and not added.isspace():
        return Block(added)
    return Block(removed, removed=True) if removed else EMPTY


def _common(one: list[str], other: list[str]) -> int:
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def _changed(olds: list[str], news: list[str]) -> tuple[str, str]:
    if max(len(olds), len(news)) > LINES_MOST:
        return "".join(news), "".join(olds)
    added: list[str] = []
    removed: list[str] = []
    matcher = SequenceMatcher(None, olds, news, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag != "equal":
            removed += olds[old_from:old_to]
            added += news[new_from:new_to]
    return "".join(added), "".join(removed)
