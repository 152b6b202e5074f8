"""How the checks say their outcome: one line of reason, and never an exception.

Knows records only. Text that a program printed is cut to one plain line before it is kept.
"""

from collections.abc import Callable

from healbot.errors import HealbotError
from healbot.records.run import CheckResult, Outcome
from healbot.rules.patterns import Unscorable

LINE_CHARACTERS = 200
"""How much of a printed line is kept as a reason or as what was missed."""


def passed(label: str) -> CheckResult:
    """Return a pass."""
    return CheckResult(check=label, outcome=Outcome.PASS)


def failed(label: str, reason: str, missed: str | None = None) -> CheckResult:
    """Return a fail; ``missed`` names what the answer lacked."""
    return CheckResult(check=label, outcome=Outcome.FAIL, reason=reason, missed=missed)


def unscored(label: str, reason: str) -> CheckResult:
    """Return "cannot score" with its reason."""
    return CheckResult(check=label, outcome=Outcome.NONE, reason=one_line(reason))


def guarded(label: str, judge: Callable[[], CheckResult]) -> CheckResult:
    """Return what a judgement says, or "cannot score" where it raises: a fault is never a fail."""
    try:
        return judge()
    except Unscorable as reason:
        return unscored(label, str(reason))
    except HealbotError as error:
        return unscored(label, error.what)
    except Exception as fault:  # noqa: BLE001 - the port promises that no check ever raises
        return unscored(label, f"the check could not be made ({type(fault).__name__}: {fault})")


def one_line(text: str) -> str:
    """Return a text as one line without control characters, cut at the limit."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:4000]).split())
    return line if len(line) <= LINE_CHARACTERS else line[: LINE_CHARACTERS - 1] + "…"
