"""What a person undid with git alone, and brought back: told by what the branch holds.

Knows merges in the ledger and commits of the base branch. A message is only a hint of who and when:
a revert is one where the harness is what it was before, or the merge's lines are gone, and a quoted
"This reverts commit" is none.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from healbot.cycle.reading import harness_at
from healbot.errors import HealbotError
from healbot.ports import CommitInfo, Repo
from healbot.records.harness import Harness
from healbot.records.ledger import Body, RolledBack, TakenBack
from healbot.records.settings import AgentSettings
from healbot.records.trailers import Trailers
from healbot.rules.differences import changed_lines
from healbot.rules.progress import Merge, Progress

LOOK_BACK = 500
"""How many commits back a revert is looked for."""
SAYS = "\nThis reverts commit "
"""A line of its own, as git and every forge write it."""


class Branch(NamedTuple):
    """The base branch as one agent's harness sees it."""

    repo: Repo
    agent: AgentSettings
    tip: str
    commits: Sequence[CommitInfo]

    def harness(self, sha: str) -> Harness | None:
        """Return the harness at a commit; None where there is none to read."""
        try:
            return harness_at(self.repo, sha, self.agent, open_skills=False)
        except HealbotError:
            return None

    def revision(self, sha: str) -> str:
        """Return its digest, or nothing."""
        found = self.harness(sha)
        return found.revision if found else ""

    def after(self, sha: str) -> list[CommitInfo]:
        """Return the commits of the branch that stand on a commit, oldest first."""
        above = {sha}
        found: list[CommitInfo] = []
        for commit in reversed(self.commits):
            if above & set(commit.parents):
                above.add(commit.sha)
                found.append(commit)
        return found

    def reverter(
        self, named: str, revision: str, *, passed_over: set[str], merge: Merge | None = None
    ) -> CommitInfo | None:
        """Return who undid a commit: the commit that says so, else that put a revision back.

        Whoever put back what was there before a ``merge`` undid it only if its lines still stood.
        """
        later = [one for one in self.after(named) if one.sha not in passed_over]
        said = [one for one in later if self.says(one, named)]
        return next(iter(said), None) or next(
            (
                one
                for one in later
                if self._put_back(one, revision)
                and not (merge and self._replace(tip=one.parents[0]).lacks(merge))
            ),
            None,
        )

    def says(self, commit: CommitInfo, named: str) -> bool:
        """Whether a message says that it reverts a commit, or what that commit merged."""
        merged = next((one.parents[1:] for one in self.commits if one.sha == named), ())
        text = commit.message.replace("\r\n", "\n")
        return any(SAYS + sha in text for sha in (named, *merged))

    def _put_back(self, commit: CommitInfo, revision: str) -> bool:
        folder = "" if self.agent.dir in (".", "./") else self.agent.dir.strip("/")
        now, was = (self.repo.tree(sha, folder) for sha in (commit.sha, commit.parents[0]))
        return now != was and self.revision(commit.sha) == revision

    def lacks(self, merge: Merge) -> bool:
        """Whether the branch holds none of the lines that a merge added, or has back what it took.

        Where the merge's own commits can't be read, nothing is claimed.
        """
        lines = self._lines(merge)
        return lines is not None and not lines[0] and (bool(lines[1]) or lines[2])

    def has(self, merge: Merge) -> bool:
        """Whether the branch holds every line that a merge added, and none that it took."""
        lines = self._lines(merge)
        return lines is not None and not lines[1] and not lines[2]

    def _lines(self, merge: Merge) -> tuple[set[str], set[str], bool] | None:
        """Return the added lines that are there, those that are not, and whether removed are."""
        sides = [merge.applied.base_before_sha, merge.applied.sha, self.tip]
        if any(self.repo.resolve(sha) is None for sha in sides):
            return None
        before, after, now = (self.harness(sha) for sha in sides)
        if not (before and after and now):
            return None
        here: set[str] = set()
        gone: set[str] = set()
        back: list[bool] = []
        for file in after.files:
            was, kept = before.get(file.path), now.get(file.path)
            change = changed_lines(was.content if was else b"", file.content)
            text = kept.text.splitlines() if kept else []
            added = {line for line in change.added if line.strip()}
            here |= added & set(text)
            gone |= added - set(text)
            back += [line in text for line in change.removed if line.strip()]
        return here, gone, bool(back) and all(back)


def undone(progress: Progress, branch: Branch, *, passed_over: set[str]) -> Iterator[Body]:
    """Yield what the ledger does not know yet, oldest first.

    Args:
        progress: What the ledger adds up to.
        branch: Read at its tip.
        passed_over: Commits that hold or merge a proposal, those noticed just now included.
    """
    known = passed_over | {body.sha for _, body in progress.rollbacks}
    known |= {body.sha for body in progress.taken_back}
    reached = {commit.sha for commit in branch.commits}
    standing = [one for one in progress.merges if not one.rolled_back]
    found = [_rolled_back(one, branch, known) for one in standing if one.applied.sha in reached]
    yield from (body for body in reversed(found) if body)
    told: set[str] = set()
    for merge in progress.merges:
        back = merge.rolled_back
        if back and back.sha in reached - told and branch.has(merge):
            again = _taken_back(merge, back, branch, passed_over=known)
            if again:
                told.add(back.sha)
                yield again


def _rolled_back(merge: Merge, branch: Branch, passed_over: set[str]) -> RolledBack | None:
    applied = merge.applied
    exact = branch.revision(branch.tip) == applied.before
    if not exact and not branch.lacks(merge):
        return None
    commit = branch.reverter(applied.sha, applied.before, passed_over=passed_over, merge=merge)
    if commit is None:
        return None
    says = branch.says(commit, applied.sha)
    trailers = Trailers.parse(commit.message)
    said = commit.message.split("\n\n")[1].strip() if trailers.reverts else ""
    return RolledBack(
        number=applied.number,
        by=commit.author,
        why=said or f"reverted by {commit.sha[:12]}",
        before=applied.after if says and not exact else branch.revision(commit.parents[0]),
        after=applied.before if exact or says else branch.revision(commit.sha),
        reverted_sha=applied.sha,
        sha=commit.sha,
        made_at=commit.at,
    )


def _taken_back(
    merge: Merge, back: RolledBack, branch: Branch, *, passed_over: set[str]
) -> TakenBack | None:
    commit = branch.reverter(back.sha, merge.applied.after, passed_over=passed_over)
    if commit is None:
        return None
    return TakenBack(
        number=merge.applied.number,
        by=commit.author,
        after=branch.revision(branch.tip),
        sha=commit.sha,
        reverted_sha=back.sha,
        made_at=commit.at,
    )
