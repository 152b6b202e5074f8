"""Every word of a case has its check, and no fault behind one ever decides."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from healbot.checks.assertion import AssertionCheck
from healbot.checks.missing import MissingCheck
from healbot.checks.table import CHECKS, Means, checks_of
from healbot.checks.tests import TestsCheck
from healbot.errors import InputError
from healbot.ports import Finished
from healbot.records.case import Case, CheckSpec
from healbot.records.run import Ended, Outcome, Trace, fold

ALL = [
    {"tests": {"add": "hidden/", "run": "python -m pytest -q"}},
    {"command": "python checks/refund.py"},
    {"python": "checks.refund:escalated"},
    {"tool-called": {"name": "escalate", "args": {"order": 1001}}},
    {"not-tool-called": "refund"},
]


def test_a_case_without_checks_has_none_and_cannot_score(
    case: Callable[..., Case], means: Means
) -> None:
    (check,) = checks_of(case(), means)
    assert isinstance(check, MissingCheck)
    assert fold(()) is Outcome.NONE


def test_assertions_come_first_hidden_tests_last_and_measurements_not_at_all(
    case: Callable[..., Case], means: Means
) -> None:
    asserts = [{"type": "contains", "value": "x"}, {"type": "cost", "metric": "c", "weight": 0}]
    checks = checks_of(case(*ALL, **{"assert": asserts}), means)
    assert len(checks) == 1 + len(ALL)
    assert isinstance(checks[0], AssertionCheck)
    assert isinstance(checks[-1], TestsCheck)


def test_the_table_knows_every_kind_of_check() -> None:
    assert {CheckSpec.model_validate(spec).kind for spec in ALL} == set(CHECKS)


def test_tool_checks_judge_what_was_reported(
    case: Callable[..., Case], means: Means, trace: Callable[..., Trace]
) -> None:
    one = case(ALL[3], ALL[4])
    called = [{"name": "escalate", "args": {"order": 1001}}]
    for calls, outcomes in (
        (called, [Outcome.PASS, Outcome.PASS]),
        ([{"name": "refund"}], [Outcome.FAIL, Outcome.FAIL]),
        (None, [Outcome.NONE, Outcome.NONE]),
    ):
        run = trace(tool_calls=calls)
        assert [check.score(one, run).outcome for check in checks_of(one, means)] == outcomes


class _Odd:
    """A process port that answers what a property test wants."""

    sandboxed = False

    def __init__(self, finished: Finished | Exception) -> None:
        self.finished = finished

    def run(self, _: object) -> Finished:
        if isinstance(self.finished, Exception):
            raise self.finished
        return self.finished


BYTES = st.binary(max_size=40)
FINISHED = st.builds(
    Finished,
    ended=st.sampled_from(get_args(Ended)),
    exit_code=st.none() | st.integers(-20, 300).filter(lambda code: code not in (0, 1)),
    stdout=BYTES,
    stderr=BYTES,
    truncated=st.booleans(),
    duration_seconds=st.just(0.1),
)
FAULTS = st.sampled_from(
    [OSError("disk"), RuntimeError("x"), MemoryError(), InputError("bad"), RecursionError()]
)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(end=FINISHED | FAULTS, spec=st.sampled_from(ALL[:3]), read=st.booleans(), fault=FAULTS)
def test_a_fault_anywhere_behind_a_check_never_passes_or_fails(
    case: Callable[..., Case],
    trace: Callable[..., Trace],
    end: Finished | Exception,
    spec: dict[str, Any],
    read: bool,
    fault: Exception,
) -> None:
    def sources(_: str) -> dict[str, bytes]:
        if read:
            raise fault
        return {"tests/test_x.py": b""}

    one = case(spec)
    (check,) = checks_of(one, Means(_Odd(end), {}, sources))
    result = check.score(one, trace())
    assert result.outcome is Outcome.NONE
    assert result.reason
    assert "\n" not in result.reason


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x"])
@pytest.mark.parametrize("spec", ALL[:3])
def test_a_source_path_that_leaves_its_folder_is_refused(
    case: Callable[..., Case], trace: Callable[..., Trace], spec: dict[str, Any], path: str
) -> None:
    one = case(spec)
    odd = _Odd(Finished("exited", 0, b"", b"", False, 0.1))
    (check,) = checks_of(one, Means(odd, {}, lambda _: {path: b"x"}))
    assert check.score(one, trace()).outcome is Outcome.NONE
    assert not Path("/etc/x").exists()
