"""Protected blocks: where they are in a text, and whether an edit left them alone.

Knows markers and headings; who may override a protection is nobody's business here: no edit may.

Markers count wherever they stand, in a code fence too, so that no edit can argue about them. A
marker that is never closed protects all that follows it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from healbot.records.harness import Harness
from healbot.rules.differences import lines_of
from healbot.rules.structure import Block, Heading, blocks_of, headings_of, in_comment

_MARKER = re.compile(r"<!--\s*(/?)\s*healbot:protect\s*-->", re.IGNORECASE)
_SETTING = re.compile(r"(#{0,6})\s*(.*?)\s*#*\s*")


class Span(NamedTuple):
    """A protected stretch of a text, as character offsets, and what protects it."""

    start: int
    end: int
    why: str


class _Guise(NamedTuple):
    """All that must stay the same about a protected stretch."""

    text: str
    under: tuple[tuple[int, str], ...]
    commented: bool
    shape: tuple[tuple[object, ...], ...]


def protected_spans(text: str, protect: Sequence[str] = ()) -> list[Span]:
    """Return the protected stretches, by markers first, then by the headings of the settings.

    A heading is given as ``## Safety`` (that level) or ``Safety`` (any level), compared without
    regard to case; its section reaches to the next heading of the same or a higher level.
    """
    return _marked(text) + (_sections(text, blocks_of(text), protect) if protect else [])


def unprotected(harness: Harness, protect: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence for each entry of the settings that protects nothing in a harness."""
    return tuple(
        f"protect: {entry!r} matches no heading of the harness, so it protects nothing"
        for entry in protect
        if all(
            protected_spans(file.text, (entry,)) == protected_spans(file.text, ())
            for file in harness.files
        )
    )


def disturbed(before: str, after: str, protect: Sequence[str] = ()) -> str | None:
    """Return what an edit does to the protected blocks, or None where it leaves them alone."""
    if len(_MARKER.findall(before)) != len(_MARKER.findall(after)):
        return "the edit adds or removes a protect marker"
    were, are = _guises(before, protect), _guises(after, protect)
    if len(were) != len(are):
        return "the edit adds, removes or renames a protected section"
    for (why, was), (_, now) in zip(were, are, strict=True):
        if was.text != now.text:
            return f"the edit changes text protected by {why}"
        if was.under != now.under:
            return f"the edit moves text protected by {why} under other headings"
        if was.commented != now.commented or was.shape != now.shape:
            return f"the edit wraps or disables text protected by {why}"
    return None


def _marked(text: str) -> list[Span]:
    spans: list[Span] = []
    depth = start = 0
    for match in _MARKER.finditer(text):
        if not match[1]:
            start = match.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                spans.append(Span(start, match.end(), "a marker"))
    if depth:
        spans.append(Span(start, len(text), "a marker"))
    return spans


def _sections(text: str, blocks: list[Block], protect: Sequence[str]) -> list[Span]:
    wanted = [_SETTING.fullmatch(entry.strip()) for entry in protect]
    headings = headings_of(blocks)
    starts = _line_starts(text)
    spans = []
    for heading in headings:
        for entry in wanted:
            if entry and entry[2] and _is(heading, len(entry[1]), entry[2]):
                end = _section_end(heading, headings, len(starts) - 1)
                why = f"the heading {heading.text!r}"
                spans.append(Span(starts[heading.line], starts[end], why))
                break
    return spans


def _is(heading: Heading, level: int, name: str) -> bool:
    same = " ".join(heading.text.split()).casefold() == " ".join(name.split()).casefold()
    return same and level in {0, heading.level}


def _section_end(heading: Heading, headings: list[Heading], last: int) -> int:
    after = (
        other.line
        for other in headings
        if other.line > heading.line and other.level <= heading.level and not other.nested
    )
    return next(after, last)


def _line_starts(text: str) -> list[int]:
    """Return each line's offset, and the text's length as the last entry."""
    starts = [0]
    for line in lines_of(text):
        starts.append(starts[-1] + len(line))
    return starts


def _guises(text: str, protect: Sequence[str]) -> list[tuple[str, _Guise]]:
    markers = _marked(text)
    if not markers and not protect:
        return []
    blocks = blocks_of(text)
    headings, starts = headings_of(blocks), _line_starts(text)
    found = []
    for span in markers + _sections(text, blocks, protect):
        first = max(number for number, start in enumerate(starts) if start <= span.start)
        end = next(number for number, start in enumerate(starts) if start >= span.end)
        guise = _Guise(
            text[span.start : span.end],
            _under(headings, first),
            in_comment(text, span.start),
            _shape(blocks, first, end),
        )
        found.append((span.why, guise))
    return found


def _under(headings: list[Heading], line: int) -> tuple[tuple[int, str], ...]:
    """Return the headings that a line stands under, outermost first."""
    path: list[tuple[int, str]] = []
    for heading in headings:
        if heading.line < line and not heading.nested:
            path = [one for one in path if one[0] < heading.level]
            path.append((heading.level, heading.text))
    return tuple(path)


def _shape(blocks: list[Block], first: int, end: int) -> tuple[tuple[object, ...], ...]:
    """Return how a stretch of lines reads as Markdown; blocks that reach beyond it by kind only."""
    shape: list[tuple[object, ...]] = []
    for block in blocks:
        if block.first >= end or block.end <= first:
            continue
        within = first <= block.first and block.end <= end
        shape.append(
            (
                block.kind,
                block.tag,
                block.depth,
                max(block.first - first, 0),
                block.content if within else None,
                block.children if within else None,
            )
        )
    return tuple(shape)
