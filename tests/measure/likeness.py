"""How often two edits are rightly taken for one: `python -m tests.measure.likeness`.

Counts errors over the pairs of the test, over fresh ones, and beside it those of two plain ways.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rapidfuzz.fuzz import token_set_ratio

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "rules"))

from likeness_pairs import (
    DIFFERENT,
    FRESH_DIFFERENT,
    FRESH_SAME,
    ORDER_DIFFERENT,
    ORDER_SAME,
    SAME,
)

from healbot.rules.likeness import alike, meaning_of, sentences

PLAIN = 85.0
"""The token-set ratio from which the plain way takes two texts for one."""
JACCARD = 0.7
Pairs = Sequence[tuple[str, str]]


def _ours(one: str, other: str) -> bool:
    return alike(sentences(one), sentences(other))


def _token_set(one: str, other: str) -> bool:
    return token_set_ratio(one.lower(), other.lower()) >= PLAIN


def _words(one: str, other: str) -> bool:
    mine, yours = meaning_of([one]).words, meaning_of([other]).words
    return len(mine & yours) >= JACCARD * len(mine | yours)


WAYS: dict[str, Callable[[str, str], bool]] = {
    "likeness": _ours,
    f"token-set ratio >= {PLAIN:.0f}": _token_set,
    f"content words, Jaccard >= {JACCARD}": _words,
}


def _line(way: str, same: Pairs, different: Pairs) -> str:
    missed = sum(not WAYS[way](*pair) for pair in same)
    wrong = sum(WAYS[way](*pair) for pair in different)
    return (
        f"{way}: {missed} of {len(same)} rewordings missed,"
        f" {wrong} of {len(different)} different rules taken for the same\n"
    )


def main() -> int:
    """Print a line for each way and set; the exit code is 1 where the test's pairs have errors."""
    for name, same, different in (
        ("test pairs", SAME, DIFFERENT),
        ("fresh pairs", FRESH_SAME, FRESH_DIFFERENT),
        ("fresh pairs in another order", ORDER_SAME, ORDER_DIFFERENT),
    ):
        sys.stdout.write(f"{name}\n")
        for way in WAYS:
            sys.stdout.write(f"  {_line(way, same, different)}")
    wrong = [pair for pair in SAME if not _ours(*pair)] + [p for p in DIFFERENT if _ours(*p)]
    for pair in [p for p in (*FRESH_SAME, *ORDER_SAME) if not _ours(*p)]:
        sys.stdout.write(f"  missed: {pair[0]} | {pair[1]}\n")
    for pair in [p for p in (*FRESH_DIFFERENT, *ORDER_DIFFERENT) if _ours(*p)]:
        sys.stdout.write(f"  taken for the same: {pair[0]} | {pair[1]}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
