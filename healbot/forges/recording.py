"""What becomes of a pull request's record, and the Effect to answer with; no git, no store.

Knows records and Intents only. ``forges/local.py`` moves the refs that go with it.
"""

from collections.abc import Sequence

from healbot.errors import RefusedError
from healbot.ports import Swap
from healbot.records.intent import (
    ClosePull,
    Effect,
    Intent,
    MergePull,
    PostCheck,
    ReopenPull,
    SayOnPull,
    UpdatePull,
)
from healbot.records.pull import Comment, Pull, PullCheck

AUTHOR = "healbot"
LEAVES = {"merge-pull": "merged", "close-pull": "closed", "reopen-pull": "open"}
"""The state in which an Intent leaves a pull request."""


def touched(
    pull: Pull, intent: UpdatePull | SayOnPull | PostCheck
) -> tuple[Pull, list[Swap], Effect]:
    """Return the record with a body, comment or check set; a comment of ours is edited in place."""
    effect = Effect(key=intent.key, number=pull.number)
    if isinstance(intent, UpdatePull):
        still_open(pull)
        return pull.model_copy(update={"body": intent.body, "draft": intent.draft}), [], effect
    if isinstance(intent, PostCheck):
        kept = [one for one in pull.checks if (one.name, one.head_sha) != _place(intent)]
        check = PullCheck(
            name=intent.name,
            head_sha=intent.head_sha,
            conclusion=intent.conclusion,
            summary=intent.summary,
        )
        return pull.model_copy(update={"checks": (*kept, check)}), [], effect
    comment = Comment(author=AUTHOR, at=intent.at, body=intent.body, marker=intent.marker)
    return pull.model_copy(update={"comments": with_comment(pull, comment)}), [], effect


def with_comment(pull: Pull, comment: Comment) -> tuple[Comment, ...]:
    """Return the comments with one more, or with the one of the same marker replaced in place."""
    mark = comment.marker
    others = [one for one in pull.comments if not mark or one.marker != mark]
    place = next(
        (n for n, one in enumerate(pull.comments) if mark and one.marker == mark), len(others)
    )
    others.insert(place, comment)
    return tuple(others)


def is_done(intent: Intent, pull: Pull) -> bool:
    """Whether a record holds an Intent's effect already."""
    match intent:
        case UpdatePull():
            return pull.body == intent.body and pull.draft == intent.draft
        case SayOnPull():
            return any(
                (one.marker, one.body) == (intent.marker, intent.body) for one in pull.comments
            )
        case PostCheck():
            said = (intent.conclusion, intent.summary)
            return any(
                (one.name, one.head_sha) == _place(intent) and (one.conclusion, one.summary) == said
                for one in pull.checks
            )
        case MergePull() | ClosePull() | ReopenPull():
            return pull.state == LEAVES[intent.kind]
        case _:
            return False


def _place(intent: PostCheck) -> tuple[str, str]:
    return intent.name, intent.head_sha


def found(intent: Intent, pull: Pull) -> Effect:
    """Return the Effect of an Intent that was performed before."""
    sha = pull.merged_sha if isinstance(intent, MergePull) else pull.head_sha
    return Effect(
        key=intent.key, found=True, number=pull.number, sha=sha, before_sha=pull.base_before_sha,
        base_ref=pull.base_ref,
    )  # fmt: skip


def merged_effect(intent: MergePull, pull: Pull) -> Effect:
    """Return the Effect of a merge, from the merged record."""
    return Effect(
        key=intent.key, number=pull.number, sha=pull.merged_sha, before_sha=pull.base_before_sha,
        base_ref=pull.base_ref,
    )  # fmt: skip


def closed_effect(intent: ClosePull, pull: Pull) -> Effect:
    """Return the Effect of a closing."""
    return Effect(key=intent.key, number=pull.number, base_ref=pull.base_ref)


def reopened(pull: Pull) -> Pull:
    """Return a closed pull request as open again.

    Raises:
        RefusedError: It is not closed.
    """
    if pull.state != "closed":
        raise RefusedError(
            f"Pull request {pull.number} is {pull.state}, not closed.", "See healbot pulls show."
        )
    return pull.model_copy(update={"state": "open", "closed_at": None, "closed_by": ""})


def gone(drop: Sequence[Swap], note: str) -> dict[str, object]:
    """Return what an Effect says of a branch that was deleted, or left."""
    return {"deleted": "".join(one.ref.removeprefix("refs/heads/") for one in drop), "note": note}


def still_open(pull: Pull) -> Pull:
    """Return an open pull request.

    Raises:
        RefusedError: It is merged or closed.
    """
    if pull.state != "open":
        raise RefusedError(
            f"Pull request {pull.number} is {pull.state} already.", "See healbot pulls show."
        )
    return pull


def taken(branch: str) -> Swap:
    """Refuse to open onto a branch that is there with other commits."""
    raise RefusedError(
        f"The branch {branch!r} is there already, with other commits.",
        "Delete or rename it, then run the cycle again.",
    )
