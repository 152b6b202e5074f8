"""A review card for a terminal or a plain pipe: the same sentences, no HTML, no hidden copy.

Knows widths only. Foreign text loses terminal escapes, control and invisible characters; nothing
is coloured, so the output is the same in a pipe.
"""

import textwrap
import unicodedata
from collections.abc import Sequence
from functools import partial

from healbot.records.card import Card, Change
from healbot.records.case import Standing
from healbot.records.record import shown
from healbot.views import wording
from healbot.views.plain import CUT, one_line, plain_lines

WIDTH = 80
"""Columns, where the caller does not know better."""

LEAST_WIDTH = 40
TEXT_LIMIT = 300
ITEMS = 20
DIFF_LINES = 60
"""How much of a text, of a list, and of a change is shown."""

NAME_WIDTH = 16
"""Columns that a case's name keeps where the table is too wide."""


def render(card: Card, width: int = WIDTH, *, runs: bool = False) -> str:
    """Return the card as plain lines of at most ``width`` columns, ending in a newline.

    ``runs`` adds every run by repeat number, lessons and candidates. Table and diff lines are cut
    at the width; sentences are wrapped.
    """
    width = max(width, LEAST_WIDTH)
    ink = wording.Ink(text=_text, code=_text, strong=str.upper, items=ITEMS)
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
        _wrapped([f"{_text(card.agent)}: {_text(card.title)}"], width),
        _wrapped(head, width),
        *[_change(change, width) for change in card.changes[:ITEMS]],
        _table(card, width),
        _wrapped(wording.failures(card, ink), width),
    ]
    if runs:
        parts += [_runs(card, width), _wrapped(_evidence(card, ink), width)]
    parts.append(_wrapped([" · ".join(_names(card))], width))
    return "\n\n".join(part for part in parts if part) + "\n"


_text = partial(one_line, limit=TEXT_LIMIT)


def _wrapped(lines: Sequence[str], width: int) -> str:
    return "\n".join(
        textwrap.fill(line, width, break_on_hyphens=False, subsequent_indent="  ") for line in lines
    )


def _columns(text: str) -> int:
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _fit(text: str, width: int) -> str:
    if _columns(text) <= width:
        return text
    while text and _columns(text) > width - 1:
        text = text[:-1]
    return text + CUT


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _columns(text))


def _change(change: Change, width: int) -> str:
    path = _fit(f"{_text(change.path)}:{change.first_line}", width - 16)
    lines = [f"{path}  +{change.added:,} −{change.removed:,}"]
    for line in change.lines[:DIFF_LINES]:
        flat = "␊".join(plain_lines(line, TEXT_LIMIT)).replace("\t", "    ")
        lines += textwrap.wrap(
            flat, width, initial_indent="    ", subsequent_indent="      ",
            replace_whitespace=False, break_on_hyphens=False,
        ) or [""]  # fmt: skip
    more = len(change.lines) - DIFF_LINES
    return "\n".join([*lines, *([f"    … and {more:,} more lines"] if more > 0 else [])])


def _grid(rows: Sequence[Sequence[str]], width: int) -> str:
    """Lay out columns; the first gives way down to ``NAME_WIDTH``, then the last is left out."""
    widths = [max(map(_columns, column)) for column in zip(*rows, strict=True)]
    over = sum(widths) + 2 * (len(widths) - 1) - width
    if over > 0:
        widths[0] = max(min(widths[0], NAME_WIDTH), widths[0] - over)
    if sum(widths) + 2 * (len(widths) - 1) > width and len(widths) > 1:
        return _grid([row[:-1] for row in rows], width)
    lines = (
        "  ".join(_padded(_fit(text, wide), wide) for text, wide in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def _table(card: Card, width: int) -> str:
    if not card.rows:
        return ""
    rows = []
    for row in card.rows[:ITEMS]:
        mark = "*" * (row.standing is not Standing.PLAIN) + "!" * row.safety
        rows.append([_text(row.case), row.split.value + mark, *wording.case_cells(row)[1:]])
    legend = ["* protected or fixed  ! safety"] * any(
        "*" in row[1] or "!" in row[1] for row in rows
    )
    more = len(card.rows) - ITEMS
    cut = [f"… and {more:,} more cases"] * (more > 0)
    return "\n".join([_grid([wording.CASE_HEADS, *rows], width), *cut, *legend])


def _runs(card: Card, width: int) -> str:
    lines = []
    for line in card.runs:
        runner = f" ({_text(line.runner)})" if line.runner else ""
        what = f"{_text(wording.about(line))} · {_text(line.case)} · {line.side}{runner}: "
        lines.append(what + wording.run_words(line, len(line.repeats)))
    return _wrapped(lines, width)


def _evidence(card: Card, ink: wording.Ink) -> list[str]:
    lines = [f"Cited lesson {_text(one.key)}: {_text(one.value)}" for one in card.lessons]
    if card.claims:
        claims = wording.some([_text(claim) for claim in card.claims], ITEMS)
        lines.append(f"Prediction: this edit fixes {claims}.")
    for one in card.tried:
        rule = f" ({_text(one.rule)})" if one.rule else ""
        lines.append(f"Tried {_text(shown(one.candidate))} by {_text(one.editor)}: "
                     f"{one.word.value}{rule}")  # fmt: skip
    if card.word not in wording.REFUSED:
        lines += [wording.reason(one, ink) for one in card.reasons]
    return lines


def _names(card: Card) -> list[str]:
    return [
        f"cycle {_text(card.cycle)}",
        f"{_text(shown(card.baseline))} → {_text(shown(card.candidate))}",
        f"ledger {_text(shown(card.ledger))}",
    ]
