"""The two checks beside E, and when E can't be told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]
from seam.samples import Desk, event

from healbot.seam.heldout import held_out
from healbot.seam.trend import POINTS_MOST, averaged, trend_of

TEXT = "Order 1001 asks for a refund of 61.20, and the limit is 60."


def test_a_widening_gap_alerts_while_e_is_fine() -> None:
    heals = [event(f"h{n}", days=n, visible_after=0.75 + n / 100) for n in range(6)]
    report = Desk().grade(heals, "--explain")
    assert report["alerts"] == ["E widening"]
    assert report["explain"]["E"]["trend"]["slope"] == pytest.approx(0.01)
    steady = Desk().grade([event(f"h{n}", days=n, visible_after=0.78) for n in range(6)])
    assert steady["alerts"] == []
    assert Desk().grade(heals[:4])["alerts"] == []


@given(st.lists(st.integers(0, 9).map(float), min_size=5, max_size=30))
def test_the_trend_is_the_one_of_theil_and_sen(values: list[float]) -> None:
    found = trend_of(values, stats.norm.ppf(0.975))
    if len(set(values)) > 1:
        expected = stats.theilslopes(values, range(len(values)), alpha=0.95)
        assert found.slope == pytest.approx(expected.slope)
        if found.low > -1e9 and found.high < 1e9:
            assert (found.low, found.high) == pytest.approx(
                (expected.low_slope, expected.high_slope)
            )
    else:
        assert not found.is_widening


def test_a_long_series_is_averaged_in_equal_runs() -> None:
    assert averaged([1.0, 3.0, 5.0, 7.0], 2) == [2.0, 6.0]
    assert trend_of([n / 10 for n in range(5 * POINTS_MOST)], 1.96).points == POINTS_MOST


def test_a_heal_that_holds_held_out_text_is_contamination() -> None:
    copied = "Always: ORDER 1001 asks for a refund of 61.20 and the limit!"
    heals = [event("a", change={"after_text": copied}), event("b", change={"after_text": "x"})]
    report = Desk().grade(heals, "--explain", holdout=[{"id": "c", "input": TEXT}])
    assert report["contamination"] == 0.5
    assert "contamination>0.05" in report["alerts"]
    assert report["explain"]["E"]["contaminated"]["first"] == ["a"]


def test_text_that_was_there_before_is_not_the_heals() -> None:
    change = {"before_text": f"{TEXT}\nx\n", "after_text": f"{TEXT}\ny\n"}
    assert Desk().grade([event(change=change)], holdout=[{"t": TEXT}])["contamination"] == 0
    removed = {"before_text": f"{TEXT}\nx\n", "after_text": "x\n"}
    assert Desk().grade([event(change=removed)], holdout=[{"t": TEXT}])["contamination"] == 0


def test_contamination_that_can_not_be_told_is_null_with_a_note() -> None:
    for fixtures in ({}, {"holdout": [{"input": TEXT}]}):
        report = Desk().grade([event()], **fixtures)
        assert report["contamination"] is None
        assert any("contamination is null" in note for note in report["notes"])


def test_words_of_scripts_without_spaces_count_one_by_one() -> None:
    found = held_out([{"input": "订单一零零一要求退款六十一元"}], 8)
    assert found.is_in("请注意订单一零零一要求退款")
    assert not found.is_in("订单一零零二要求退款")


def test_a_heal_that_no_held_out_case_could_see_has_no_e() -> None:
    heals = [event("a", holdout_after=0.5), event("b", signature="seen")]
    report = Desk().grade(heals, holdout=[{"input": TEXT, "failure_signatures": ["seen"]}])
    assert report["E"] == 1
    assert any("1 of 2 heals are null" in note for note in report["notes"])
    unnamed = Desk().grade(heals, holdout=[{"input": TEXT}])
    assert unnamed["E"] == 0.5


def test_missing_held_out_scores_are_null_never_zero() -> None:
    report = Desk().grade([event(holdout_before=None), event("b", holdout_after=...)])
    assert report["E"] is None
    assert any("2 of 2 heals lack" in note for note in report["notes"])
