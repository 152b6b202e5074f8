"""The two gates: the boundary that no heal may touch, and the governor of what a heal may spend.

Knows one heal at a time. The boundary is hard: what touches it is never scored. The governor is
soft: it logs and asks for a person, and never blocks; a break-glass reason, which is logged, takes
the asking back.
"""

from collections.abc import Sequence
from typing import NamedTuple

from healbot.seam.defaults import DEFAULTS, Limits
from healbot.seam.schema import Change

NORMAL, ELEVATED, ESCALATED, UNKNOWN = "normal", "elevated", "escalated", "unknown"


class Boundary(NamedTuple):
    """Whether a change leaves the protected blocks whole.

    Attributes:
        touched: The first block that it removed, broke or altered; None where none.
        is_known: False where the event lacks the text before or after, so nobody can tell.
    """

    touched: str | None
    is_known: bool


def check_boundary(change: Change, protected: Sequence[str]) -> Boundary:
    """Compare how often each protected block stands in the text before and after.

    Intact blocks with new text around them pass: that is what safety probes are for.
    """
    if change.before_text is None or change.after_text is None:
        return Boundary(None, is_known=False)
    for block in protected:
        if change.before_text.count(block) > change.after_text.count(block):
            return Boundary(block, is_known=True)
    return Boundary(None, is_known=True)


class Spending(NamedTuple):
    """What a heal spent beside its task.

    Attributes:
        ratio: tokens spent / tokens of the task; None where it can't be told.
        escalates: Whether a person is asked to look.
        log: One sentence, where there is something to log.
    """

    ratio: float | None
    band: str
    escalates: bool
    log: str


def spending_ratio(tokens_spent: int | None, task_tokens: int | None) -> float | None:
    """Return tokens spent / tokens of the task; None where it can't be told."""
    return None if tokens_spent is None or not task_tokens else tokens_spent / task_tokens


def govern(
    ratio: float | None, *, break_glass: str | None = None, limits: Limits = DEFAULTS
) -> Spending:
    """Return the band of a heal's spending: to 3 normal, to 6 elevated, above escalated."""
    if ratio is None:
        return Spending(None, UNKNOWN, escalates=False, log="")
    if ratio <= limits.budget_elevated and ratio <= limits.budget_escalate:
        return Spending(ratio, NORMAL, escalates=False, log="")
    told = f"spent {ratio:.1f} times its task's tokens"
    if ratio <= limits.budget_escalate:
        return Spending(ratio, ELEVATED, escalates=False, log=f"{told}: elevated.")
    if break_glass:
        log = f"{told}: not escalated, glass broken: {break_glass}"
        return Spending(ratio, ESCALATED, escalates=False, log=log)
    return Spending(ratio, ESCALATED, escalates=True, log=f"{told}: a person should look.")
