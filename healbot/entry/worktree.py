"""The work tree that a person stands in: where it is, and what is special about it.

Knows files and refs; needs no settings, so it works before a set-up and after a removal.
"""

from pathlib import Path
from typing import NamedTuple

from healbot.errors import InputError
from healbot.forges.git import GitRepo

SHOWN_CHANGES = 3
"""How many changed files are named before the rest is counted."""


class Worktree(NamedTuple):
    """One checked-out work tree.

    Attributes:
        private: healbot's own folder, shared by all work trees of the clone.
        unborn: The branch has no commit yet.
        notes: A sentence for each thing that is out of the ordinary.
    """

    repo: GitRepo
    root: Path
    private: Path
    branch: str | None
    unborn: bool
    shallow: bool
    notes: tuple[str, ...]


def worktree_of(folder: Path) -> Worktree:
    """Look at the work tree that holds a folder.

    Raises:
        InputError: There is no repository, or a bare one.
    """
    repo = GitRepo(folder)
    git = repo.private.parent
    if repo.folder.resolve() == git.resolve():
        raise InputError(
            f"{folder} is a bare repository: it has no files to look at.",
            "Run this in a clone of it.",
        )
    root = repo.folder.resolve()
    branch, unborn = repo.current_branch(), repo.resolve("HEAD") is None
    shallow = (git / "shallow").exists()
    notes = _notes(repo, root, unborn=unborn, shallow=shallow)
    return Worktree(repo, root, repo.private, branch, unborn, shallow, notes)


def _notes(repo: GitRepo, root: Path, *, unborn: bool, shallow: bool) -> tuple[str, ...]:
    notes = []
    if unborn:
        notes.append("The branch has no commit yet: healbot reads commits, so commit first.")
    elif repo.current_branch() is None:
        notes.append("HEAD is detached: check a branch out, or name one in forge.base.")
    if (root / ".git").is_file():
        pointer = (root / ".git").read_text(encoding="utf-8", errors="replace")
        if "/modules/" in pointer:
            notes.append("This is a submodule: it is healed by itself, apart from what holds it.")
        else:
            notes.append("This is a linked worktree: its state is shared with the other ones.")
    if shallow:
        notes.append("The clone is shallow: git fetch --unshallow brings the history back.")
    changed = [] if unborn else list(repo.changed())
    if changed:
        named = ", ".join(changed[:SHOWN_CHANGES])
        rest = len(changed) - SHOWN_CHANGES
        more = f" and {rest} more" if rest > 0 else ""
        notes.append(
            f"There are uncommitted changes ({named}{more}): commit what a cycle is to see; "
            "the rest is left alone."
        )
    return tuple(notes)
