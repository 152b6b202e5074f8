"""What a step wants changed in the world: typed, idempotent, each with a key.

Knows no forge. The one executor (``cycle/execute.py``) looks for an Intent's effect before it
performs it, so the same Intent twice has one effect. ``--dry-run`` prints Intents.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from healbot.records.pull import CheckConclusion
from healbot.records.record import Record


class OpenPull(Record):
    """Commit changed files on a new branch cut from ``base_sha`` and open a draft pull request.

    Attributes:
        files: Path from the repository's root to the file's new bytes.
    """

    kind: Literal["open-pull"] = "open-pull"
    key: str
    agent: str
    at: datetime
    base_ref: str
    base_sha: str
    branch: str
    files: dict[str, bytes]
    commit_message: str
    title: str
    body: str
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()


class UpdatePull(Record):
    """Set the body, and draft or ready."""

    kind: Literal["update-pull"] = "update-pull"
    key: str
    number: int
    body: str
    draft: bool


class SayOnPull(Record):
    """Post a comment once, or edit the one with the same marker in place."""

    kind: Literal["say-on-pull"] = "say-on-pull"
    key: str
    number: int
    marker: str
    body: str
    at: datetime


class PostCheck(Record):
    """Post a check on an exact head."""

    kind: Literal["post-check"] = "post-check"
    key: str
    number: int
    head_sha: str
    name: str
    conclusion: CheckConclusion
    summary: str = ""


class MergePull(Record):
    """Merge an exact head, if the agent's folder is still the one that was judged.

    Attributes:
        unchanged: Paths from the repository's root and the digest of the bytes that each must still
            have on the base branch (None: must not exist). The writer refuses otherwise.
    """

    kind: Literal["merge-pull"] = "merge-pull"
    key: str
    number: int
    head_sha: str
    by: str
    at: datetime
    commit_message: str
    unchanged: dict[str, str | None]


class ClosePull(Record):
    """Close without merging."""

    kind: Literal["close-pull"] = "close-pull"
    key: str
    number: int
    by: str
    at: datetime
    because: str = ""


class ReopenPull(Record):
    """Open a closed pull request again, on the head that it had.

    Attributes:
        head_sha: The commit that its branch must hold, put back where the branch is gone.
    """

    kind: Literal["reopen-pull"] = "reopen-pull"
    key: str
    number: int
    head_sha: str
    by: str
    at: datetime


class Restore(Record):
    """Put files back to saved bytes by a new commit on the base branch (a revert).

    Attributes:
        reverts_sha: The merge that is undone; a forge that can makes a true revert of it, and falls
            back to ``files`` where later changes stand in the way.
        files: Path from the repository's root to the saved bytes (None: remove).
        expect: The base branch's tip that was read.
    """

    kind: Literal["restore"] = "restore"
    key: str
    base_ref: str
    expect: str
    reverts_sha: str | None
    files: dict[str, bytes | None]
    commit_message: str
    by: str
    at: datetime


Intent = Annotated[
    OpenPull | UpdatePull | SayOnPull | PostCheck | MergePull | ClosePull | ReopenPull | Restore,
    Field(discriminator="kind"),
]


class Effect(Record):
    """What an Intent left in the world, from the forge's own answer.

    Attributes:
        found: True where the effect was there already.
        number: Of the pull request.
        sha, before_sha: The commit made, and the branch's tip before it.
        note: What a person should know (for instance that later edits were lost).
        base_ref: The branch that was moved.
        deleted: The branch that was deleted.
    """

    key: str
    found: bool = False
    number: int | None = None
    sha: str = ""
    before_sha: str = ""
    note: str = ""
    base_ref: str = ""
    deleted: str = ""
