"""The check behind one promptfoo assertion; what it means is a rule's business."""

from healbot.records.case import Assertion, Case
from healbot.records.run import CheckResult, Trace
from healbot.rules.assertions import judge


class AssertionCheck:
    """Judges a run's output by one assertion."""

    def __init__(self, assertion: Assertion) -> None:
        self._assertion = assertion

    def score(self, case: Case, trace: Trace) -> CheckResult:  # noqa: ARG002 - the port's shape
        """Judge a run; see ``rules/assertions.py``."""
        return judge(self._assertion, trace)
