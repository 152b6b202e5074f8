"""A review card as the body of a pull request, in GitHub Markdown; and read back from there.

Knows layout and size. Every foreign text goes through ``plain``; the sentences are ``wording``'s.
A person's words outside the two markers are theirs: they are kept, byte for byte.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from healbot.errors import InputError
from healbot.records.card import Card, Change
from healbot.records.record import shown
from healbot.views import payload, wording
from healbot.views.plain import cell, code, plain, plain_block

OPEN = "<!-- healbot:card -->"
CLOSE = "<!-- /healbot:card -->"

BODY_LIMIT = 65_536
"""Characters that GitHub takes in a body (it answers 422, "body is too long", above)."""

BODY_BUDGET = 60_000
"""What a card allows itself, counted in UTF-16 units, the dearer way to count characters."""

LEAST_BUDGET = 25_000
"""Below this no card fits for certain."""

PAYLOAD_SHARE = 0.4
"""Of the budget, for the hidden copy."""

_OPENING = re.compile(r"^<!-- healbot:card -->[ \t]*\r?$", re.MULTILINE)
_CLOSING = re.compile(r"^<!-- /healbot:card -->[ \t]*\r?$", re.MULTILINE)


class Level(NamedTuple):
    """How much of every list (members) and text (characters) is shown."""

    items: int
    chars: int
    lines: int


LEVELS = (
    Level(1_000, 600, 2_000),
    Level(200, 400, 800),
    Level(60, 300, 200),
    Level(20, 200, 60),
    Level(6, 120, 20),
    Level(2, 60, 5),
)
"""Tried in this order until the card fits."""


def size(text: str) -> int:
    """Count UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def render(card: Card, budget: int = BODY_BUDGET) -> str:
    """Return the card as Markdown between its markers, without a final newline.

    At most ``budget`` characters (``LEAST_BUDGET`` or more): long lists are cut, and the text says
    by how many; ``parse`` gives the same card back, or one with ``complete`` false where even the
    hidden copy would not fit.
    """
    hidden = payload.pack(card, int(budget * PAYLOAD_SHARE))
    room = budget - size(_framed("", hidden))
    body = ""
    for level in LEVELS:
        body = _body(card, level)
        if size(body) <= room:
            break
    return _framed(body, hidden)


def parse(body: str) -> Card | None:
    """Read a card back from a pull request's body, or None where there is none.

    Line ends of the web form and white space at the end of lines do no harm.
    """
    span = _span(body)
    return payload.unpack(body[span[0] : span[1]]) if span else None


def merge_into(existing_body: str, rendered: str) -> str:
    """Put a rendered card where the old one stands, or below a person's words."""
    span = _span(existing_body)
    if span is not None:
        return existing_body[: span[0]] + rendered + existing_body[span[1] :]
    if not existing_body.strip():
        return rendered
    return f"{_unmarked(existing_body).rstrip()}\n\n{rendered}"


def update(existing_body: str, card: Card) -> str:
    """Render a card into a body, smaller where a person's words need the room.

    Raises:
        InputError: They leave too little.
    """
    around = size(merge_into(existing_body, ""))
    budget = min(BODY_BUDGET, BODY_LIMIT - around)
    if budget < LEAST_BUDGET:
        raise InputError(
            f"The text around the review card has {around:,} characters, which leaves no room for "
            f"the card under the forge's limit of {BODY_LIMIT:,}.",
            "Shorten the pull request's description outside the card's markers.",
        )
    return merge_into(existing_body, render(card, budget))


def _framed(body: str, hidden: str) -> str:
    return f"{OPEN}\n{body}\n\n{hidden}\n{CLOSE}"


def _span(body: str) -> tuple[int, int] | None:
    closing = None
    opening = _OPENING.search(body)
    if opening:
        closing = _CLOSING.search(body, opening.end())
    if opening is None or closing is None:
        return None
    return opening.start(), closing.start() + len(CLOSE)


def _unmarked(body: str) -> str:
    opening, hidden = _OPENING.search(body), payload.LINE.search(body)
    if opening and hidden and opening.start() < hidden.start():
        body = body[: opening.start()] + body[hidden.end() :].lstrip("\r\n")
    return payload.LINE.sub("", _CLOSING.sub("", _OPENING.sub("", body)))


def _ink(level: Level) -> wording.Ink:
    return wording.Ink(
        text=partial(plain, limit=level.chars),
        code=partial(code, limit=level.chars),
        strong=_strong,
        items=level.items,
    )


