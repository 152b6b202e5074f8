"""The quick way and the straightforward one say the same of any event, right or wrong."""

from dataclasses import fields as fields_of
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from seam.samples import Desk, at, event, lines

from healbot.seam import reading
from healbot.seam.faults import FieldError
from healbot.seam.fields import instant
from healbot.seam.heals import Heal, Intake
from healbot.seam.heldout import held_out
from healbot.seam.quick import quick_heal
from healbot.seam.schema import parse_event

NUMBERS = [0, 1, 0.0, -0.0, 0.25, 1.0, 1.5, -0.1, 3, 7, 10**400, float("nan"), float("inf")]
TIMES = [
    at(1), "2026-06-02T00:00:00Z", "2026-06-02T00:00:00", "2026-06-02", "yesterday",
    "2026-06-02T00:00:00+02:00", "0001-01-01T00:00:00+14:00", "2026-W23-2",
]  # fmt: skip
TEXTS = ["", "x", "never refund", "always ask for orders and one more thing now", "holdout"]
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, {}, [], ..., {"failure_signature": "s"}]
)
VALUE = ODD | st.sampled_from([*NUMBERS, *TIMES, *TEXTS])
KEYS = (
    "heal_id", "ts", "loop_id", "cycle", "level", "trigger", "change", "visible_before",
    "visible_after", "holdout_before", "holdout_after", "score", "tokens_spent", "task_tokens",
    "was_real_failure", "score_kind", "in_force_at", "revision", "break_glass", "strange",
)  # fmt: skip
PARTS = st.dictionaries(
    st.sampled_from(["target", "before_hash", "after_text", "before_text", "block"]),
    st.sampled_from(TEXTS) | ODD.filter(lambda one: one is not ...),
    max_size=3,
)
TRIGGER = st.fixed_dictionaries({"failure_signature": VALUE, "evidence": VALUE}).map(
    lambda one: {key: value for key, value in one.items() if value is not ...}
)
CHANGES = st.dictionaries(st.sampled_from(KEYS), VALUE, max_size=3) | st.fixed_dictionaries(
    {}, optional={"change": PARTS, "trigger": TRIGGER, "revision": st.just("r")}
)
HOLDOUT = held_out([{"text": "ALWAYS ask, for orders: and one more thing now"}], 8)
INTAKES = st.sampled_from([(None, None), (["never refund"], HOLDOUT)])


def _told(heal: Heal) -> list[str]:
    kept = [one.name for one in fields_of(Heal) if one.name not in {"columns", "row"}]
    kept += ["shares", "ratio", "before", "place", "outline"]
    return [repr(getattr(heal, name)) for name in kept]


@settings(max_examples=300)
@given(CHANGES, INTAKES)
@example({}, (None, None))
def test_both_ways_keep_the_same(more: dict[str, Any], fixtures: tuple[Any, Any]) -> None:
    value = event(**more)
    intake = Intake(*fixtures)
    quick = quick_heal(intake, value, 7)
    rows = len(intake.columns.places)
    assert rows == (quick is not None)
    try:
        slow = Intake(*fixtures).take(parse_event(value), 7)
    except FieldError:
        assert quick is None
        return
    if quick is not None:
        assert _told(quick[0]) == _told(slow)
        assert quick[1] == instant(value["ts"], "ts")[1]


@pytest.mark.parametrize(
    "more",
    [{}, {"score": 1}, {"score": None, "level": None}, {"change": {"after_text": "x"}},
     {"ts": "2026-06-02T00:00:00"}, {"in_force_at": at(2), "revision": "r", "tokens_spent": 3}],
)  # fmt: skip
def test_usual_events_take_the_quick_way(more: dict[str, Any]) -> None:
    assert quick_heal(Intake(), event(**more), 0) is not None


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(-9, 1), CHANGES), max_size=6),
    st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(TIMES[:4]), VALUE), max_size=5),
    st.sampled_from(["", "{", '{"heal_id": "a', "\n\n", "[]\n"]),
)
def test_whole_logs_are_graded_the_same(
    heals: list[tuple[str, float, dict[str, Any]]],
    failures: list[tuple[str, str, Any]],
    tail: str,
) -> None:
    desk = Desk()
    raw = [
        event(f"{n}", days=days, signature="xyz"[n % 3]) | {"loop_id": loop, **more}
        for n, (loop, days, more) in enumerate(heals)
    ]
    made = [{key: one for key, one in heal.items() if one is not ...} for heal in raw]
    log = [
        {"failure_signature": name, "ts": ts, **({} if odd is ... else {"revision": odd})}
        for name, ts, odd in failures
    ]
    desk.put("h", lines(*made) + tail)
    desk.put("f", lines(*log))
    words = ["--heals", "h", "--failures", "f", "--window", "all", "--explain"]
    quick = desk.run(*words), desk.out, desk.told
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "quick_heal", lambda *_: None)
        slow = desk.run(*words), desk.out, desk.told
    assert quick == slow
