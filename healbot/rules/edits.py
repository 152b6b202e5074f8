"""Applying an edit to a harness, all of it or nothing, and the edit that takes it back.

Knows texts as exact bytes; what an edit may not touch is the guard's business, not this module's.

Bytes that are no UTF-8 travel as surrogates (``surrogateescape``), so whatever no hunk names comes
out as it went in. A line break in a hunk stands for the file's own line break, whatever that is.
"""

import re
from typing import NamedTuple

from healbot.errors import EditError
from healbot.records.edit import Edit, Hunk
from healbot.records.harness import Harness
from healbot.records.verdict import Reason

NEXT_STEP = "Read the file again and quote text that occurs in it exactly once."
FIRST_CONTEXT_CHARACTERS = 16
"""How much context an inverse's anchor takes on each side at first; doubled until it is unique."""

_CLEARED = "."
_BREAK = re.compile(r"\r\n|\n|\r")
_ANY_BREAK = r"(?:\r\n|(?<!\r)\n|\r(?!\n))"


class Applied(NamedTuple):
    """The harness after an edit, and the edit that gives back the one before, byte for byte."""

    harness: Harness
    inverse: Edit


class _UnfitError(Exception):
    """Carries the reason out of the loop over hunks; never leaves this module."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(text)
        self.reason = Reason(rule=rule, text=text)


def decode(content: bytes) -> str:
    """Return bytes as text; bytes that are no UTF-8 become surrogates."""
    return content.decode("utf-8", "surrogateescape")


def line_break(text: str) -> str:
    r"""Return the line break that a text uses most: ``\r\n``, ``\n``, or a lone ``\r``."""
    both = text.count("\r\n")
    feeds = text.count("\n") - both
    if both > feeds:
        return "\r\n"
    return "\r" if not text.count("\n") and "\r" in text else "\n"


def apply(harness: Harness, edit: Edit) -> Applied:
    """Apply all hunks in order, or none.

    Raises:
        EditError: An anchor is empty, missing or ambiguous (says how often it was found), a file
            is not in the harness or would be left empty, or nothing would change.
    """
    outcome = attempt(harness, edit)
    if isinstance(outcome, Reason):
        raise EditError(outcome.text, NEXT_STEP if outcome.rule == "anchor" else "")
    return outcome


def attempt(harness: Harness, edit: Edit) -> Applied | Reason:
    """Do as ``apply`` does, but return why it can't be instead of raising.

    The reason's rule is ``outside``, ``anchor``, ``empty`` or ``no-change``.
    """
    texts: dict[str, str] = {}
    try:
        for number, hunk in enumerate(edit.hunks, 1):
            now = texts.get(hunk.path)
            texts[hunk.path] = _changed(
                _text(harness, hunk.path) if now is None else now, hunk, number
            )
        return _applied(harness, texts)
    except _UnfitError as unfit:
        return unfit.reason


def _text(harness: Harness, path: str) -> str:
    file = harness.get(path)
    if file is None:
        raise _UnfitError("outside", f"{path} is not one of the harness's files")
    return file.text


def _applied(harness: Harness, texts: dict[str, str]) -> Applied:
    after = harness
    undo: list[Hunk] = []
    for path, text in texts.items():
        before = harness.get(path)
        content = _encoded(text, path)
        if before is None or before.content == content:
            continue
        if not content or not before.content:
            raise _UnfitError("empty", f"{path} {_EMPTY[bool(content)]}")
        after = after.replace(path, content)
        undo += hunks_between(path, decode(content), before.text)
    if not undo:
        raise _UnfitError("no-change", "the edit changes nothing")
    return Applied(after, Edit(hunks=tuple(undo)))


_EMPTY = {
    False: "would be left empty, and an edit may not empty a file",
    True: "is empty: a person must write its first line before an edit can join it",
}


def _encoded(text: str, path: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        wrong = text[error.start]
        raise _UnfitError(
            "anchor", f"the text for {path} holds {wrong!r}, which no file can hold"
        ) from error


def _changed(text: str, hunk: Hunk, number: int) -> str:
    own = line_break(text)
    added = _adapted(hunk.text, own)
    if hunk.op == "append":
        return _appended(text, added, own)
    start, end = _found(text, hunk, number)
    if hunk.op == "insert-after":
        start = end
    elif hunk.op == "insert-before":
        end = start
    return text[:start] + added + text[end:]


def _adapted(added: str, own: str) -> str:
    """Put the file's own line breaks; a text that has a carriage return is meant as it stands."""
    return added if "\r" in added or own == "\n" else added.replace("\n", own)


