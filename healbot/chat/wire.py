"""What differs between the APIs of chat models, as data; and careful reading of foreign JSON.

Knows no network, key or price.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from healbot.records.chat import Answer, Ask, Call, Stop

_HALF = re.compile(r"\\ud[89a-f]", re.IGNORECASE)
"""Half of a character as JSON writes it; alone it is no text."""
Fields = Mapping[str, tuple[str, ...]]


class UnreadableError(Exception):
    """An answer that is not in the API's shape; the text says what is wrong with it."""


class Wire(NamedTuple):
    """One API.

    Attributes:
        base_url: The vendor's own server.
        path: What a request's path ends in, below ``base_url``.
        key_headers: The key to the headers that carry it.
        headers: What every request carries besides.
        render: An Ask and a model's name to the body, without what ``fields`` names.
        parse: A body to an Answer.
        fields: A field of Ask to its names on the wire, the one to try first standing first.
        needed: Names on the wire that can't be left out.
        most_tokens: ``max_tokens`` where nobody gave one and the API needs it.
        refused: Names that a vendor's host is known to refuse.
    """

    base_url: str
    path: str
    key_headers: Callable[[str], dict[str, str]]
    headers: Mapping[str, str]
    render: Callable[[Ask, str], dict[str, Any]]
    parse: Callable[[Mapping[str, Any]], Answer]
    fields: Fields
    needed: frozenset[str] = frozenset()
    most_tokens: int | None = None
    refused: Mapping[str, frozenset[str]] = {}


def body_of(
    wire: Wire, ask: Ask, *, model: str, refused: frozenset[str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the body, and the fields of the Ask that are not in it because the server has none."""
    body = wire.render(ask, model)
    left_out = []
    for field, names in wire.fields.items():
        value = getattr(ask, field)
        if value is None or value == ():
            continue
        name = next((one for one in names if one not in refused), None)
        if name is None:
            left_out.append(field)
        else:
            body[name] = list(value) if isinstance(value, tuple) else value
    return body, tuple(left_out)


def decoded(text: str) -> object:
    """Return the value of JSON text, half characters replaced; None where it is none."""
    try:
        value = json.loads(text, parse_constant=_no_number)
        if _HALF.search(text):
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    else:
        return value


def _no_number(word: str) -> float:
    raise ValueError(word)


def object_of(value: object) -> dict[str, Any]:
    """Return a JSON object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def objects_of(value: object) -> list[dict[str, Any]]:
    """Return the objects of a JSON list, or none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a JSON string, or an empty one in place of anything else."""
    return value if isinstance(value, str) else ""


def count_of(value: object) -> int | None:
    """Return a number of tokens, or None where it is none."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None  # type: ignore[return-value]


def texts_of(blocks: Iterable[Mapping[str, Any]]) -> str:
    """Join the texts of content blocks."""
    return "".join(text_of(one.get("text")) for one in blocks if one.get("type") == "text")


def said_stop(words: Mapping[str, Stop], word: object, calls: tuple[Call, ...]) -> Stop:
    """Return why an answer ended, held against whether it calls tools.

    Many servers say an ordinary end where tools are called.
    """
    stop = words.get(text_of(word), "unknown")
    if calls and stop in {"end", "unknown"}:
        return "tools"
    return "unknown" if stop == "tools" and not calls else stop
