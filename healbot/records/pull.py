"""A pull request as any forge shows it, and the check posted on its head."""

from datetime import datetime
from typing import Literal

from healbot.records.record import Record

CheckConclusion = Literal["pending", "success", "failure"]
OUTCOME = "outcome"
"""Marks the one comment that says what became of a pull request."""


class Comment(Record):
    """One comment. ``marker`` names a sticky comment of ours; empty for a person's."""

    author: str
    at: datetime
    body: str
    marker: str = ""


class PullCheck(Record):
    """A check on one exact head; inconclusive is a failure, never neutral."""

    name: str
    head_sha: str
    conclusion: CheckConclusion
    summary: str = ""


class Pull(Record):
    """A pull request.

    Attributes:
        key: The Intent that opened it; how a repeat finds it.
        base_ref, branch: Short branch names.
        merged_sha: The merge's commit, where it was merged.
        closed_by: Who merged or closed it.
    """

    schema_version: Literal[1] = 1
    number: int
    key: str
    agent: str
    title: str
    body: str
    branch: str
    head_sha: str
    base_ref: str
    state: Literal["open", "merged", "closed"] = "open"
    draft: bool = True
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    opened_at: datetime
    closed_at: datetime | None = None
    closed_by: str = ""
    base_before_sha: str = ""
    merged_sha: str = ""
    comments: tuple[Comment, ...] = ()
    checks: tuple[PullCheck, ...] = ()
