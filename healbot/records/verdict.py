"""Paired outcomes of two revisions on the same cases, and what a policy makes of them.

Knows no run and no file: outcomes stand in the order in which a policy may draw them.
"""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from healbot.records.record import Record
from healbot.records.run import Outcome

Role = Literal["train", "heldout", "corpus"]
Outcomes = tuple[Outcome, ...]


class Word(StrEnum):
    """The verdict words; no other is ever shown."""

    ADMITTED = "admitted"
    REJECTED = "rejected"
    UNDERPOWERED = "underpowered"
    NOT_EXERCISED = "not-exercised"
    INVALID = "invalid"
    QUEUED = "queued"
    MERGED = "merged"
    KEPT = "kept"
    KEPT_UNVERIFIED = "kept-unverified"
    ROLLED_BACK = "rolled-back"


class CaseEvidence(Record):
    """One case's outcomes under both revisions.

    Attributes:
        role: What the case may decide.
        claimed: The edit claims to fix it; None: not said.
        history: Earlier outcomes under the live revision, not chosen for their outcome.
        baseline_tokens, candidate_tokens: One entry a run, None where unreported.
    """

    id: str
    role: Role
    safety: bool = False
    claimed: bool | None = None
    protected: bool = False
    baseline: Outcomes = ()
    candidate: Outcomes = ()
    history: Outcomes = ()
    baseline_tokens: tuple[int | None, ...] = ()
    candidate_tokens: tuple[int | None, ...] = ()


class Comparison(Record):
    """Paired outcomes of two revisions on the same cases."""

    cases: tuple[CaseEvidence, ...] = ()


class Draw(Record):
    """A policy's wish for further runs of one case; counts of runs per side."""

    case: str
    baseline: int = Field(0, ge=0)
    candidate: int = Field(0, ge=0)


class Need(Record):
    """More runs are needed before a verdict."""

    draws: tuple[Draw, ...] = Field(min_length=1)


class Reason(Record):
    """One rule that spoke, about one case or about the whole."""

    rule: str
    text: str
    case: str | None = None


class Verdict(Record):
    """What a policy decided, with every rule that decided it.

    Attributes:
        fixed_trigger: A training case gained enough, whatever else happened (counted apart).
        gained: Ids of the training cases that gained enough.
        notes: What decided nothing and must still be said (a case left out, a rule not applied).
    """

    word: Word
    reasons: tuple[Reason, ...] = ()
    fixed_trigger: bool = False
    gained: tuple[str, ...] = ()
    notes: tuple[Reason, ...] = ()
