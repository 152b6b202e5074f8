"""Tool calls are judged from what a runner reported, and only from that."""

from pathlib import Path
from typing import Any

from healbot.records.case import ToolCalled
from healbot.records.run import Outcome, ToolCall, Trace
from healbot.rules.trajectory import judge_called, judge_not_called

HERE = Path("/w")


def run(*calls: ToolCall, **rest: Any) -> Trace:
    whole = {"ended": "exited", "exit_code": 0, "tool_calls": calls, **rest}
    return Trace.model_validate({"root": HERE, "folder": HERE, **whole})


def called(trace: Trace, **args: Any) -> Outcome:
    return judge_called(ToolCalled(name="escalate", args=args), trace, "t").outcome


def test_a_call_counts_with_at_least_the_wanted_arguments() -> None:
    trace = run(ToolCall(name="escalate", args={"order": 1001, "who": {"name": "a", "age": 3}}))
    assert called(trace) is Outcome.PASS
    assert called(trace, order=1001) is Outcome.PASS
    assert called(trace, who={"name": "a"}) is Outcome.PASS
    assert called(trace, order=1002) is Outcome.FAIL
    assert called(trace, order=True) is Outcome.FAIL
    assert called(trace, other=1) is Outcome.FAIL


def test_arguments_reported_as_json_text_are_read() -> None:
    assert called(run(ToolCall(name="escalate", args='{"order": 1}')), order=1) is Outcome.PASS
    assert called(run(ToolCall(name="escalate", args="{broken")), order=1) is Outcome.FAIL


def test_calls_that_were_not_reported_cannot_score() -> None:
    trace = run(tool_calls=None)
    assert called(trace) is Outcome.NONE
    assert judge_not_called("refund", trace, "t").outcome is Outcome.NONE


def test_a_forbidden_call_fails_however_the_run_ended() -> None:
    bad = run(ToolCall(name="refund"), ended="timed-out", exit_code=None)
    assert judge_not_called("refund", bad, "t").outcome is Outcome.FAIL
    assert judge_not_called("other", bad, "t").outcome is Outcome.NONE
    assert judge_not_called("other", run(), "t").outcome is Outcome.PASS
    assert called(run(exit_code=1)) is Outcome.NONE
