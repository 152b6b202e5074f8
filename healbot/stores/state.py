"""The state branch: small text files under compare-and-swap, on one branch, never rewritten.

Knows paths and commits, through the repository ports; what the files mean is others' business.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from healbot.ports import Repo, RepoWriter, State, Swap

STATE_REF = "refs/heads/healbot/state"
README_PATH = "README.md"
README = b"""# healbot's state

healbot keeps here what it must remember: one hash-chained ledger per agent, what each case has
earned, and the queue of the embedded forge. It is plain text, it holds digests and verdicts, and
nothing on it is ever rewritten. `healbot audit --verify` checks it; `healbot status` reads it.
Please leave it to healbot; deleting the branch forgets everything and harms nothing else.
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
    ) -> State:
        """Commit changes onto a state and publish it with other refs; see ``ports.Store``."""
        whole = dict(changes) if state.sha else {README_PATH: README, **changes}
        parents = (state.sha,) if state.sha else ()
        sha = self._writer.commit(
            whole, base=state.sha, parents=parents, message=_quiet(message), at=at
        )
        self._writer.swap([Swap(STATE_REF, state.sha, sha), *also])
        return State(sha, self._repo.tree(sha))
