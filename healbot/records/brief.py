"""What an editor is given: the harness, what failed (training cases only), and lessons as data."""

from pydantic import ConfigDict

from healbot.records.case import Case
from healbot.records.harness import Harness
from healbot.records.ledger import Finding
from healbot.records.lesson import Lesson
from healbot.records.record import Record
from healbot.records.run import Run


class FailedCase(Record):
    """One failing training case with its failed runs; never a held-out one.

    Attributes:
        passed: Runs of it under the same revision that passed, where there were any.
    """

    case: Case
    finding: Finding
    runs: tuple[Run, ...]
    passed: tuple[Run, ...] = ()


class Brief(Record):
    """What every editor gets, and all that it gets.

    Attributes:
        refused_before: Digests of edits that were tried and refused, closed or rolled back.
        tried: What refused edits said, where that can be read here: texts, oldest first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    agent: str
    instructions: str
    harness: Harness
    failed: tuple[FailedCase, ...]
    lessons: tuple[Lesson, ...] = ()
    refused_before: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
