"""``healbot check``: judges an edit that a person made on a branch, with the same gate.

Knows the wiring. The edit is what merging the branch would do to the harness; settings, cases and
code are the base branch's, so that no branch can judge itself.
"""

from pathlib import Path
from typing import NamedTuple

from healbot.cycle.propose import noted
from healbot.cycle.reading import harness_at, repo_path
from healbot.entry.loop import abandon, carry_on, open_cycle, settle
from healbot.entry.wiring import Shop
from healbot.errors import InputError, NotNowError
from healbot.forges.git import GitRepo
from healbot.ports import Voice
from healbot.records.card import Card
from healbot.records.edit import Edit, Hunk, Proposal
from healbot.records.harness import Harness, HarnessFile
from healbot.records.ledger import Probed, Proposed
from healbot.records.settings import AgentSettings, Mode
from healbot.rules.edits import hunks_between
from healbot.rules.guard import Guarded
from healbot.rules.progress import CycleState
from healbot.views.plain import cleaned

USUAL_BASES = ("main", "master")
"""Where no base is named, a branch is judged against the first of these that is there."""
LONGEST_TITLE = 120


class Asked(NamedTuple):
    """What a check is about.

    Attributes:
        ref: As it was given.
        head_sha: The commit that it names.
        merged_sha: What merging it into the base would give; it is on no branch.
        elsewhere: How many files outside the harness differ as well.
    """

    ref: str
    head_sha: str
    merged_sha: str
    before: Harness
    after: Harness
    elsewhere: int


def base_for(folder: Path, ref: str) -> str | None:
    """Return the branch that a ref is judged against where nobody named one.

    Whoever names another branch judges it against the one checked out; the branch checked out
    itself is judged against the remote's default branch, else main or master. None: as settings
    and checkout have it.
    """
    repo = GitRepo(folder)
    current = repo.current_branch()
    if ref not in ("HEAD", current):
        return None
    default = repo.resolve("refs/remotes/origin/HEAD")
    remotes = repo.refs("refs/remotes/origin/") if default else {}
    named = [
        name.rpartition("refs/remotes/origin/")[2]
        for name, sha in remotes.items()
        if sha == default and not name.endswith("/HEAD")
    ]
    for branch in (*named, *USUAL_BASES):
        if branch != current and repo.resolve(f"refs/heads/{branch}"):
            return branch
    return None


def ask(shop: Shop, agent: AgentSettings, ref: str) -> Asked:
    """Find what a ref would make of the harness.

    Raises:
        InputError: It names no commit, or can't be merged into the base branch.
    """
    head = _commit_of(shop, ref)
    tip = shop.base_sha
    if head == tip:
        raise InputError(
            f"{ref} is the tip of {shop.base_ref} itself, so there is nothing to judge.",
            "Name the branch with the edit, or the base with --base.",
        )
    forked = shop.repo.merge_base(tip, head)
    if forked is None:
        raise InputError(
            f"{ref} shares no history with {shop.base_ref}.", "Name a branch cut from it."
        )
    merged: str | None = head
    if forked != tip:
        merged = shop.repo.merge(tip, head, message=f"Check {ref}", at=shop.clock.now())
    if merged is None:
        raise InputError(
            f"{ref} can't be merged into {shop.base_ref} without a conflict.",
            f"Merge or rebase onto {shop.base_ref}, then run healbot check again.",
        )
    opened = shop.settings.limits.open_skills_with_files
    before = harness_at(shop.repo, tip, agent, open_skills=opened)
    after = harness_at(shop.repo, merged, agent, open_skills=opened)
    return Asked(
        ref, head, merged, before, after, _elsewhere(shop, agent, merged, sides=(before, after))
    )


