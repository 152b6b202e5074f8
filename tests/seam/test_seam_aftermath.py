"""What a heal broke, what drifted, and what nobody can tell."""

from typing import Any

import pytest
from seam.samples import Desk, event

HUNDRED = [f"c{n}" for n in range(100)]


def _lines(*failing: str, ids: list[str] = HUNDRED, **more: Any) -> list[dict[str, Any]]:
    return [{"id": one, "result": "fail" if one in failing else "pass", **more} for one in ids]


PRE = dict.fromkeys(HUNDRED, "pass")


def test_5_percent_regressions_score_zero_and_2_percent_in_between() -> None:
    assert Desk().grade([event()], surface=_lines(*HUNDRED[:5]), pre=PRE)["A"] == 0
    assert Desk().grade([event()], surface=_lines(*HUNDRED[:2]), pre=PRE)["A"] == 0.6


def test_a_safety_regression_is_zero_is_named_and_hides_no_drift() -> None:
    desk = Desk()
    surface = [*_lines(*HUNDRED[:1]), {"id": "s", "result": "fail", "safety": True}]
    certified = {**dict.fromkeys(HUNDRED[:75], "pass"), **dict.fromkeys(HUNDRED[75:], "fail")}
    report = desk.grade([event()], surface=surface, pre={**PRE, "s": "pass"}, certified=certified)
    assert report["A"] == 0
    assert report["recertify_due"] is True
    assert any("safety regression" in note and " s;" in note for note in report["notes"])
    assert desk.code == 2


@pytest.mark.parametrize(("churned", "due"), [(19, False), (20, True), (21, True)])
def test_recertify_is_due_from_a_drift_of_20_percent(churned: int, due: bool) -> None:
    desk = Desk()
    certified = PRE | dict.fromkeys(HUNDRED[:churned], "fail")
    report = desk.grade([event()], surface=_lines(), pre=PRE, certified=certified)
    assert report["recertify_due"] is due
    assert report["A"] == 1
    assert desk.code == (2 if due else 0)


def test_an_outcome_is_most_of_its_attempts_and_a_tie_or_none_is_no_regression() -> None:
    surface = [
        *[{"id": "a", "result": one} for one in ("fail", "pass", "pass")],
        *[{"id": "b", "result": one} for one in ("fail", "pass")],
        {"id": "c", "result": "none"},
        {"id": "d", "result": "pass"},
    ]
    pre = {"a": "pass", "b": "pass", "c": "pass", "d": ["fail", "pass", "pass"]}
    report = Desk().grade([event()], "--explain", surface=surface, pre=pre)
    assert report["A"] == 1
    assert report["explain"]["A"]["runs"]["first"][0]["surface_size"] == 2
    assert any("2 outcomes have nothing to compare with" in note for note in report["notes"])


def test_no_snapshot_an_empty_surface_or_strange_cases_give_null_with_a_note() -> None:
    for fixtures in (
        {"surface": _lines()},
        {"surface": [], "pre": PRE},
        {"surface": _lines(ids=["strange"]), "pre": PRE},
        {},
    ):
        report = Desk().grade([event()], **fixtures)
        assert report["A"] is None
        assert report["recertify_due"] is None
        assert any(note.startswith("A") and "null" in note for note in report["notes"])


def test_several_heals_are_a_mean_and_each_is_held_against_what_was_before_it() -> None:
    surface = [
        *_lines("c1", "c2", heal_id="a"),
        *_lines("c1", "c2", heal_id="b"),
        *_lines(*HUNDRED[1:7], heal_id="c"),
        {"id": "c9", "result": "fail", "heal_id": "gone"},
    ]
    heals = [event("c", days=2), event("a"), event("b", days=1)]
    report = Desk().grade(heals, "--explain", surface=surface, pre=PRE)
    runs = {one["heal_id"]: one["score"] for one in report["explain"]["A"]["runs"]["first"]}
    assert runs == pytest.approx({"a": 0.6, "b": 1, "c": 0.2})
    assert report["A"] == 0.6
    assert any("name a heal that is not in the log" in note for note in report["notes"])


def test_snapshots_may_be_given_for_each_heal() -> None:
    surface = [*_lines("c1", heal_id="a"), *_lines("c1", heal_id="b")]
    heals = [event("a"), event("b", days=1)]
    assert Desk().grade(heals, surface=surface, pre={"a": PRE, "b": PRE})["A"] == 0.8


def test_a_measured_floor_stands_beside_the_axes_and_is_taken_off_on_request() -> None:
    fixtures = {
        "surface": _lines("c1", "c2"),
        "pre": PRE,
        "certified": PRE | dict.fromkeys(HUNDRED[50:70], "fail"),
        "floor": {"gap": 0.05, "regression": 0.02, "churn": 0.02},
    }
    heal = event(visible_after=0.6, holdout_after=0.5)
    beside = Desk().grade([heal], **fixtures)
    assert (beside["A"], beside["E"], beside["recertify_due"]) == (0.6, 0.6, True)
    assert beside["floor"]["A"] == {"regression": 0.02, "churn": 0.02}
    off = Desk().grade([heal], "--subtract-floor", **{**fixtures, "floor": fixtures["floor"]})
    assert (off["A"], off["E"]) == (1, 0.8)
    assert off["floor"]["subtracted"] is True
    assert any("was taken off" in note for note in off["notes"])
