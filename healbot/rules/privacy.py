"""Redaction: secrets and personal data become typed placeholders before anything is kept.

Pure and deterministic. The same value is the same placeholder within one record (``[email-1]``), so
a text stays readable; redacting twice changes nothing; time is linear in the text.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from healbot.records.record import digest_bytes
from healbot.rules.folding import folded
from healbot.rules.personal import is_card, personal
from healbot.rules.secrets import Span, secrets

PASSES = 8
"""How often a text is looked at: what is taken out may lay the next bare beside it."""
_PLACEHOLDER = re.compile(r"\[(secret|email|phone|card|iban|id|ip|user)-(\d{1,9})\]")
LONGEST_CARD = 10**19
"""Numbers from here on have more digits than any card (ISO/IEC 7812: 19)."""
WORD_DIGITS = 8
"""Hexadecimal digits that stand for a word that is not ours to publish."""


class Redacted(NamedTuple):
    """What is left of a value, and how many places of each kind were taken out of it."""

    value: Any
    counts: Mapping[str, int]


class _Names:
    """Placeholders given out within one record."""

    def __init__(self, texts: Iterator[str]) -> None:
        self.counts: Counter[str] = Counter()
        self._given: dict[tuple[str, str], str] = {}
        self._last: dict[str, int] = {}
        for text in texts:
            for kind, number in _PLACEHOLDER.findall(text):
                self._last[kind] = max(self._last.get(kind, 0), int(number))

    def name(self, kind: str, value: str) -> str:
        self.counts[kind] += 1
        if (kind, value) not in self._given:
            self._last[kind] = self._last.get(kind, 0) + 1
            self._given[kind, value] = f"[{kind}-{self._last[kind]}]"
        return self._given[kind, value]


def redact(text: str) -> str:
    """Return a text without secrets and personal data."""
    value: str = redact_value(text).value
    return value


def redact_value(value: Any) -> Redacted:
    """Return plain JSON data without secrets and personal data; keys of mappings as well.

    A whole number that is a card's goes too, as a text. A text under a key that speaks of a secret
    is looked at together with its key.
    """
    names = _Names(texts_in(value))
    return Redacted(_walk(value, names), dict(names.counts))


def word_for(word: str) -> str:
    """Return a short digest in place of a word that somebody else chose."""
    return "x" + digest_bytes(word.encode("utf-8", "surrogatepass"))[:WORD_DIGITS]


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text of plain data, keys included, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def _walk(value: Any, names: _Names, key: str = "") -> Any:
    if isinstance(value, str):
        return _under(key, value, names) if key else _cleaned(value, names)
    if isinstance(value, Mapping):
        return {
            _cleaned(str(one), names): _walk(inner, names, str(one)) for one, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_walk(inner, names, key) for inner in value]
    if isinstance(value, int) and is_card(str(value) if abs(value) < LONGEST_CARD else ""):
        return names.name("card", str(value))
    return value


def _under(key: str, value: str, names: _Names) -> str:
    """Redact a text that stands under a key: ``{"password": "x"}`` is ``password="x"``."""
    if "\n" not in value and '"' not in value and "'" not in value:
        lead = f'{key}="'
        spans = [one for one in secrets(f'{lead}{value}"') if one.start == len(lead)]
        if any(one.end == len(lead) + len(value) for one in spans):
            return names.name("secret", value)
    return _cleaned(value, names)


def _cleaned(text: str, names: _Names) -> str:
    for _ in range(PASSES):
        spans = _disjoint(text)
        if not spans:
            break
        parts, last = [], 0
        for start, end, kind in spans:
            parts += [text[last:start], names.name(kind, text[start:end])]
            last = end
        text = "".join([*parts, text[last:]])
    return text


def _disjoint(text: str) -> list[Span]:
    """Return what has to go, in order, without overlaps: the first wins, then the longer."""
    plain, places = folded(text)
    found = [*secrets(plain), *personal(plain)]
    if places:
        found = [Span(places[one.start], places[one.end - 1] + 1, one.kind) for one in found]
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[Span] = []
    for one in found:
        if one.start < one.end and (not kept or one.start >= kept[-1].end):
            kept.append(one)
    return kept
