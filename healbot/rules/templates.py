"""Filling ``{{name}}`` in a text, and saying what of a template is more than that.

Knows texts and values only. It is the plainest part of Nunjucks, which promptfoo renders with; a
filter, a condition, a loop or an expression is named and left as it stands, never guessed at.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from healbot.rules.expected import js_text

SHOWN = 60
"""The longest piece of a template that is quoted, in characters."""
_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


def fill(text: str, values: Mapping[str, Any]) -> str:
    """Return a text with every ``{{name}}`` of a known value filled in, the rest as it stands."""

    def one(match: re.Match[str]) -> str:
        name = _NAME.fullmatch(match[0])
        return shown(values[name[1]]) if name and name[1] in values else match[0]

    return _TAG.sub(one, text)


def beyond(text: str) -> str | None:
    """Return the first piece of a template that is more than ``{{name}}``, or None."""
    tags = (match[0] for match in _TAG.finditer(text))
    return next((tag[:SHOWN] for tag in tags if not _NAME.fullmatch(tag)), None)


def names(text: str) -> tuple[str, ...]:
    """Return the names that a text asks for, in order."""
    return tuple(match[1] for match in _NAME.finditer(text))


def shown(value: Any) -> str:
    """Write a value as promptfoo puts it into a text; lists and mappings as JSON."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "" if value is None else js_text(value)
