"""The way back: a saved revision restored by a new commit; history is never rewritten.

Knows merges in the ledger and files at commits; the commit itself is an Intent like any other.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from healbot.cycle.reading import harness_at, repo_path
from healbot.errors import InputError
from healbot.ports import Repo
from healbot.records.harness import Harness
from healbot.records.intent import Effect, Restore
from healbot.records.ledger import RolledBack
from healbot.records.record import shown
from healbot.records.settings import AgentSettings
from healbot.records.trailers import Trailers
from healbot.rules.progress import Merge, Progress

LEAST_DIGITS = 6
"""How many digits of a revision a person must type at least."""


class Target(NamedTuple):
    """What a rollback goes back to: the files, and the merge that it undoes where it is one."""

    harness: Harness
    merge: Merge | None
    number: int | None


def find_target(
    progress: Progress, to: str, *, repo: Repo, agent: AgentSettings, tip: str
) -> Target:
    """Return what ``--to`` means: a pull request's number, a revision's digits, or the last merge.

    Raises:
        InputError: There is nothing to go back to, or the word fits nothing or several.
    """
    standing = [merge for merge in progress.merges if merge.rolled_back is None]
    digits = to.removeprefix("#")
    if not to or (digits.isascii() and digits.isdecimal() and len(digits) < LEAST_DIGITS):
        number = int(digits) if to else None
        fits = [one for one in standing if number in (None, one.applied.number)]
        if not fits:
            what = f"Pull request {number} is" if number else "There is"
            raise InputError(
                f"{what} no merge of healbot's that still stands.", "See healbot history."
            )
        merge = fits[-1]
        before = harness_at(repo, merge.applied.base_before_sha, agent, open_skills=False)
        return Target(before, merge, merge.applied.number)
    saved = saved_revisions(repo, agent, tip)
    fits_too = [revision for revision in saved if revision.startswith(to)]
    if len(fits_too) != 1 or len(to) < LEAST_DIGITS:
        raise InputError(
            f"{to!r} names {len(fits_too)} saved revisions.",
            f"Give a pull request's number, or {LEAST_DIGITS} digits or more of one revision "
            "from healbot history.",
        )
    harness = saved[fits_too[0]]
    undone = [one for one in standing if one.applied.before == harness.revision]
    last = undone[-1] if undone else None
    return Target(harness, last, last.applied.number if last else None)


def saved_revisions(repo: Repo, agent: AgentSettings, tip: str) -> Mapping[str, Harness]:
    """Return every revision of a harness that the branch's history holds, newest first."""
    found: dict[str, Harness] = {}
    folder = agent.dir.strip("/") or "."
    for commit in repo.log(tip, [] if folder == "." else [folder]):
        try:
            harness = harness_at(repo, commit.sha, agent, open_skills=False)
        except InputError:
            continue
        found.setdefault(harness.revision, harness)
    return found


class Reason(NamedTuple):
    """Why, by whom and when a rollback is made, and the ledger's head then."""

    why: str
    by: str
    at: datetime
    ledger: str


def answers(body: object, to: str) -> bool:
    """Whether an entry is the rollback that ``--to`` asks for."""
    if not isinstance(body, RolledBack):
        return False
    digits = to.removeprefix("#")
    by_revision = len(to) >= LEAST_DIGITS and body.after.startswith(to)
    return not to or digits == str(body.number) or by_revision


def restore_intent(
    target: Target, now: Harness, *, agent: AgentSettings, base_ref: str, tip: str, reason: Reason
) -> Restore:
    """Return the Intent that puts the saved files back.

    Raises:
        InputError: The harness is that revision already.
    """
    if target.harness.revision == now.revision:
        raise InputError(
            f"The harness is at revision {shown(now.revision)} already.",
            "There is nothing to roll back.",
        )
    files: dict[str, bytes | None] = {
        repo_path(agent, file.path): None
        for file in now.files
        if target.harness.get(file.path) is None
    }
    files |= {repo_path(agent, file.path): file.content for file in target.harness.files}
    return Restore(
        key=f"restore:{agent.name}:{tip}:{target.harness.revision}",
        base_ref=base_ref,
        expect=tip,
        reverts_sha=target.merge.applied.sha if target.merge else None,
        files=files,
        commit_message=_message(target, now, agent=agent, reason=reason),
        by=reason.by,
        at=reason.at,
    )


def rolled_back_body(
    target: Target, before: Harness, effect: Effect, *, reason: Reason
) -> RolledBack:
    """Return the entry of a rollback."""
    return RolledBack(
        number=target.number,
        by=reason.by,
        why=reason.why,
        before=before.revision,
        after=target.harness.revision,
        reverted_sha=target.merge.applied.sha if target.merge else "",
        sha=effect.sha,
        note=effect.note,
    )


def _message(target: Target, before: Harness, *, agent: AgentSettings, reason: Reason) -> str:
    merged = target.merge.applied.sha if target.merge else ""
    what = (
        f"pull request {target.number}" if target.number else f"to {shown(target.harness.revision)}"
    )
    title = f"revert({agent.name}): {what}"
    body = f"This reverts commit {merged}.\n\n" if merged else ""
    trailers = Trailers(
        agent=agent.name,
        revision=target.harness.revision,
        baseline=before.revision,
        ledger=reason.ledger,
        reverts=merged or before.revision,
    )
    return f"{title}\n\n{reason.why}\n\n{body}{trailers.render()}\n"
