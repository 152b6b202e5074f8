"""Checked-out branches: work trees that move with a ref, and local branches that follow a remote.

Knows git's words through whoever runs them; opens no repository and decides no swap.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from healbot.errors import InTheWayError
from healbot.ports import Swap

HEADS = "refs/heads/"
PENDING = "refs/healbot/pending/"
"""Where a commit is noted that is about to be pushed onto a branch which this clone has as well."""

SHOWN_CHARACTERS = 300
_NAMED = re.compile(r"(?:Entry|file) '(.+)' (?:not uptodate|would be)")

Run = Callable[..., tuple[int, bytes, str]]
"""Runs git (words, and ``where``); returns its exit code, its answer and its complaint."""


class Checkouts:
    """The local branches of one clone and their work trees."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def of(self, ref: str) -> Path | None:
        """Return the work tree in which a branch is checked out, or None."""
        return next((where for where, branch in self._listed() if branch == ref), None)

    def folders(self) -> tuple[Path, ...]:
        """Return every work tree of the repository, whatever is checked out in it."""
        return tuple(where for where, _ in self._listed())

    def _listed(self) -> Iterator[tuple[Path, str]]:
        """Yield each work tree with the branch that is checked out in it, or an empty word."""
        for entry in self._say("worktree", "list", "--porcelain", "-z").split("\0\0"):
            words = dict(line.partition(" ")[::2] for line in entry.split("\0") if line)
            if "worktree" in words and "bare" not in words:
                yield Path(words["worktree"]), words.get("branch", "")

    def move(self, where: Path, before: str, after: str) -> None:
        """Bring a work tree and its index from one commit to another; the ref is the caller's.

        Raises:
            InTheWayError: Uncommitted changes would be lost; nothing was changed.
        """
        # A file that was only touched or copied is no change: look at the bytes first.
        self._run("update-index", "-q", "--refresh", where=str(where))
        code, _, said = self._run("read-tree", "-m", "-u", before, after, where=str(where))
        if code:
            lines = [line.strip() for line in said.splitlines() if line.strip()]
            if "index.lock" in said:
                raise InTheWayError(
                    f"Another git works in {where}, or left an index.lock behind in it.",
                    "Wait for it, or remove the lock, then run the command again.",
                )
            named = _NAMED.search(said)
            what = named[1] if named else " ".join(lines[-1:])[:SHOWN_CHARACTERS]
            raise InTheWayError(
                f"Uncommitted changes in {where} are in the way: {what}.",
                "Commit, stash or move them, then run the command again; nothing was changed.",
            )

    def note(self, swaps: Sequence[Swap]) -> None:
        """Note ahead of a push which local branches are to follow it, so that no crash forgets."""
        for one in swaps:
            if one.ref.startswith(HEADS) and one.after and self._tip(one.ref):
                self._run("update-ref", PENDING + one.ref.removeprefix(HEADS), one.after)

    def catch_up(self, mirror: str) -> None:
        """Fast-forward the local branches that were noted, as far as the remote has them by now.

        A branch with commits of its own, or with uncommitted work in the way, is left alone.

        Args:
            mirror: The prefix under which the remote's branches are mirrored.
        """
        listed = self._say("for-each-ref", "--format=%(objectname) %(refname)", PENDING)
        for sha, ref in (line.split(" ", 1) for line in listed.splitlines()):
            branch = ref.removeprefix(PENDING)
            if not self._reaches(self._tip(mirror + branch), sha):
                continue
            with suppress(InTheWayError):
                self._forward(HEADS + branch, sha)
            self._run("update-ref", "-d", ref, sha)

    def _forward(self, ref: str, after: str) -> None:
        local = self._tip(ref)
        if not local or not self._reaches(after, local):
            return
        where = self.of(ref)
        if where:
            self.move(where, local, after)
        self._run("update-ref", ref, after, local)

    def _reaches(self, tip: str, sha: str) -> bool:
        return bool(tip) and self._run("merge-base", "--is-ancestor", sha, tip)[0] == 0

    def _tip(self, ref: str) -> str:
        return self._say("rev-parse", "--verify", "--quiet", ref).strip()

    def _say(self, *words: str) -> str:
        code, out, _ = self._run(*words)
        return out.decode("utf-8", "surrogateescape") if code == 0 else ""
