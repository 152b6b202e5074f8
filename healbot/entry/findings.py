"""What the doctor found: one line each, how bad it is, and how to fix it.

Knows no repository; the examinations return these, the doctor prints them.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from healbot.errors import HealbotError

Severity = Literal["error", "warning", "ok"]


class Finding(NamedTuple):
    """One line of a diagnosis.

    Attributes:
        topic: What was looked at, for instance ``settings`` or an agent's name.
        fix: What to do now; empty where all is well.
    """

    severity: Severity
    topic: str
    text: str
    fix: str = ""


def ok(topic: str, text: str) -> Finding:
    """Return a line that says that all is well."""
    return Finding("ok", topic, text)


def warning(topic: str, text: str, fix: str) -> Finding:
    """Return a line on something that weakens what healbot can do."""
    return Finding("warning", topic, text, fix)


def error(topic: str, text: str, fix: str) -> Finding:
    """Return a line on something that stops healbot, or makes its answers worthless."""
    return Finding("error", topic, text, fix)


def of_error(topic: str, problem: HealbotError) -> Finding:
    """Return an expected error as a line."""
    return error(topic, problem.what, problem.next_step)


def count(findings: Iterable[Finding], severity: Severity) -> int:
    """Return how many lines are that bad."""
    return sum(one.severity == severity for one in findings)
