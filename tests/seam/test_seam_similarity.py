"""The bounded comparison says exactly what difflib's ratio says, on any two texts."""

import random
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.seam.similarity import Prepared, are_alike, least_matches, longest_block

SMALL = st.text(alphabet="ab\n", max_size=120)
THRESHOLDS = st.sampled_from([0.0, 0.3, 0.5, 0.8, 0.9, 0.95, 1.0])


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


@settings(max_examples=300)
@given(SMALL, SMALL, THRESHOLDS)
def test_it_agrees_with_difflib_on_texts_that_repeat_themselves(
    one: str, other: str, threshold: float
) -> None:
    assert are_alike(Prepared(one), Prepared(other), threshold) == (_ratio(one, other) > threshold)


@settings(max_examples=200)
@given(st.text(alphabet="abcdefgh ", min_size=1, max_size=300), st.data(), THRESHOLDS)
def test_it_agrees_with_difflib_on_edited_texts(
    one: str, data: st.DataObject, threshold: float
) -> None:
    other = one
    for _ in range(data.draw(st.integers(0, 12))):
        place = data.draw(st.integers(0, len(other)))
        cut = data.draw(st.integers(0, 9))
        other = other[:place] + data.draw(st.text("abcxyz", max_size=9)) + other[place + cut :]
    assert are_alike(Prepared(one), Prepared(other), threshold) == (_ratio(one, other) > threshold)


@settings(max_examples=300)
@given(SMALL, SMALL)
def test_the_longest_block_is_difflibs_with_the_same_tie_breaks(one: str, other: str) -> None:
    found = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    assert longest_block(one, other) == (found.a, found.b, found.size)


@pytest.mark.parametrize("seed", range(12))
def test_it_agrees_with_difflib_on_long_texts_near_the_threshold(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - sample texts
    one = "".join(rng.choices("abcdefghij \n", k=1500))
    other = one
    for _ in range(rng.randint(1, 14)):
        place, size = rng.randrange(len(other)), rng.randint(1, 30)
        other = (
            other[:place] + "".join(rng.choices("abcdefghij \n", k=size)) + other[place + size :]
        )
    if seed % 3 == 0:
        other = other[700:] + other[:700]
    ratio = _ratio(one, other)
    for threshold in (ratio, ratio - 1e-3, ratio + 1e-3, 0.9):
        assert are_alike(Prepared(one), Prepared(other), threshold) == (ratio > threshold)


@given(st.integers(1, 3000), st.floats(0, 1))
def test_the_least_number_of_matches_is_the_first_above_the_threshold(
    total: int, threshold: float
) -> None:
    least = least_matches(total, threshold)
    assert least == 0 or 2.0 * (least - 1) / total <= threshold
    assert least > total or 2.0 * least / total > threshold
