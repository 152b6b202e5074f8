"""The state branch: small text files under compare-and-swap, on one branch, never rewritten.

Knows paths and commits, through the repository ports; what the files mean is others' business. Two
kinds of refs move in the same swap, so that a branch that was set back or deleted is found: one at
its newest commit, and one for each agent at the newest commit that made its ledger grow.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from healbot.errors import ChainError
from healbot.ports import Repo, RepoWriter, State, Swap
from healbot.rules.chain import SET_BACK

STATE_REF = "refs/heads/healbot/state"
TIP_REF = "refs/healbot/tip"
ANCHOR_PREFIX = "refs/healbot/anchor/"
README_PATH = "README.md"
README = b"""# healbot's state

healbot keeps here what it must remember: one hash-chained ledger per agent, what each case has
earned, and the queue of the embedded forge. It is plain text, and nothing on it is ever rewritten,
except by `healbot forget`, which leaves a record of itself. `healbot audit --verify` checks it.
Please leave it to healbot: it refuses to go on where a line or the branch is missing.
"""


def _quiet(message: str) -> str:
    """Mark a message so that no workflow of the user's starts; trailers below stay trailers."""
    title, *rest = message.split("\n", 1)
    return "\n".join([f"{title} [skip ci]", *rest])


class StateBranch:
    """``Store`` on the branch ``healbot/state``."""

    def __init__(self, repo: Repo, writer: RepoWriter) -> None:
        self._repo = repo
        self._writer = writer

    def load(self) -> State:
        """Return the newest state, the remote's where there is one."""
        self._writer.fetch()
        sha = self._repo.resolve(STATE_REF)
        return State(sha, self._repo.tree(sha) if sha else {})

    def read(self, state: State, path: str) -> bytes | None:
        """Return a file of a state, or None."""
        file = state.files.get(path)
        return self._repo.blob(file.blob) if file else None

    def save(
        self,
        state: State,
        changes: Mapping[str, bytes | None],
        *,
        message: str,
        at: datetime,
        also: Sequence[Swap] = (),
        anchor: str = "",
    ) -> State:
        """Commit changes onto a state and publish it with other refs; see ``ports.Store``."""
        tip = self._repo.resolve(TIP_REF)
        if self._repo.resolve(STATE_REF) == state.sha:  # else somebody moved it: the swap says so
            require_forward(self._repo, state.sha, tip)
        whole = dict(changes) if state.sha else {README_PATH: README, **changes}
        parents = (state.sha,) if state.sha else ()
        sha = self._writer.commit(
            whole, base=state.sha, parents=parents, message=_quiet(message), at=at
        )
        swaps = [Swap(STATE_REF, state.sha, sha), Swap(TIP_REF, tip, sha), *also]
        if anchor:
            ref = ANCHOR_PREFIX + anchor
            swaps.append(Swap(ref, self._repo.resolve(ref), sha))
        self._writer.swap(swaps)
        return State(sha, self._repo.tree(sha))


def set_back(repo: Repo, sha: str | None, tip: str | None) -> str:
    """Say what the state branch held and holds no more, or nothing.

    Args:
        repo: The repository.
        sha: Where the branch stands, or None.
        tip: Where it last stood; None: in a repository of before that was kept.
    """
    if tip is None or tip == sha:
        return ""
    if sha is None:
        return f"the branch healbot/state is gone; it stood at {tip[:12]}"
    if repo.merge_base(tip, sha) == tip:
        return ""
    return (
        f"the branch healbot/state was set back or replaced: it held {tip[:12]}, and does not now"
    )


def require_forward(repo: Repo, sha: str | None, tip: str | None) -> None:
    """Raise where the state branch was set back."""
    said = set_back(repo, sha, tip)
    if said:
        raise ChainError(f"The ledger's chain is broken: {said}.", SET_BACK)
