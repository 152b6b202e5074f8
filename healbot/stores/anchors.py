"""Where heads of a ledger are recorded outside its files, so that a cut tail is found.

Knows the refs of the state branch, commits with trailers, and the hidden payloads of pull requests.
Whether a chain holds against them is a rule's business (``rules/chain.py``).
"""

import re
from collections.abc import Iterator, Sequence

from healbot.ports import Anchored, CommitInfo, ForgeReader, Repo, RepoWriter, Swap
from healbot.records.settings import SETTINGS_PATH
from healbot.records.trailers import Trailers
from healbot.stores.state import ANCHOR_PREFIX, STATE_REF, TIP_REF, set_back
from healbot.views.card import parse

PULLS = "refs/healbot/pulls/"
BASE_COMMITS = 5_000
STATE_COMMITS = 20_000
"""How many commits back trailers are looked for."""

_HEAD = re.compile(r"[0-9a-f]{64}")

Found = Iterator[tuple[str, str]]
"""Heads, each with where it is recorded, in words."""


class RefAnchors:
    """``Anchors`` of one repository.

    No single place is relied on: a squash drops trailers, a forge loses text, a ref can be deleted.
    """

    def __init__(
        self,
        repo: Repo,
        writer: RepoWriter,
        *,
        forge: ForgeReader,
        base_ref: str,
        shallow: bool = False,
    ) -> None:
        """Read anchors of a repository; ``base_ref`` is the short name of the branch under care."""
        self._shallow = shallow
        self._repo = repo
        self._writer = writer
        self._forge = forge
        self._base_ref = base_ref

    def read(self, agent: str) -> Anchored:
        """Return the heads that are recorded of an agent's ledger; see ``ports.Anchors``."""
        base = self._repo.resolve(f"refs/heads/{self._base_ref}") or ""
        tip = self._repo.resolve(TIP_REF)  # before the branch, which is moved before it
        state = self._repo.resolve(STATE_REF)
        commits = self._repo.log(base, limit=BASE_COMMITS) if base else ()
        kept = dict(self._of_state(agent, state, tip))
        kept |= dict(self._of_pulls(agent, [one.sha for one in commits]))
        said = dict(_trailers(agent, commits))
        heads = {**said, **kept}
        back = set_back(self._repo, state, tip)
        return Anchored(
            heads=heads,
            base_sha=base,
            here=bool(kept or back),
            set_back=back,
            elsewhere="" if state else self._elsewhere(),
            ended=bool(said) and self._ended(agent, base, commits),
            shallow=self._shallow,
            remote=self._remote(),
        )

    def accept(self) -> None:
        """Take the state branch as it stands now for the whole of it."""
        state, tip = self._repo.resolve(STATE_REF), self._repo.resolve(TIP_REF)
        if tip != state:
            self._writer.swap([Swap(TIP_REF, tip, state)])

    def _of_state(self, agent: str, state: str | None, tip: str | None) -> Found:
        ref = ANCHOR_PREFIX + agent
        for sha in dict.fromkeys((state, tip)):
            for commit in self._repo.log(sha, limit=STATE_COMMITS) if sha else ():
                yield from _grown(agent, commit, f"by {commit.sha[:12]} of the state branch")
        anchor = self._repo.resolve(ref)
        for commit in self._repo.log(anchor, limit=1) if anchor else ():
            yield from _grown(agent, commit, f"by {ref}")

    def _of_pulls(self, agent: str, merged: Sequence[str]) -> Found:
        known = set(merged)
        for sha in self._repo.refs(PULLS).values():
            if sha not in known:
                yield from _trailers(agent, self._repo.log(sha, limit=1))
        for pull in self._forge.pulls():
            card = parse(pull.body) if pull.agent == agent else None
            if card and _HEAD.fullmatch(card.ledger):
                yield card.ledger, f"on pull request {pull.number}"

    def _ended(self, agent: str, base: str, commits: Sequence[CommitInfo]) -> bool:
        """Whether the base branch once stood without settings, after all that healbot merged."""
        touching = self._repo.log(base, [SETTINGS_PATH], BASE_COMMITS, first_parent=True)
        without = (one.sha for one in touching if not self._settings_at(one.sha))
        removal = next(without, None)
        if removal is None:
            return False
        before = _ancestors(removal, commits) - {removal}
        return all(one.sha in before for one in commits if any(_trailers(agent, [one])))

    def _settings_at(self, sha: str) -> bool:
        return SETTINGS_PATH in self._repo.tree(sha, SETTINGS_PATH.rpartition("/")[0])

    def _remote(self) -> str:
        names = sorted(self._repo.refs("refs/remotes/"))
        return names[0].split("/")[2] if names else ""

    def _elsewhere(self) -> str:
        names = self._repo.refs("refs/remotes/")
        return next((name for name in names if name.endswith("/healbot/state")), "")


def _grown(agent: str, commit: CommitInfo, where: str) -> Found:
    """Return the head that a commit of the state branch says it made."""
    head = Trailers.parse(commit.message).ledger
    if _HEAD.fullmatch(head) and commit.message.startswith(f"{agent}: "):
        yield head, where


def _ancestors(sha: str, commits: Sequence[CommitInfo]) -> set[str]:
    """Return a commit and all that it was made on, as far as the listed commits tell."""
    parents = {one.sha: one.parents for one in commits}
    found: set[str] = set()
    todo = [sha]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += parents.get(one, ())
    return found


def _trailers(agent: str, commits: Sequence[CommitInfo]) -> Found:
    for commit in commits:
        said = Trailers.parse(commit.message)
        if said.agent == agent and _HEAD.fullmatch(said.ledger):
            yield said.ledger, f"by commit {commit.sha[:12]}"
