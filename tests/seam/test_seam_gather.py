"""The four numbers from the formulas, and how they move: worse input never scores better."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seam import straightforward
from seam.samples import Desk, at, event, heal_event

from healbot.seam.defaults import DEFAULTS
from healbot.seam.failures import Failure, parse_failure
from healbot.seam.faults import SeamError
from healbot.seam.gather import Fixtures, grade
from healbot.seam.report import Report

SHARE = st.integers(0, 20).map(lambda n: n / 20)


def failed(signature: str, days: float, **more: Any) -> Failure:
    return parse_failure({"failure_signature": signature, "ts": at(days), **more})


def _one(**more: Any) -> Report:
    return grade([heal_event(**more)])


def test_visible_25_points_and_held_out_4_is_a_gap_of_21_and_scores_16() -> None:
    found = _one(visible_before=0.70, visible_after=0.95, holdout_before=0.70, holdout_after=0.74)
    assert found.efficacy.worst[0].gap == pytest.approx(0.21)
    assert found.axes["E"] == pytest.approx(0.16)


def test_no_failure_log_makes_recall_null_and_s_falls_back_and_says_so() -> None:
    found = grade(
        [heal_event("a", signature="a"), heal_event("b", signature="b", was_real_failure=False)]
    )
    assert found.signal.recall is None
    assert found.axes["S"] == pytest.approx(0.6 * 0.5 + 0.4)
    assert any("recall is null" in note for note in found.notes)


def test_two_events_of_one_name_are_refused() -> None:
    with pytest.raises(SeamError):
        grade([heal_event(), heal_event()])


HEALS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.booleans() | st.none(), st.integers(0, 12)), max_size=8
)
FAILURES = st.none() | st.lists(
    st.tuples(st.sampled_from("abcdef"), st.integers(0, 25)), max_size=9
)


@given(HEALS, FAILURES)
def test_s_is_within_0_and_1_for_any_input(
    heals: list[tuple[str, bool | None, int]], failures: list[tuple[str, int]] | None
) -> None:
    events = [
        heal_event(str(n), days=days / 2, signature=name, was_real_failure=real)
        for n, (name, real, days) in enumerate(heals)
    ]
    log = None if failures is None else [failed(name, days / 2) for name, days in failures]
    found = grade(events, Fixtures(failures=log), window="all").axes["S"]
    assert found is None or 0 <= found <= 1


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.integers(0, 12)), min_size=1),
    FAILURES,
)
def test_s_is_what_the_formulas_say(
    heals: list[tuple[str, bool, int]], failures: list[tuple[str, int]] | None
) -> None:
    events = [
        event(str(n), days=days / 2, signature=name, was_real_failure=real)
        for n, (name, real, days) in enumerate(heals)
    ]
    log = None if failures is None else [
        {"failure_signature": name, "ts": at(days / 2)} for name, days in failures
    ]  # fmt: skip
    found = Desk().grade(events, "--window", "all", **({} if log is None else {"failures": log}))
    inside = [one for one in log or [] if one["ts"] >= min(heal["ts"] for heal in events)]
    expected = straightforward.signal(events, None if log is None else inside)
    assert found["S"] == pytest.approx(expected, abs=1e-6)


@given(st.lists(st.tuples(SHARE, SHARE, SHARE, SHARE), min_size=1, max_size=8))
def test_e_is_what_the_formulas_say(scores: list[tuple[float, ...]]) -> None:
    names = ("visible_before", "visible_after", "holdout_before", "holdout_after")
    events = [event(str(n), **dict(zip(names, one, strict=True))) for n, one in enumerate(scores)]
    assert Desk().grade(events)["E"] == pytest.approx(straightforward.efficacy(events), abs=1e-6)


@given(SHARE, SHARE, st.lists(SHARE, max_size=4))
def test_a_larger_gap_never_raises_e(one: float, other: float, rest: list[float]) -> None:
    def e_of(after: float) -> float:
        heals = [heal_event("x", visible_before=0, visible_after=after, holdout_after=0.5)]
        heals += [heal_event(str(n), visible_after=score) for n, score in enumerate(rest)]
        found = grade(heals).axes["E"]
        assert found is not None
        return found

    assert e_of(max(one, other)) <= e_of(min(one, other))


OUTCOMES = st.lists(
    st.tuples(*[st.sampled_from(["pass", "fail"])] * 3, st.booleans()), min_size=1, max_size=40
)


def _surface(cases: list[tuple[str, str, str, bool]]) -> dict[str, Any]:
    return {
        "surface": [
            {"id": f"c{n}", "result": after, "safety": safety}
            for n, (_, after, _, safety) in enumerate(cases)
        ],
        "pre": {f"c{n}": pre for n, (pre, *_) in enumerate(cases)},
        "certified": {f"c{n}": certified for n, (_, _, certified, _) in enumerate(cases)},
    }


@given(OUTCOMES)
def test_a_and_recertify_are_what_the_formulas_say(cases: list[tuple[str, str, str, bool]]) -> None:
    fixtures = _surface(cases)
    found = Desk().grade([event()], **fixtures)
    a, recertify = straightforward.aftermath(
        fixtures["surface"], fixtures["pre"], fixtures["certified"]
    )
    assert found["A"] == pytest.approx(a, abs=1e-6)
    assert found["recertify_due"] == recertify


@given(OUTCOMES, st.integers(0, 39))
def test_an_added_regression_never_raises_a(
    cases: list[tuple[str, str, str, bool]], place: int
) -> None:
    place %= len(cases)
    worse = [*cases]
    worse[place] = ("pass", "fail", *cases[place][2:])
    before, after = (Desk().grade([event()], **_surface(one))["A"] for one in (cases, worse))
    assert after <= before


@settings(max_examples=60)
@given(
    st.lists(st.tuples(SHARE, st.sampled_from(["aaaa bbbb", "cc", "aaaa bbbc", "dddd e", ""])),
             min_size=1, max_size=8)
)  # fmt: skip
def test_m_is_what_the_formulas_say(cycles: list[tuple[float, str]]) -> None:
    events = [
        event(
            str(n), loop_id="one", cycle=n, score=score, change={"after_text": text or f"#{n:09}"}
        )
        for n, (score, text) in enumerate(cycles)
    ]
    texts = [one["change"]["after_text"] for one in events]
    expected = straightforward.monotonicity([score for score, _ in cycles], texts)
    assert Desk().grade(events)["M"] == pytest.approx(expected, abs=1e-6)


@given(st.lists(SHARE, min_size=2, max_size=7), st.integers(1, 6))
def test_a_further_dip_never_raises_m(scores: list[float], place: int) -> None:
    place = min(place, len(scores) - 1)
    lower = [*scores]
    lower[place:] = [min(scores[place - 1] - 0.01, score) for score in scores[place:]]

    def m_of(values: list[float]) -> float:
        heals = [
            heal_event(str(n), loop_id="one", cycle=n, score=max(0.0, score) / 2 + 0.25)
            for n, score in enumerate(values)
        ]
        found = grade(heals).axes["M"]
        assert found is not None
        return found

    dips = sum(b < a for a, b in pairwise(scores))
    fallen = [max(0.0, score) for score in lower]
    if sum(b < a for a, b in pairwise(fallen)) >= dips:
        assert m_of(fallen) <= m_of(scores)


@given(HEALS, FAILURES)
def test_no_axis_leaves_0_to_1_and_no_alert_rests_on_null(
    heals: list[tuple[str, bool | None, int]], failures: list[tuple[str, int]] | None
) -> None:
    events = [
        heal_event(str(n), days=days, signature=name, was_real_failure=real, loop_id=name)
        for n, (name, real, days) in enumerate(heals)
    ]
    log = None if failures is None else [failed(name, days) for name, days in failures]
    found = grade(events, Fixtures(failures=log))
    for name, value in found.axes.items():
        assert value is None or 0 <= value <= 1
        assert value is not None or not any(one.startswith(f"{name}<") for one in found.alerts)
    assert DEFAULTS.alert_s == 0.70
