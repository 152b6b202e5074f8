"""Drafts of cases: nothing invented, nothing twice."""

from datetime import UTC, datetime

import pytest

from healbot.errors import InputError
from healbot.records.case import Case
from healbot.records.observed import ObservedRun
from healbot.rules.drafts import asserted, from_run, render_case, require_new

KNOWN = Case.model_validate(
    {
        "id": "one",
        "input": "please refund order 7 today",
        "assert": [{"type": "contains", "value": "x", "metric": "escalation"}],
        "origin": "c.yml:1",
    }
)


def run(**fields: object) -> ObservedRun:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    return ObservedRun.model_validate({"session": "s", "at": at, "input": "go", **fields})


def test_the_failing_check_comes_from_the_users_own_cases_or_not_at_all() -> None:
    assert from_run(run(check="escalation"), "a" * 64, [KNOWN])["assert"][0]["value"] == "x"
    bare = from_run(run(check="other"), "a" * 64, [KNOWN])
    assert bare["assert"] == []
    assert "write here what must hold" in render_case(bare)


def test_a_run_without_input_is_no_case() -> None:
    with pytest.raises(InputError, match="no input"):
        from_run(run(input=" "), "a" * 64, [KNOWN])


def test_a_near_duplicate_is_refused_by_the_name_of_the_other() -> None:
    again = KNOWN.model_copy(update={"id": "two", "input": "Please refund order 7, today!"})
    with pytest.raises(InputError, match=r"'one' at c\.yml:1"):
        require_new(again, [KNOWN])
    require_new(again.model_copy(update={"input": "Please refund order 8, today!"}), [KNOWN])


def test_an_assert_is_type_and_value() -> None:
    assert asserted("contains=a=b") == {"type": "contains", "value": "a=b"}
    with pytest.raises(InputError):
        asserted("contains")
    for wrong in ("contians=a", "regex=("):
        with pytest.raises(InputError):
            asserted(wrong)
