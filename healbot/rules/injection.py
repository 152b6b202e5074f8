"""Text that has no business in an instruction file: injection heuristics over added lines.

Knows patterns only, and reports words, not intent. It is deterministic, and meant to err a little
towards alarm: a person may still write such a line by hand, an edit may not.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from healbot.rules.phrases import PHRASES

SHOWN_CHARACTERS = 80
BLOB_CHARACTERS = 60
BLOB_SEGMENT_CHARACTERS = 24

_NEGATABLE = frozenset({"override", "exfiltration", "disable-safety", "shell-pipe", "role"})
_NEGATION = re.compile(
    r"(?:\b(?:never|not|cannot|no|avoid|refuse to|don't|mustn't|can't|won't|shouldn't)\b)"
    r"(?:\W+\w+){0,2}\W*\Z"
)
_FAR_NEGATION = re.compile(r"\b(?:never|not|cannot|no|don't|mustn't|can't|won't|shouldn't)\b")
_SENTENCE_END = re.compile(r"[.!?;:\n]\s")
_BLOB = re.compile(rf"[A-Za-z0-9+/_-]{{{BLOB_CHARACTERS},}}={{0,2}}")
_ESCAPED = re.compile(r"(?:\\x[0-9a-fA-F]{2}){8,}|(?:\\u[0-9a-fA-F]{4}){6,}")
_WORD = re.compile(r"\w+")
_QUOTES = str.maketrans("\u2018\u2019\u201b\u02bc\uff07\u00a0", "''''' ")
_COMPILED = tuple((rule, re.compile(pattern)) for rule, pattern in PHRASES)

_JOINER, _SELECTOR = "\u200d", "\ufe0f"
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)
_LATIN_AND_CYRILLIC = re.compile(r"(?=\w*[A-Za-z])(?=\w*[\u0400-\u04ff])\w+")


class Suspicion(NamedTuple):
    """Which rule spoke, and the words it spoke about (short, plain, hidden characters named)."""

    rule: str
    words: str


def suspicious(added: Sequence[str]) -> tuple[Suspicion, ...]:
    """Return what is suspicious about lines that an edit adds, each finding once.

    Rules: ``override``, ``role``, ``exfiltration``, ``shell-pipe``, ``disable-safety``,
    ``concealment``, ``rank``, ``hidden``, ``comment``, ``url``, ``blob``. Phrases are found across
    line breaks, case, compatibility forms and hidden characters.
    """
    text = "\n".join(added)
    found = [*_hidden(text), *_blobs(text)]
    plain = _plain(text)
    for rule, pattern in _COMPILED:
        found += [
            Suspicion(rule, _shown(match[0]))
            for match in pattern.finditer(plain)
            if not (rule in _NEGATABLE and _negated(plain, match))
        ]
    return tuple(dict.fromkeys(found))


def _plain(text: str) -> str:
    """Undo what hides a phrase from a pattern but not from a model."""
    bare = _HIDDEN.sub("", text.replace("\u2028", "\n").replace("\u2029", "\n"))
    return unicodedata.normalize("NFKC", bare).translate(_QUOTES).casefold()


def _negated(text: str, match: re.Match[str]) -> bool:
    """Return whether the sentence forbids the phrase instead of asking for it."""
    before = text[max(match.start() - 200, 0) : match.start()]
    sentence = _SENTENCE_END.split(before)[-1]
    if match[0].startswith("without"):
        return bool(_FAR_NEGATION.search(sentence))
    return bool(_NEGATION.search(sentence))


def _hidden(text: str) -> Iterator[Suspicion]:
    for match in _HIDDEN.finditer(text):
        if not _in_emoji(text, match.start()):
            yield Suspicion("hidden", f"U+{ord(match[0]):04X}")
    for word in _LATIN_AND_CYRILLIC.findall(text):
        yield Suspicion("hidden", f"Latin and Cyrillic letters in one word: {_shown(word)}")


def _in_emoji(text: str, place: int) -> bool:
    """Return whether a joiner stands between two symbols, as in many emoji."""
    if text[place] != _JOINER or not 0 < place < len(text) - 1:
        return False
    around = text[place - 1] + text[place + 1]
    return all(unicodedata.category(one) in {"So", "Sk"} or one == _SELECTOR for one in around)


def _blobs(text: str) -> Iterator[Suspicion]:
    for match in _BLOB.finditer(text):
        longest = max(re.split(r"[/_-]", match[0]), key=len)
        kinds = (str.islower, str.isupper, str.isdigit)
        mixed = all(any(kind(letter) for letter in longest) for kind in kinds)
        if mixed and len(longest) >= BLOB_SEGMENT_CHARACTERS:
            yield Suspicion("blob", _shown(match[0]))
    for match in _ESCAPED.finditer(text):
        yield Suspicion("blob", _shown(match[0]))


def _shown(words: str) -> str:
    plain = " ".join(words.split())
    plain = "".join(one if one.isprintable() else f"U+{ord(one):04X}" for one in plain)
    return plain if len(plain) <= SHOWN_CHARACTERS else plain[: SHOWN_CHARACTERS - 3] + "..."