def _appended(text: str, added: str, own: str) -> str:
    """Join text at the end on lines of its own; a missing final line break stays missing."""
    if not text or text.endswith(("\n", "\r")):
        return text + added + ("" if added.endswith(("\n", "\r")) else own)
    last = _BREAK.search(added, max(len(added) - 2, 0))
    kept = added[: last.start()] if last and last.end() == len(added) else added
    return text + own + kept


def _found(text: str, hunk: Hunk, number: int) -> tuple[int, int]:
    if not hunk.anchor:
        raise _UnfitError("anchor", f"hunk {number} for {hunk.path} has an empty anchor")
    spans = _spans(text, hunk.anchor)
    if len(spans) != 1:
        shown = hunk.anchor if len(hunk.anchor) <= 60 else hunk.anchor[:57] + "..."  # noqa: PLR2004
        raise _UnfitError(
            "anchor",
            f"the anchor {shown!r} of hunk {number} was found {len(spans)} times in {hunk.path}, "
            "and must be found exactly once",
        )
    return spans[0]


def _spans(text: str, anchor: str) -> list[tuple[int, int]]:
    """Return every place of an anchor, overlapping ones too.

    A plain line feed in it stands for any whole line break, unless the anchor has carriage returns
    of its own and so is meant as it stands.
    """
    if "\n" in anchor and "\r" not in anchor:
        pattern = _ANY_BREAK.join(re.escape(part) for part in anchor.split("\n"))
        return [match.span(1) for match in re.finditer(f"(?=({pattern}))", text)]
    spans, start = [], text.find(anchor)
    while start >= 0:
        spans.append((start, start + len(anchor)))
        start = text.find(anchor, start + 1)
    return spans


def hunks_between(path: str, now: str, wanted: str) -> tuple[Hunk, ...]:
    """Return the hunks that turn a file's text into another, exactly; nearly always it is one.

    The anchor is what differs, with as much context as makes it occur once; at worst all of it.
    Where even then the file's line breaks would be put in place of others, a first hunk clears the
    file. Both texts must be non-empty, and what a file decodes to.
    """
    head = _same(now, wanted, 0)
    tail = _same(now[::-1], wanted[::-1], head)
    context = 0
    while context < 2 * max(len(now), FIRST_CONTEXT_CHARACTERS):
        start, end = max(head - context, 0), max(tail - context, 0)
        anchor = now[start : len(now) - end]
        text = wanted[start : len(wanted) - end]
        as_it_stands = _adapted(text, line_break(now)) == text
        if anchor and as_it_stands and _spans(now, anchor) == [(start, len(now) - end)]:
            return (Hunk(path=path, op="replace" if text else "delete", anchor=anchor, text=text),)
        context = max(context * 2, FIRST_CONTEXT_CHARACTERS)
    return (
        Hunk(path=path, op="replace", anchor=now, text=_CLEARED),
        Hunk(path=path, op="replace", anchor=_CLEARED, text=wanted),
    )


def _same(one: str, other: str, taken: int) -> int:
    """Return how many characters two texts open with alike, but for those taken already."""
    room = min(len(one), len(other)) - taken
    return next((place for place in range(room) if one[place] != other[place]), room)
