"""What stands in for the checks of a case that has none: it can't be scored, and says why.

Knows no run: whatever the agent did, there is nothing to hold it against.
"""

from healbot.checks.outcome import unscored
from healbot.records.case import Case
from healbot.records.run import CheckResult, Trace

REASON = "the case has no assert and no check, so it can't be scored"


class MissingCheck:
    """``Check`` that is never a pass and never a fail."""

    def score(self, case: Case, trace: Trace) -> CheckResult:
        """Return "cannot score"."""
        del case, trace
        return unscored("no check", REASON)
