"""Which cases are near-duplicates of one another.

Knows a case's words only, not how it is judged. Two cases are near-duplicates when what the agent
is told, and what it finds, are nearly the same words. Cases that differ in a number, in the tools'
answers or in the workspace are siblings, not duplicates: a template filled in twice is two cases.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from healbot.records.case import Case
from healbot.records.record import digest_of

NEAR = 0.9
"""Share of common words (Dice's coefficient) from which two texts are nearly the same."""
NEAR_WITHIN = 0.85
"""The same where one text's words all stand in the other: words were only added."""
NEAR_LETTERS = 97.0
"""Likeness of letters in percent (rapidfuzz's ratio) from which one other word is a slip."""
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+")


class Shape(NamedTuple):
    """What is compared: texts as words, and what must be equal.

    Attributes:
        context: Digest of the workspace and the tools' answers.
    """

    asked: tuple[str, ...]
    found: tuple[str, ...]
    context: str
    key: str

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers in what is asked, sorted; near-duplicates have the same."""
        return _numbers(self.asked)


def shape_of(case: Case) -> Shape:
    """Reduce a case to what is compared; case, spacing and punctuation do not count."""
    turns = [message.user or message.simulate or "" for message in case.messages]
    asked = _words(" ".join([case.input or "", *turns]))
    found = _words(" ".join(f"{path} {text}" for path, text in sorted(case.files.items())))
    workspace = f"{case.folder}/{case.workspace}" if case.workspace else ""
    context = digest_of([workspace, case.tools])
    return Shape(asked, found, context, digest_of([asked, found, context]))


def near(one: Shape, other: Shape) -> bool:
    """Say whether two cases are near-duplicates."""
    if one.key == other.key:
        return True
    return (
        one.context == other.context
        and one.numbers == other.numbers
        and _alike(one.asked, other.asked)
        and _alike(one.found, other.found)
    )


def clusters(cases: Sequence[Case]) -> tuple[tuple[int, ...], ...]:
    """Group cases by near-duplicates (and theirs in turn); indices, in the order of the cases.

    Every pair that could be one is looked at: words as bits, so that thousands of cases take
    seconds.
    """
    shapes = [shape_of(case) for case in cases]
    parent = list(range(len(shapes)))
    first: dict[str, int] = {}
    for index, shape in enumerate(shapes):
        _unite(parent, first.setdefault(shape.key, index), index)
    blocks: dict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
    for index in first.values():
        blocks[shapes[index].context, shapes[index].numbers].append(index)
    for block in blocks.values():
        for one, other in _candidates(block, shapes):
            if _root(parent, one) != _root(parent, other) and near(shapes[one], shapes[other]):
                _unite(parent, one, other)
    groups: dict[int, list[int]] = defaultdict(list)
    for index in range(len(shapes)):
        groups[_root(parent, index)].append(index)
    return tuple(tuple(group) for group in groups.values())


def _words(text: str) -> tuple[str, ...]:
    """Split into words; a text without one (only signs) is one word of its own."""
    plain = unicodedata.normalize("NFKC", text).casefold().strip()
    return tuple(_WORD.findall(plain)) or ((plain,) if plain else ())


def _alike(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if one == other:
        return True
    common = (Counter(one) & Counter(other)).total()
    return _close(common, one, other) and _numbers(one) == _numbers(other)


def _close(common: int, one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Say whether two texts with so many words in common are nearly the same."""
    share = 2 * common / max(len(one) + len(other), 1)
    if share >= NEAR or (share >= NEAR_WITHIN and common == min(len(one), len(other))):
        return True
    if common < max(len(one), len(other)) - 1:
        return False
    from rapidfuzz import fuzz  # noqa: PLC0415 - most pairs are decided without it

    return bool(fuzz.ratio(" ".join(one), " ".join(other), score_cutoff=NEAR_LETTERS))


def _numbers(found: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(word for word in found if word[0].isdigit()))


def _candidates(block: Sequence[int], shapes: Sequence[Shape]) -> Iterator[tuple[int, int]]:
    """Yield the pairs that are close in what is asked, shorter first."""
    bits: dict[tuple[str, int], int] = {}
    masks = []
    ordered = sorted(block, key=lambda index: (len(shapes[index].asked), index))
    for index in ordered:
        times: Counter[str] = Counter()
        mask = 0
        for word in shapes[index].asked:
            times[word] += 1
            mask |= 1 << bits.setdefault((word, times[word]), len(bits))
        masks.append(mask)
    for at, index in enumerate(ordered):
        one, mask = shapes[index].asked, masks[at]
        longest = max(len(one) * (2 - NEAR_WITHIN) / NEAR_WITHIN, len(one) + 1)
        for place in range(at + 1, len(ordered)):
            other = shapes[ordered[place]].asked
            if len(other) > longest:
                break
            common = (mask & masks[place]).bit_count()
            least = min(NEAR_WITHIN / 2 * (len(one) + len(other)), len(other) - 1)
            if common >= least and _close(common, one, other):
                yield index, ordered[place]


def _root(parent: list[int], index: int) -> int:
    while parent[index] != index:
        parent[index] = parent[parent[index]]
        index = parent[index]
    return index


def _unite(parent: list[int], one: int, other: int) -> None:
    low, high = sorted((_root(parent, one), _root(parent, other)))
    parent[high] = low