def _strong(text: str) -> str:
    return f"**{text}**"


def _body(card: Card, level: Level) -> str:
    ink = _ink(level)
    head = [
        wording.first_line(card, ink),
        *wording.further_reasons(card, ink),
        *wording.earlier(card, ink),
        *wording.limits(card, ink),
        wording.spend(card),
        *wording.chance(card),
        wording.merging(card, ink),
    ]
    parts = [
        "\n".join(head),
        *_changes(card.changes, level),
        *_cases(card, level, ink),
        *wording.failures(card, ink),
        _details(card, level, ink),
    ]
    return "\n\n".join(part for part in parts if part)


def _changes(changes: Sequence[Change], level: Level) -> list[str]:
    parts = []
    for change in changes[: level.items]:
        where = code(f"{change.path}:{change.first_line}", level.chars)
        parts.append(f"{where} +{change.added:,} −{change.removed:,}")
        lines = [f" {line}" if line[:1] not in {"+", "-", " ", "@"} else line for line in
                 change.lines[: level.lines]]  # fmt: skip
        if lines:
            flat = "\n".join(line.replace("\r\n", "\n").replace("\n", "␊") for line in lines)
            parts.append(plain_block(flat, level.chars, "diff"))
        parts.extend(_more(len(change.lines) - level.lines, "lines of this change"))
    parts.extend(_more(len(changes) - level.items, "changed files"))
    return parts


def _more(hidden: int, what: str) -> list[str]:
    return [f"Cut to fit: {hidden:,} more {what} not shown."] if hidden > 0 else []


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *[[cell(one) for one in row] for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cases(card: Card, level: Level, ink: wording.Ink) -> list[str]:
    if not card.rows:
        return []
    rows = [[ink.code(row.case), *wording.case_cells(row)] for row in card.rows[: level.items]]
    return [
        _table(wording.CASE_HEADS, rows),
        *_more(len(card.rows) - level.items, "cases"),
    ]


def _details(card: Card, level: Level, ink: wording.Ink) -> str:
    parts = [
        "<details><summary>Every run by repeat number, lessons, prediction, ledger</summary>",
        *_runs(card, level, ink),
        *_tried(card, level, ink),
        *_spoken(card, level, ink),
        *_lessons(card, level, ink),
    ]
    if card.claims:
        claims = wording.some([ink.code(claim) for claim in card.claims], level.items)
        parts.append(f"Prediction: this edit fixes {claims}.")
    parts.append("\n".join(f"- {line}" for line in wording.anchors(card, ink)))
    parts.append("</details>")
    return "\n\n".join(parts)


def _runs(card: Card, level: Level, ink: wording.Ink) -> list[str]:
    if not card.runs:
        return []
    rows = [
        [
            code(wording.about(line), level.chars),
            ink.code(line.case),
            f"{line.side}, {ink.code(line.runner)}" if line.runner else line.side,
            wording.run_words(line, level.lines),
        ]
        for line in card.runs[: level.items]
    ]
    return [
        _table(("decision", "case", "side", "runs"), rows),
        *_more(len(card.runs) - level.items, "lines of runs"),
    ]


def _tried(card: Card, level: Level, ink: wording.Ink) -> list[str]:
    if not card.tried:
        return []
    rows = [
        [
            ink.code(shown(one.candidate)),
            ink.text(one.editor),
            one.word.value,
            ink.code(one.rule) if one.rule else "",
        ]
        for one in card.tried[: level.items]
    ]
    return [
        f"Candidates tried: {len(card.tried):,}.",
        _table(("candidate", "editor", "verdict", "rule"), rows),
        *_more(len(card.tried) - level.items, "candidates"),
    ]


def _spoken(card: Card, level: Level, ink: wording.Ink) -> list[str]:
    if card.word in wording.REFUSED or not card.reasons:
        return []
    said = [wording.reason(one, ink) for one in card.reasons[: level.items]]
    more = _more(len(card.reasons) - level.items, "rules that spoke")
    return ["Rules that spoke:", "\n".join(f"- {line}" for line in said), *more]


def _lessons(card: Card, level: Level, ink: wording.Ink) -> list[str]:
    if not card.lessons:
        return []
    lines = [
        f"- {ink.code(one.key)}" + (f" {ink.text(one.value)}" if one.value else "")
        for one in card.lessons[: level.items]
    ]
    more = _more(len(card.lessons) - level.items, "lessons")
    return ["Cited lessons:", "\n".join(lines), *more]
