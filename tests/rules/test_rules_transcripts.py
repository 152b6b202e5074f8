"""What is shown of a failed run: the earliest wrong turn, and never what a check expects."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healbot.records.case import Case
from healbot.records.run import CheckResult, Outcome, Run, RunKey, ToolCall
from healbot.rules.transcripts import cut, told, wrong_turn

CASE = Case.model_validate(
    {"id": "c", "input": "please refund", "assert": [{"type": "contains", "value": "S3CRET"}]}
)


def run(**fields: Any) -> Run:
    key = RunKey(revision="r", case="c", runner="x", repeat=0)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    checks = (CheckResult(check="contains", outcome=Outcome.FAIL, reason="S3CRET is not there"),)
    base = {"key": key, "case_id": "c", "started_at": at, "duration_seconds": 1, "ended": "exited"}
    return Run.model_validate({**base, "checks": checks, **fields})


def calls(*names: str, failing: int | None = None) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(name=name, error="no such order" if place == failing else None)
        for place, name in enumerate(names)
    )


def test_the_name_of_what_was_missed_is_told_and_the_checks_own_words_are_not() -> None:
    named = CheckResult(check="contains", outcome=Outcome.FAIL, reason="S3CRET", missed="asks")
    text = told(CASE, run(checks=(named,), stdout="paid"), limit=2000)
    assert "A check missed: asks" in text
    assert "paid" in text
    assert "S3CRET" not in text
    assert "does not say what it missed" in told(CASE, run(), limit=2000)
    assert "S3CRET" not in told(CASE, run(), limit=2000)


@pytest.mark.parametrize(
    ("mine", "good", "turn"),
    [
        (calls("a", "b", "c", failing=1), None, 1),
        (calls("a", "b", "c"), None, None),
        (calls("a", "x", "c"), calls("a", "b", "c"), 1),
        (calls("a"), calls("a", "b"), 1),
        (calls("a", "x", "c", failing=2), calls("a", "b"), 2),
        ((), None, None),
    ],
)
def test_the_wrong_turn_is_the_first_failed_call_or_the_first_that_a_good_run_has_not(
    mine: tuple[ToolCall, ...], good: tuple[ToolCall, ...] | None, turn: int | None
) -> None:
    assert wrong_turn(mine, good) == turn


def test_of_many_calls_those_around_the_wrong_turn_are_shown() -> None:
    many = calls(*(f"call{n}" for n in range(60)), failing=10)
    text = told(CASE, run(tool_calls=many), limit=2000)
    assert "11. call10() failed: no such order   <- the earliest wrong turn" in text
    assert "call30" not in text
    assert "(8 calls before)" in text


def test_of_a_long_text_the_first_trouble_is_kept_and_not_the_tail() -> None:
    text = "fine\n" * 2000 + "Error: the order is gone\n" + "noise\n" * 5000 + "the end"
    shown = cut(text, 1000)
    assert "Error: the order is gone" in shown
    assert shown.endswith("the end")
    assert shown.count("noise") < 150
    assert "characters left out" in shown


def test_without_trouble_the_first_difference_from_a_good_run_is_kept() -> None:
    good = "step\n" * 3000
    bad = "step\n" * 1500 + "skip the question\n" + "step\n" * 3000
    assert "skip the question" in cut(bad, 600, good=good)


@given(st.text(max_size=3000), st.text(max_size=3000), st.integers(200, 1500))
def test_no_run_is_longer_than_its_limit(out: str, err: str, limit: int) -> None:
    long = CASE.model_copy(update={"input": out})
    text = told(long, run(stdout=out, stderr=err, tool_calls=calls("a" * 90)), limit=limit)
    assert len(text) <= limit


def test_a_run_that_did_not_end_well_says_so() -> None:
    assert "It timed-out." in told(CASE, run(ended="timed-out"), limit=900)
    assert "with exit code 3" in told(CASE, run(exit_code=3, skills_read=()), limit=900)
