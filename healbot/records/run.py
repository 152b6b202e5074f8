"""One attempt at a case: what went in, what came out, what each check said.

Knows no process. "Cannot score" is an outcome of its own everywhere, never a pass or a fail; what
a runner does not report is None, never zero.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from healbot.records.case import Case
from healbot.records.record import Record, digest_of


class Outcome(StrEnum):
    """Yes, no, could not tell."""

    PASS = "pass"  # noqa: S105 - an outcome, no password
    FAIL = "fail"
    NONE = "none"


class CheckResult(Record):
    """What one check said of one run.

    Attributes:
        check: The check's label.
        missed: On a fail, the name of what the answer missed, where the check gives one.
    """

    check: str
    outcome: Outcome
    reason: str = ""
    missed: str | None = None


def fold(results: Sequence[CheckResult]) -> Outcome:
    """Fold checks: any fail fails; else any that cannot score, or no check at all, is none."""
    outcomes = {result.outcome for result in results}
    if Outcome.FAIL in outcomes:
        return Outcome.FAIL
    if Outcome.NONE in outcomes or not outcomes:
        return Outcome.NONE
    return Outcome.PASS


class RunKey(Record):
    """What names a run in the journal. ``repeat`` counts from 0 per revision, case and runner."""

    revision: str
    case: str
    runner: str
    repeat: int

    @property
    def digest(self) -> str:
        """The journal's address of this run."""
        return digest_of(self)


class Usage(Record):
    """What a run cost, as far as it was reported."""

    tokens: int | None = None
    usd: float | None = None


class ToolCall(Record):
    """One tool call that the runner reported."""

    name: str
    args: Any = None
    error: str | None = None


Ended = Literal["exited", "timed-out", "not-started", "interrupted"]


class Job(Record):
    """What a runner is asked to do: one case in one prepared workspace.

    Attributes:
        root: The workspace's root, which the agent may change.
        folder: The agent's folder in it, its working directory.
        seed: Mixed from settings, revision, case and repeat; reaches the agent as HEALBOT_SEED.
    """

    case: Case
    root: Path
    folder: Path
    seed: int


class Trace(Record):
    """What a runner saw of one attempt, before any check.

    Attributes:
        changed: Paths from the workspace's root that the attempt added, changed or removed.
        tool_calls, skills_read, rules_read: None where the runner does not report them.
        truncated: True where stdout or stderr was cut at the cap.
        notes: What a person should know: why it did not start, why a report is unknown.
    """

    root: Path
    folder: Path
    ended: Ended
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False
    duration_seconds: float = 0.0
    changed: tuple[str, ...] = ()
    usage: Usage = Usage()
    tool_calls: tuple[ToolCall, ...] | None = None
    skills_read: tuple[str, ...] | None = None
    rules_read: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


class Run(Record):
    """The record of one finished attempt, as the journal keeps it."""

    schema_version: Literal[1] = 1
    key: RunKey
    case_id: str
    started_at: datetime
    duration_seconds: float
    ended: Ended
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False
    changed: tuple[str, ...] = ()
    usage: Usage = Usage()
    tool_calls: tuple[ToolCall, ...] | None = None
    skills_read: tuple[str, ...] | None = None
    rules_read: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The checks' fold."""
        return fold(self.checks)
