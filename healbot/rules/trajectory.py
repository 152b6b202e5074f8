"""What a run's reported tool calls say: called, or not called.

Knows records only. Calls that a runner did not report are unknown, which is neither yes nor no.
"""

import json
from typing import Any

from healbot.records.case import ToolCalled
from healbot.records.run import CheckResult, Outcome, Trace
from healbot.rules.assertions import unfinished
from healbot.rules.expected import same


def judge_called(wanted: ToolCalled, trace: Trace, label: str) -> CheckResult:
    """Judge that a tool was called, with at least these arguments; a refused call counts too."""
    unknown = _unknown(trace)
    if unknown or unfinished(trace):
        reason = unknown or unfinished(trace) or ""
        return CheckResult(check=label, outcome=Outcome.NONE, reason=reason)
    same_name = [call for call in trace.tool_calls or () if call.name == wanted.name]
    if any(_includes(_plain(call.args), wanted.args) for call in same_name):
        return CheckResult(check=label, outcome=Outcome.PASS)
    how = "with other arguments only" if same_name else "never"
    reason = f"the tool {wanted.name[:60]!r} was called {how}"
    return CheckResult(check=label, outcome=Outcome.FAIL, reason=reason, missed=label)


def judge_not_called(name: str, trace: Trace, label: str) -> CheckResult:
    """Judge that a tool was never called; a call that was made fails however the run ended."""
    unknown = _unknown(trace)
    if unknown:
        return CheckResult(check=label, outcome=Outcome.NONE, reason=unknown)
    if any(call.name == name for call in trace.tool_calls or ()):
        reason = f"the tool {name[:60]!r} was called"
        return CheckResult(check=label, outcome=Outcome.FAIL, reason=reason, missed=label)
    reason = unfinished(trace) or ""
    outcome = Outcome.NONE if reason else Outcome.PASS
    return CheckResult(check=label, outcome=outcome, reason=reason)


def _unknown(trace: Trace) -> str | None:
    return "the runner did not report tool calls" if trace.tool_calls is None else None


def _plain(args: Any) -> Any:
    """Return arguments as data; some runners report them as JSON text."""
    if not isinstance(args, str):
        return args
    try:
        return json.loads(args)
    except (ValueError, RecursionError):
        return args


def _includes(args: Any, wanted: dict[str, Any]) -> bool:
    """Say whether arguments hold at least the wanted ones; objects inside are compared likewise."""
    if not wanted:
        return True
    if not isinstance(args, dict):
        return False
    return all(
        name in args
        and (
            _includes(args[name], value)
            if isinstance(value, dict) and value
            else same(args[name], value)
        )
        for name, value in wanted.items()
    )
