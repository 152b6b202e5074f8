"""The report as text: a table for a terminal, Markdown for a page, JSON for a program.

Knows the report's document. Foreign texts (ids, signatures, cases) are made harmless: on one line,
without control characters, and as code in Markdown.
"""

import json
from collections.abc import Iterator, Mapping

from healbot.seam.defaults import Limits

Facts = Mapping[str, object]
FORMATS = ("json", "table", "markdown")
AXES = {
    "S": ("Signal", "was the failure real, and did the heal hold"),
    "E": ("Efficacy", "did the held-out score rise as the visible one did"),
    "A": ("Aftermath", "what passed before and fails after"),
    "M": ("Monotonicity", "did the loop get better without thrashing"),
}
FACTS = ("gate_blocks", "budget_elevated", "contamination", "recertify_due", "composite")
EXTRAS = ("intervals", "floor", "by", "explain")


def in_format(document: Facts, form: str, limits: Limits) -> str:
    """Return the report's text in one of ``FORMATS``, with its last line break."""
    if form == "json":
        return json.dumps(document, indent=2, allow_nan=False) + "\n"
    lines = _markdown(document, limits) if form == "markdown" else _table(document, limits)
    return "\n".join(lines) + "\n"


def harmless(text: str) -> str:
    """Return a text on one line, with what can't be printed shown as escapes."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _rows(document: Facts, limits: Limits) -> Iterator[tuple[str, str, str, str]]:
    for axis, (name, question) in AXES.items():
        value, least = document[axis], getattr(limits, f"alert_{axis.lower()}")
        state = "null" if value is None else "ALERT" if _is_low(document, axis) else "ok"
        yield f"{axis} {name}", _value(value), f"{least:g} {state}", question


def _is_low(document: Facts, axis: str) -> bool:
    alerts = document["alerts"]
    return isinstance(alerts, list) and any(str(one).startswith(f"{axis}<") for one in alerts)


def _table(document: Facts, limits: Limits) -> Iterator[str]:
    yield f"SEAM {document['window'] or 'no window'}"
    for name, value, state, question in _rows(document, limits):
        yield f"  {name:<15} {value:>8}  {state:<12} {question}"
    yield f"  {'alerts':<15} {_joined(document['alerts'])}"
    for name in FACTS:
        if name in document:
            yield f"  {name:<15} {_value(document[name])}"
    yield from (f"  note: {harmless(str(one))}" for one in _list(document["notes"]))
    for name in EXTRAS:
        if name in document:
            yield f"{name}:"
            yield from _tree(document[name], 1)


def _markdown(document: Facts, limits: Limits) -> Iterator[str]:
    yield f"### SEAM {document['window'] or 'no window'}"
    yield ""
    yield "| axis | value | alert below | |"
    yield "|---|---:|---|---|"
    for name, value, state, question in _rows(document, limits):
        yield f"| {name} | {value} | {state} | {question} |"
    yield ""
    yield f"Alerts: {_joined(document['alerts'])}."
    told = "; ".join(f"{one} {_value(document[one])}" for one in FACTS if one in document)
    yield f"{told}."
    notes = _list(document["notes"])
    if notes:
        yield ""
        yield from (f"- {_as_code(str(one))}" for one in notes)
    for name in EXTRAS:
        if name in document:
            yield ""
            yield f"<details><summary>{name}</summary>"
            yield ""
            yield from (f"    {line}" for line in _tree(document[name], 0))
            yield ""
            yield "</details>"


def _as_code(text: str) -> str:
    """Return a text as a code span: nothing in it acts on the page."""
    inner = harmless(text)
    fence = "`" * (max((len(run) for run in _runs(inner)), default=0) + 1)
    return f"{fence} {inner} {fence}" if "`" in inner else f"{fence}{inner}{fence}"


def _runs(text: str) -> list[str]:
    return "".join(one if one == "`" else " " for one in text).split()


def _tree(value: object, depth: int) -> Iterator[str]:
    pad = "  " * depth
    entries: list[tuple[str, object]] = []
    if isinstance(value, Mapping):
        entries = [(f"{harmless(str(key))}:", inner) for key, inner in value.items()]
    elif isinstance(value, list):
        entries = [("-", inner) for inner in value]
    for mark, inner in entries:
        if isinstance(inner, Mapping | list) and not _is_flat(inner):
            yield f"{pad}{mark}"
            yield from _tree(inner, depth + 1)
        else:
            yield f"{pad}{mark} {_value(inner)}"


def _is_flat(value: object) -> bool:
    return isinstance(value, list) and not any(isinstance(one, Mapping | list) for one in value)


def _value(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return _joined(value)
    return f"{value:.4g}" if isinstance(value, float) else harmless(str(value))


def _joined(value: object) -> str:
    return ", ".join(_value(one) for one in _list(value)) or "none"


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
