"""YAML as a document.

Knows YAML's events only. What comes out is data of the plainest kind: YAML 1.2's own words for
true, false and null, dates as the text they are, no tags of a program.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import yaml

from healbot.rules.documents import (
    Document,
    Node,
    Step,
    check_depth,
    decode,
    list_node,
    map_node,
    refuse,
)

_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, object] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def parse_yaml(text: str | bytes, name: str) -> Document:
    """Read one YAML document.

    Raises:
        InputError: Syntax, a duplicate key, a program's tag, an alias bomb, a second document.
    """
    plain = decode(text, name)
    loader_class = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader = loader_class(plain)
    try:
        return Document(name, _YamlReader(loader, name).read())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        last = plain.rstrip("\n").count("\n") + 1
        refuse(name, min(mark.line + 1, last) if mark else 1, _yaml_problem(error, plain, mark))
    finally:
        loader.dispose()


def _yaml_problem(error: yaml.MarkedYAMLError, text: str, mark: Any) -> str:
    lines = text.split("\n")
    shown = lines[mark.line] if mark and mark.line < len(lines) else ""
    if "\t" in shown[: len(shown) - len(shown.lstrip())]:
        return "a tab can't indent in YAML; use spaces"
    problem = (error.problem or error.context or "is no YAML").strip()
    return f"is no YAML ({problem})"


class _YamlReader:
    """Builds nodes from a loader's events, with its own caps; never makes a program's object."""

    def __init__(self, loader: Any, name: str) -> None:
        self.loader = loader
        self.name = name
        self.anchors: dict[str, Node] = {}

    def read(self) -> Node:
        """Read the whole stream, which holds one document or none."""
        self.loader.get_event()
        event = self.loader.get_event()
        if isinstance(event, yaml.StreamEndEvent):
            return Node(1, None)
        root = self._value(self.loader.get_event(), 1)
        self.loader.get_event()
        event = self.loader.get_event()
        if not isinstance(event, yaml.StreamEndEvent):
            refuse(self.name, self._line(event), "begins a second document; one is read")
        return root

    def _line(self, event: Any) -> int:
        return int(event.start_mark.line) + 1

    def _value(self, event: Any, depth: int) -> Node:
        line = self._line(event)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                refuse(self.name, line, f"the alias *{event.anchor} names no anchor above it")
            target = self.anchors[event.anchor]
            return Node(line, target.data, target.size, target.items)
        check_depth(self.name, line, depth)
        readers: dict[type, Callable[[Any, int], Node]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.SequenceStartEvent: self._list,
            yaml.MappingStartEvent: self._map,
        }
        node = readers[type(event)](event, depth)
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def _scalar(self, event: Any, _: int) -> Node:
        line = self._line(event)
        kind = self._tag(event, ("str", "int", "float", "bool", "null"))
        if kind == "str" or (kind is None and not event.implicit[0]):
            return Node(line, event.value)
        return Node(line, _plain(event.value))

    def _list(self, event: Any, depth: int) -> Node:
        self._tag(event, ("seq",))
        nodes = []
        while not isinstance(inner := self.loader.get_event(), yaml.SequenceEndEvent):
            nodes.append(self._value(inner, depth + 1))
        return list_node(self._line(event), nodes, self.name)

    def _map(self, event: Any, depth: int) -> Node:
        self._tag(event, ("map",))
        items: dict[Step, tuple[int, Node]] = {}
        merged: dict[Step, tuple[int, Node]] = {}
        while not isinstance(inner := self.loader.get_event(), yaml.MappingEndEvent):
            line = self._line(inner)
            merges = isinstance(inner, yaml.ScalarEvent) and inner.value == "<<" and not inner.style
            key = "<<" if merges else self._key(inner, depth)
            node = self._value(self.loader.get_event(), depth + 1)
            if merges:
                self._merge(node, line, merged)
                continue
            if key in items:
                first = items[key][0]
                refuse(self.name, line, f"the key {key!r} stands here twice, first in line {first}")
            items[key] = (line, node)
        return map_node(self._line(event), {**merged, **items}, self.name)

    def _key(self, event: Any, depth: int) -> str:
        node = self._value(event, depth + 1)
        if isinstance(node.data, (dict, list)) or not isinstance(event, yaml.ScalarEvent):
            refuse(self.name, node.line, "a key must be a plain word")
        return str(event.value)

    def _merge(self, node: Node, line: int, into: dict[Step, tuple[int, Node]]) -> None:
        many = isinstance(node.data, list) and node.items is not None
        parts = [part for _, part in (node.items or {}).values()] if many else [node]
        for part in parts:
            if not isinstance(part.data, dict) or part.items is None:
                refuse(self.name, line, "<< merges mappings only")
            for key, value in part.items.items():
                into.setdefault(key, value)

    def _tag(self, event: Any, allowed: Sequence[str]) -> str | None:
        if event.tag is None:
            return None
        kind = "str" if event.tag == "!" else str(event.tag).removeprefix(_TAG)
        if kind not in allowed:
            refuse(self.name, self._line(event), f"the tag {event.tag} is not read here")
        return kind


def _plain(word: str) -> object:
    """Read a bare word as YAML 1.2's core schema has it; whatever it does not know is text."""
    if word in _WORDS:
        return _WORDS[word]
    if _INT.fullmatch(word):
        base = 10 if word.lstrip("+-").isdigit() else 0
        return int(word, base) if len(word) <= 4_000 else word  # noqa: PLR2004 - Python's own cap
    return float(word) if _FLOAT.fullmatch(word) else word
