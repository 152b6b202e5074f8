"""A text that a person wrote, as plain data with the line of every key.

Knows no syntax (``yamls.py``, ``jsons.py``), no file, no settings, no case. Input that could grow
without bound (aliases of aliases, nesting) is refused before it does.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from healbot.errors import InputError

MAX_DEPTH = 50
"""How deep lists and mappings may be nested in one another."""
MAX_BYTES = 10_000_000
"""How large a text may be; what is larger is data that was meant for another place."""
MAX_NODES = 200_000
"""How many values a document may hold once every alias is written out."""

NEXT_STEP = "Correct that line and run the command again."

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Step = str | int


@dataclass(frozen=True, slots=True)
class Node:
    """One value: its line (counted from 1), its plain data, its size, and what it holds.

    Attributes:
        size: Values in it, itself included, with every alias written out.
        items: A mapping's values by key or a list's by index, each with the line of its key.
    """

    line: int
    data: Any
    size: int = 1
    items: "dict[Step, tuple[int, Node]] | None" = None


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text: ``name`` is how people know the file."""

    name: str
    root: Node

    @property
    def data(self) -> Any:
        """The whole as plain data."""
        return self.root.data

    def known(self, path: Sequence[Step]) -> tuple[Step, ...]:
        """Return the steps of a path that stand in the document, others left out."""
        return tuple(step for step, _ in self._walk(path))

    def line(self, path: Sequence[Step]) -> int:
        """Return the line of the deepest step of a path that stands in the document."""
        lines = [line for _, line in self._walk(path)]
        return lines[-1] if lines else self.root.line

    def _walk(self, path: Sequence[Step]) -> Iterator[tuple[Step, int]]:
        node = self.root
        for step in path:
            if node.items is not None and step in node.items:
                line, node = node.items[step]
                yield step, line


def decode(text: str | bytes, name: str) -> str:
    """Return text as a string without a byte order mark.

    Raises:
        InputError: It is too large, not UTF-8, or holds a character that no text file holds.
    """
    if len(text) > MAX_BYTES:
        raise InputError(
            f"{name}: this file has {len(text):,} bytes, and at most {MAX_BYTES:,} are read.",
            "Split it, or move what is large into files of its own.",
        )
    if isinstance(text, bytes):
        raw = text
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
            raise InputError(
                f"{name}:{line}: this file is not UTF-8.", "Save it as UTF-8 and run again."
            ) from error
    text = text.removeprefix("\ufeff")
    bad = _UNPRINTABLE.search(text)
    if bad:
        where = text.count("\n", 0, bad.start()) + 1
        refuse(name, where, f"holds the control character U+{ord(bad[0]):04X}")
    return text


def refuse(name: str, line: int, problem: str) -> NoReturn:
    """Say what is wrong, and where."""
    raise InputError(f"{name}:{line}: {problem}.", NEXT_STEP)


def list_node(line: int, nodes: Sequence[Node], name: str) -> Node:
    """Make a list's node; refuse one that is too large."""
    size = 1 + sum(node.size for node in nodes)
    _check_size(name, line, size)
    items: dict[Step, tuple[int, Node]] = {
        index: (node.line, node) for index, node in enumerate(nodes)
    }
    return Node(line, [node.data for node in nodes], size, items)


def map_node(line: int, items: dict[Step, tuple[int, Node]], name: str) -> Node:
    """Make a mapping's node; refuse one that is too large."""
    size = 1 + sum(1 + node.size for _, node in items.values())
    _check_size(name, line, size)
    return Node(line, {key: node.data for key, (_, node) in items.items()}, size, items)


def _check_size(name: str, line: int, size: int) -> None:
    if size > MAX_NODES:
        refuse(name, line, f"holds more than {MAX_NODES:,} values, aliases written out")


def check_depth(name: str, line: int, depth: int) -> None:
    """Refuse what is nested too deep."""
    if depth > MAX_DEPTH:
        refuse(name, line, f"is nested more than {MAX_DEPTH} levels deep")
