"""What counts as healed, missed, recurred and immature."""

import pytest
from seam.samples import START, Desk, at, event

LATER = "2026-07-30T00:00:00Z"
OLD = {"failure_signature": "old", "ts": LATER}


def _recurrence(heals: list[dict[str, object]], *failures: dict[str, object]) -> float:
    report = Desk().grade(heals, "--explain", failures=[*failures])
    found = report["explain"]["S"]["recurrence"]
    assert isinstance(found, float)
    return found


def _seen(days: float, **more: object) -> dict[str, object]:
    return {"failure_signature": "timeout:fetch:checkout", "ts": at(days), **more}


@pytest.mark.parametrize(
    ("days", "recurs"), [(-1, 0), (0, 0), (0.0001, 1), (6.99, 1), (7, 1), (7.0001, 0)]
)
def test_a_failure_recurs_strictly_after_the_heal_and_within_7_days(
    days: float, recurs: int
) -> None:
    assert _recurrence([event()], _seen(days)) == recurs


def test_a_heal_works_only_once_it_is_in_force() -> None:
    heals = [event(in_force_at=at(2))]
    assert _recurrence(heals, _seen(1)) == 0
    assert _recurrence(heals, _seen(2)) == 0
    assert _recurrence(heals, _seen(8.5)) == 1


def test_a_run_under_an_older_revision_never_met_the_heal() -> None:
    first = event("a", days=-3, revision="r1", signature="other")
    heal = event("b", revision="r2", change={"before_hash": "r0"})
    later = event("c", days=1, revision="r3", signature="other")
    heals = [first, heal, later]
    assert _recurrence([heal], _seen(1, revision="r0")) == 0
    assert _recurrence(heals, _seen(1, revision="r1")) == 0
    assert _recurrence(heals, _seen(1, revision="r2")) == 0.5
    assert _recurrence(heals, _seen(2, revision="r3")) == 0.5
    assert _recurrence(heals, _seen(1, revision="r1"), _seen(2, revision="r2")) == 0.5


def test_many_failures_and_heals_of_one_signature_are_one_verdict() -> None:
    heals = [event(f"h{n}", days=n, was_real_failure=n == 2) for n in range(4)]
    report = Desk().grade(heals, "--explain", failures=[_seen(1.5), _seen(2.5), _seen(3.5)])
    found = report["explain"]["S"]
    assert (found["precision"], found["recall"], found["recurrence"]) == (1, 1, 1)
    assert report["S"] == 0.6


def test_a_real_failure_that_nobody_healed_lowers_recall_and_is_named() -> None:
    report = Desk().grade([event()], "--explain", failures=[_seen(-1), {**OLD, "ts": at(-1)}])
    assert report["explain"]["S"]["recall"] == 0.5
    assert report["explain"]["S"]["never_healed"]["first"] == ["old"]


def test_a_failure_healed_before_the_window_is_not_missed() -> None:
    heals = [event("a", days=-20, signature="old"), event("b")]
    report = Desk().grade(heals, "--explain", failures=[{**OLD, "ts": at(-1)}])
    assert report["explain"]["S"]["recall"] == 1


def test_a_heal_that_a_gate_blocked_heals_nothing() -> None:
    change = {"before_text": "keep", "after_text": ""}
    heals = [event("a", signature="old", change=change), event("b")]
    log = [{**OLD, "ts": at(-1)}]
    report = Desk().grade(heals, "--explain", failures=log, protected=["keep"])
    assert report["explain"]["S"]["never_healed"]["first"] == ["old"]


def test_a_young_heal_is_immature_and_s_says_that_it_rests_on_it() -> None:
    young = Desk().grade([event()], "--explain", failures=[_seen(-1)])
    assert young["explain"]["S"]["immature"]["first"] == ["h1"]
    assert any("S rests on 1 immature heals" in note for note in young["notes"])
    grown = Desk().grade([event()], "--explain", failures=[OLD])
    assert grown["explain"]["S"]["immature"]["count"] == 0


def test_a_signature_that_no_probe_judged_counts_nowhere_and_is_told() -> None:
    heals = [event("a"), event("b", signature="s", was_real_failure=None)]
    report = Desk().grade(heals, "--explain", failures=[])
    assert report["explain"]["S"]["precision"] == 1
    assert report["explain"]["S"]["not_told"]["first"] == ["s"]
    unknown = Desk().grade([event(was_real_failure=None)])
    assert unknown["S"] is None
    assert any("S is null" in note for note in unknown["notes"])


def test_only_false_heals_score_what_did_not_recur() -> None:
    assert Desk().grade([event(was_real_failure=False)], failures=[OLD])["S"] == 0.4
    assert START.tzinfo is not None
