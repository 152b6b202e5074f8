"""The held-out set: its long word sequences, and the signatures that its cases speak of.

Knows decoded fixture lines. Any text of a case counts as held-out, whatever its key; identifiers
and tags do not.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from healbot.seam import fields
from healbot.seam.faults import FieldError

NO_TEXT = frozenset(
    ["id", "case_id", "slice", "tag", "tags", "split", "ts", "failure_signature",
     "failure_signatures", "signatures", "signature"]
)  # fmt: skip
SIGNATURES = ("failure_signatures", "signatures", "failure_signature", "signature")
_SINGLE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"  # scripts that set no spaces: a sign is a word
_WORD = re.compile(rf"[{_SINGLE}]|[^\W{_SINGLE}]+")


@dataclass(frozen=True)
class HeldOut:
    """A held-out set.

    Attributes:
        sequences: Every sequence of ``words`` words in a text of its cases.
        signatures: What its cases speak of; None where no case names a signature.
        short: Cases without a sequence that long; nothing can be found of them.
    """

    words: int
    sequences: frozenset[str]
    signatures: frozenset[str] | None
    cases: int
    short: int

    def is_in(self, text: str) -> bool:
        """Return whether a text has a sequence of words of a held-out case."""
        return any(one in self.sequences for one in sequences(text, self.words))

    def could_move(self, signature: str) -> bool:
        """Return whether a heal of that signature could move the held-out score."""
        return self.signatures is None or signature in self.signatures


def sequences(text: str, words: int) -> Iterator[str]:
    """Yield every sequence of so many words, without case and punctuation."""
    found = _WORD.findall(text.casefold())
    for place in range(len(found) - words + 1):
        yield " ".join(found[place : place + words])


def held_out(cases: Iterable[object], words: int) -> HeldOut:
    """Build the set from decoded cases.

    Raises:
        FieldError: A case is no object, or its signatures are no texts.
    """
    every: set[str] = set()
    named: set[str] = set()
    count = short = 0
    names_any = False
    for value in cases:
        case = fields.mapping(value, "held-out case")
        count += 1
        own = {one for text in _texts(case) for one in sequences(text, words)}
        short += not own
        every |= own
        for key in SIGNATURES:
            if case.get(key) is not None:
                names_any = True
                named |= set(_names(case[key], key))
    return HeldOut(words, frozenset(every), frozenset(named) if names_any else None, count, short)


def _names(value: object, key: str) -> list[str]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise FieldError(key, f"has to be a text or a list of texts, is {fields.shown(value)}")
    return names


def _texts(value: object) -> Iterator[str]:
    open_ = [value]
    while open_:
        one = open_.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            open_ += [inner for key, inner in one.items() if key not in NO_TEXT]
        elif isinstance(one, list):
            open_ += one
