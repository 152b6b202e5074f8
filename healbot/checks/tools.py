"""The checks behind ``tool-called`` and ``not-tool-called``; what they mean is a rule's work."""

from healbot.records.case import Case, CheckSpec
from healbot.records.run import CheckResult, Trace
from healbot.rules.trajectory import judge_called, judge_not_called


class ToolCheck:
    """Judges a run by the tool calls that its runner reported."""

    def __init__(self, spec: CheckSpec) -> None:
        self._spec = spec

    def score(self, case: Case, trace: Trace) -> CheckResult:  # noqa: ARG002 - the port's shape
        """Judge a run; calls that were not reported can't score."""
        spec = self._spec
        if spec.tool_called is not None:
            label = spec.name or f"tool-called {spec.tool_called.name}"
            return judge_called(spec.tool_called, trace, label)
        tool = spec.not_tool_called or ""
        return judge_not_called(tool, trace, spec.name or f"not-tool-called {tool}")
