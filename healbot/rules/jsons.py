"""JSON and JSON Lines as documents.

Knows JSON only: the standard reader says whether a text is valid, a walk over its tokens keeps the
lines.
"""

import json
import re
from typing import NoReturn

from healbot.rules.documents import (
    MAX_DEPTH,
    Document,
    Node,
    Step,
    check_depth,
    decode,
    list_node,
    map_node,
    refuse,
)

_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def parse_json(text: str | bytes, name: str) -> Document:
    """Read one JSON document.

    Raises:
        InputError: Syntax, a duplicate key, nesting without end.
    """
    return Document(name, _json_node(decode(text, name), name, 1))


def parse_jsonl(text: str | bytes, name: str) -> Document:
    """Read JSON Lines as one list; empty lines are passed over.

    Raises:
        InputError: A line that is no JSON.
    """
    nodes = [
        _json_node(line, name, number)
        for number, line in enumerate(decode(text, name).split("\n"), start=1)
        if line.strip()
    ]
    return Document(name, list_node(1, nodes, name))


def _json_node(text: str, name: str, first_line: int) -> Node:
    try:
        json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        refuse(name, first_line + error.lineno - 1, f"is no JSON ({error.msg})")
    except ValueError as error:
        refuse(name, first_line, f"is no JSON ({error})")
    except RecursionError:
        check_depth(name, first_line, MAX_DEPTH + 1)
    return _JsonReader(text, name, first_line).value(1)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


class _JsonReader:
    """Walks a text that is known to be JSON and keeps lines."""

    def __init__(self, text: str, name: str, first_line: int) -> None:
        self.name = name
        self.tokens = _JSON_TOKEN.finditer(text)
        self.text, self.at, self.line = text, 0, first_line

    def _next(self) -> str:
        match = next(self.tokens)
        self.line += self.text.count("\n", self.at, match.start())
        self.at = match.start()
        return match[0]

    def value(self, depth: int, token: str | None = None) -> Node:
        """Read one value."""
        token = token or self._next()
        line = self.line
        check_depth(self.name, line, depth)
        if token == "[":  # noqa: S105 - a bracket, no secret
            return self._list(line, depth)
        return self._map(line, depth) if token == "{" else Node(line, json.loads(token))  # noqa: S105

    def _list(self, line: int, depth: int) -> Node:
        nodes = []
        while (token := self._next()) != "]":
            if token != ",":  # noqa: S105 - a comma
                nodes.append(self.value(depth + 1, token))
        return list_node(line, nodes, self.name)

    def _map(self, line: int, depth: int) -> Node:
        items: dict[Step, tuple[int, Node]] = {}
        while (token := self._next()) != "}":
            if token == ",":  # noqa: S105 - a comma
                continue
            key, key_line = json.loads(token), self.line
            if key in items:
                first = items[key][0]
                refuse(self.name, key_line, f"the key {key!r} stands twice, first in line {first}")
            self._next()
            items[key] = (key_line, self.value(depth + 1))
        return map_node(line, items, self.name)
