"""Whether two texts are alike: exactly what ``difflib``'s ratio says, without computing it.

Knows two texts and a threshold. The ratio is 2·M/T, with M the characters in matching blocks and T
the length of both (Ratcliff and Obershelp; ``SequenceMatcher`` with ``autojunk=False``). M is at
most the common characters, and at most the longest common subsequence; only a pair that these
bounds leave open is matched block by block, and only until the answer is certain.
"""

import heapq
from collections import Counter
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property

CHECK_EVERY = 32
SHORT = 48
"""Up to this length difflib itself is fastest."""
LONG = 1_024
"""From this length on, a look at the first quarter alone pays."""
PIECE_LEAST = 4
OCCURRENCES = 8
"""Per character; texts that repeat themselves more than this are left to difflib."""


@dataclass
class Prepared:
    """A text with what its comparisons need, each computed once."""

    text: str
    _masks: dict[str, int] = field(default_factory=dict)

    @cached_property
    def counts(self) -> Counter[str]:
        """Return how often each character occurs."""
        return Counter(self.text)

    def masks(self) -> dict[str, int]:
        """Return, for each character, the set of its places as bits."""
        if not self._masks:
            masks: dict[str, int] = {}
            for place, character in enumerate(self.text):
                masks[character] = masks.get(character, 0) | 1 << place
            self._masks = masks
        return self._masks

    def forget(self) -> None:
        """Free the bits."""
        self._masks = {}


def least_matches(total: int, threshold: float) -> int:
    """Return the smallest M whose ratio, as difflib rounds it, is above the threshold."""
    least = max(0, int(threshold * total / 2) - 1)
    while least and 2.0 * (least - 1) / total > threshold:
        least -= 1
    while least <= total and 2.0 * least / total <= threshold:
        least += 1
    return least


def are_alike(one: Prepared, other: Prepared, threshold: float) -> bool:
    """Return ``SequenceMatcher(None, one, other, autojunk=False).ratio() > threshold``."""
    left, right = one.text, other.text
    total = len(left) + len(right)
    if not total:
        return threshold < 1.0
    if 2.0 * min(len(left), len(right)) / total <= threshold:
        return False
    least = least_matches(total, threshold)
    if left == right:
        return True
    if _common_characters(one, other) < least:
        return False
    if max(len(left), len(right)) <= SHORT:
        return SequenceMatcher(None, left, right, autojunk=False).ratio() > threshold
    return subsequence_reaches(left, other, least) and blocks_reach(left, right, least)


def _common_characters(one: Prepared, other: Prepared) -> int:
    counts = other.counts
    return sum(min(count, counts.get(key, 0)) for key, count in one.counts.items())


def subsequence_reaches(left: str, other: Prepared, least: int) -> bool:
    """Return whether the longest common subsequence has at least that many characters.

    Bit-parallel (Hyyrö 2004): a cleared bit of ``row`` is one more character in common. The first
    quarter is looked at alone: at most ``spare`` characters of the right may stay unmatched, so it
    can meet only so far a prefix.
    """
    start = _common_start(left, other.text)
    end = _common_end(left[start:], other.text[start:])
    if start + end >= least:
        return True
    if start + end > SHORT:
        inner = Prepared(other.text[start : len(other.text) - end])
        return _subsequence_reaches(left[start : len(left) - end], inner, least - start - end)
    return _subsequence_reaches(left, other, least)


def _subsequence_reaches(left: str, other: Prepared, least: int) -> bool:
    spare = len(other.text) - least
    quarter = len(left) // 4
    if len(left) < LONG:
        return _reaches(left, other, (len(other.text), least))
    return _reaches(left[:quarter], other, (quarter + spare, least - len(left) + quarter)) and (
        _reaches(left, other, (len(other.text), least))
    )


def _reaches(left: str, other: Prepared, goal: tuple[int, int]) -> bool:
    width, least = min(goal[0], len(other.text)), goal[1]
    full = (1 << width) - 1
    masks, row = other.masks(), full
    for place in range(0, len(left), CHECK_EVERY):
        for character in left[place : place + CHECK_EVERY]:
            common = row & masks.get(character, 0)
            row = ((row + common) | (row - common)) & full
        done = min(place + CHECK_EVERY, len(left))
        if width - row.bit_count() + len(left) - done < least:
            return False
    return width - row.bit_count() >= least


def blocks_reach(left: str, right: str, least: int) -> bool:
    """Return whether difflib's matching blocks hold at least that many characters.

    The largest open part goes first; what is matched so far and what could still be bound the sum.
    """
    parts = [(-min(len(left), len(right)), 0, len(left), 0, len(right))]
    matched, open_ = 0, min(len(left), len(right))
    while parts and matched < least <= matched + open_:
        most, left_from, left_to, right_from, right_to = heapq.heappop(parts)
        open_ += most
        at, to, size = longest_block(left[left_from:left_to], right[right_from:right_to])
        if not size:
            continue
        matched += size
        at, to = at + left_from, to + right_from
        for part in (
            (left_from, at, right_from, to),
            (at + size, left_to, to + size, right_to),
        ):
            room = min(part[1] - part[0], part[3] - part[2])
            if room:
                open_ += room
                heapq.heappush(parts, (-room, *part))
    return matched >= least


def longest_block(left: str, right: str) -> tuple[int, int, int]:
    """Return difflib's longest match: (place left, place right, size), ties to the first.

    Any match of 2s − 1 characters holds a piece of the right that begins at a multiple of s and is
    s long; so pieces, found by the string search, and grown both ways, find it exactly.
    """
    if max(len(left), len(right)) > SHORT:
        size = min(len(left), len(right))
        budget = OCCURRENCES * (len(left) + len(right))
        while size >= PIECE_LEAST and budget > 0:
            best, budget = _grown(left, right, (size, budget))
            if best is not None and best[2] >= 2 * size - 1:
                return best
            size //= 2
    found = SequenceMatcher(None, left, right, autojunk=False).find_longest_match()
    return found.a, found.b, found.size


def _grown(
    left: str, right: str, piece: tuple[int, int]
) -> tuple[tuple[int, int, int] | None, int]:
    size, budget = piece
    best: tuple[int, int, int] | None = None
    grown: dict[int, int] = {}  # diagonal: where its last match ends, on the left
    for start in range(0, len(right) - size + 1, size):
        text = right[start : start + size]
        found = left.find(text)
        while found >= 0:
            budget -= 1
            if budget <= 0:
                return None, 0
            diagonal = found - start
            if found >= grown.get(diagonal, 0):
                back = _common_end(left[:found], right[:start])
                ahead = _common_start(left[found + size :], right[start + size :])
                match = (found - back, start - back, back + size + ahead)
                grown[diagonal] = found + size + ahead
                if best is None or (-match[2], *match) < (-best[2], *best):
                    best = match
            found = left.find(text, found + 1)
    return best, budget


def _common_start(one: str, other: str) -> int:
    limit, same, step = min(len(one), len(other)), 0, 32
    while same + step <= limit and one[same : same + step] == other[same : same + step]:
        same += step
        step *= 2
    while step:
        if same + step <= limit and one[same : same + step] == other[same : same + step]:
            same += step
        step //= 2
    return same


def _common_end(one: str, other: str) -> int:
    limit, same, step = min(len(one), len(other)), 0, 32
    left, right = len(one), len(other)
    while same + step <= limit and (
        one[left - same - step : left - same] == other[right - same - step : right - same]
    ):
        same += step
        step *= 2
    while step:
        if same + step <= limit and (
            one[left - same - step : left - same] == other[right - same - step : right - same]
        ):
            same += step
        step //= 2
    return same
