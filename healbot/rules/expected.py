"""The value of an assertion as promptfoo reads it: texts, numbers, comma-separated lists, JSON.

Knows values only; compares nothing with an output.
"""

import re
from typing import Any

from healbot.records.case import Assertion
from healbot.rules.patterns import Unscorable

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_FIELD = re.compile(r'[\s,]*+(?:"((?:\\["\\]|""|[^"])*+)"\s*(?=,|$)|([^",][^,]*))')


def refuse_references(value: Any) -> None:
    """Refuse what promptfoo would fetch, run or render before it compares."""
    for text in value if isinstance(value, list) else [value]:
        if not isinstance(text, str):
            continue
        if text.startswith(("file://", "package:")):
            raise Unscorable("the value refers to a file, which is not read here; write it inline")
        if _TEMPLATE.search(text):
            raise Unscorable("the value holds a template that nothing here fills in")


def text_of(assertion: Assertion) -> str:
    """Return a value that is a text or a number, as JavaScript writes it."""
    value = assertion.value
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or value == "":
        raise Unscorable(f"{assertion.type} needs a text or a number as its value")
    return js_text(value)


def texts_of(assertion: Assertion) -> list[str]:
    """Return a list value, or the parts of a comma-separated one (quotes keep commas)."""
    value = assertion.value
    items = _split(value) if isinstance(value, str) else value
    if not isinstance(items, list) or not items:
        raise Unscorable(f"{assertion.type} needs a list of texts as its value")
    if any(isinstance(item, (dict, list)) or item in ("", None) for item in items):
        raise Unscorable(f"{assertion.type} has an entry that is empty or no text")
    return [js_text(item) for item in items]


def js_text(value: object) -> str:
    """Write a plain value as JavaScript's ``String`` does (``true``, ``1`` for 1.0)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _split(text: str) -> list[str]:
    """Split at commas as promptfoo does; a quoted field keeps its commas."""
    fields, at, end = [], 0, len(text.rstrip(" ,\t\n"))
    while at < end:
        match = _FIELD.match(text, at)
        if match is None:
            raise Unscorable("the comma-separated value has a quote that is not closed")
        quoted, plain = match[1], match[2]
        fields.append(
            plain.strip() if quoted is None else re.sub(r'\\(["\\])|"(")', r"\1\2", quoted)
        )
        at = match.end()
    return fields


def same(one: Any, other: Any) -> bool:
    """Compare JSON values deeply; true is not 1, but 1 is 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