def check(
    shop: Shop, agent: AgentSettings, asked: Asked, *, voice: Voice
) -> tuple[CycleState, Card | None]:
    """Judge a person's edit; resumes a check of the same edit that was cut off.

    Raises:
        NotNowError: A cycle is under way.
    """
    shop.require_going()
    before, after = asked.before, asked.after
    notes = shop.reasons_against(before, after)
    proposal = Proposal(
        editor="person",
        edit=Edit(hunks=_hunks(before, after)),
        summary=_title(shop, asked),
        reason="A person's edit, judged as it stands.",
        baseline=before.revision,
        candidate=after.revision,
        born_of="person",
        needs_person=notes,
    )
    for note in notes:
        voice.note(f"a bot might not do this: {note}")
    if asked.elsewhere:
        voice.note(
            f"{asked.elsewhere} other files differ too and are not judged: runs use the code, "
            f"cases and settings of {shop.base_ref}"
        )
    with shop.book(agent) as book:
        settle(shop, book)
        current = book.progress.current
        if current and not current.opened.checked:
            raise NotNowError(
                f"The cycle {current.id} is not finished.", "Run healbot cycle, which resumes it."
            )
        if current and not _same(current, asked):
            abandon(shop, book, shop.forge, why="a check that was cut off")
            current = None
        if current is None:
            open_cycle(shop, agent, book, mode=Mode.OBSERVE, checked=asked.head_sha)
            given = noted(proposal, shop.journal, refused=None)
            cycle = book.progress.cycles[-1].id
            book.append(Proposed(proposals=(given,)), cycle=cycle)
            book.append(Probed(used=(), order=(given.proposal,)), cycle=cycle)
        return carry_on(
            shop, agent, book, forge=shop.forge, voice=voice, guard=lambda _: Guarded(after)
        )


def _same(state: CycleState, asked: Asked) -> bool:
    """Whether a check that was cut off is of this edit on this base, with its proposal kept."""
    notes = state.proposed.proposals if state.proposed and state.probed else ()
    same = (state.opened.checked, state.opened.baseline) == (asked.head_sha, asked.before.revision)
    return same and any(note.candidate == asked.after.revision for note in notes)


def _commit_of(shop: Shop, ref: str) -> str:
    named = ref.removeprefix("#")
    if named.isascii() and named.isdecimal() and len(named) < 7:  # noqa: PLR2004 - shortest sha
        pull = shop.forge.pull(int(named))
        if pull:
            return pull.head_sha
    tried = (ref, f"refs/heads/{ref}", f"refs/remotes/{ref}", f"refs/remotes/origin/{ref}")
    found = None if ref.startswith("-") else next(filter(None, map(shop.repo.resolve, tried)), None)
    commits = shop.repo.log(found, limit=1) if found else ()
    if not commits:
        raise InputError(f"{ref!r} names no commit here.", "Name a branch, a tag or a commit.")
    return commits[0].sha


def _title(shop: Shop, asked: Asked) -> str:
    (commit,) = shop.repo.log(asked.head_sha, limit=1)
    first = cleaned(commit.message.strip().split("\n", 1)[0]).strip() or "an edit"
    return first if len(first) <= LONGEST_TITLE else f"{first[: LONGEST_TITLE - 1]}…"


def _hunks(before: Harness, after: Harness) -> tuple[Hunk, ...]:
    hunks: list[Hunk] = []
    for path in sorted({file.path for file in (*before.files, *after.files)}):
        old, new = before.get(path), after.get(path)
        if old and new and old.content != new.content:
            hunks += _changed(old, new)
        elif new and not old:
            hunks.append(Hunk(path=path, op="append", text=new.text or "\n"))
        elif old and not new:
            hunks.append(Hunk(path=path, op="delete", anchor=old.text))
    return tuple(hunks)


def _changed(old: HarnessFile, new: HarnessFile) -> tuple[Hunk, ...]:
    if old.text and new.text:
        return hunks_between(old.path, old.text, new.text)
    if new.text:
        return (Hunk(path=old.path, op="append", text=new.text),)
    return (Hunk(path=old.path, op="delete", anchor=old.text),)


def _elsewhere(
    shop: Shop, agent: AgentSettings, merged: str, *, sides: tuple[Harness, Harness]
) -> int:
    ours = {repo_path(agent, file.path) for side in sides for file in side.files}
    was, now = shop.repo.tree(shop.base_sha), shop.repo.tree(merged)
    differ = {path for path in {*was, *now} if was.get(path) != now.get(path)}
    return len(differ - ours)
