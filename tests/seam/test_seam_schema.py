"""What a heal event's line says is what it is read as."""

import json
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seam.samples import event, heal_event

from healbot.seam.faults import FieldError
from healbot.seam.schema import Change, HealEvent, parse_event, render_event

TEXT = st.text(min_size=1, max_size=20)
SHARE = st.none() | st.floats(0, 1)
TOKENS = st.none() | st.integers(0, 10**9)
INSTANT = st.datetimes(timezones=st.just(UTC))
EVENTS = st.builds(
    HealEvent,
    heal_id=TEXT, ts=INSTANT, loop_id=TEXT, cycle=st.integers(0, 99), failure_signature=TEXT,
    evidence=st.none() | TEXT, level=st.none() | st.integers(0, 3),
    change=st.builds(Change, *[st.none() | TEXT] * 5),
    visible_before=SHARE, visible_after=SHARE, holdout_before=SHARE, holdout_after=SHARE,
    tokens_spent=TOKENS, task_tokens=TOKENS, was_real_failure=st.none() | st.booleans(),
    score=SHARE, score_kind=st.sampled_from([None, "holdout", "visible"]),
    in_force_at=st.none() | INSTANT, revision=st.none() | TEXT, break_glass=st.none() | TEXT,
)  # fmt: skip


@given(EVENTS)
def test_an_event_comes_back_from_its_line(made: HealEvent) -> None:
    line = render_event(made)
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert parse_event(json.loads(line)) == made


def test_what_is_null_is_missing_and_what_is_unknown_is_let_be() -> None:
    read = parse_event(event(score=None, change=None, strange=[1]))
    assert read.score is None
    assert read == heal_event()


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf"), "1", True, [], {}])
def test_no_value_outside_0_to_1_becomes_a_score(value: Any) -> None:
    for key in ("visible_before", "visible_after", "holdout_before", "holdout_after", "score"):
        with pytest.raises(FieldError, match=key):
            parse_event(event() | {key: value})
