"""Opening a repository for work: which branch is under care, and its settings there.

Knows git and the settings file; what is done with the repository is the shop's.
"""

from collections.abc import Mapping
from pathlib import Path

from healbot.cycle.reading import settings_at
from healbot.entry.clock import SystemClock
from healbot.entry.wiring import Shop
from healbot.errors import InputError
from healbot.forges.git import GitRepo
from healbot.ports import Clock


def open_shop(
    folder: Path,
    environment: Mapping[str, str],
    clock: Clock | None = None,
    *,
    base: str | None = None,
) -> Shop:
    """Open the repository that holds a folder, at the tip of the branch under care.

    ``base`` names that branch, instead of settings and checkout.

    Raises:
        InputError: There is no repository, no commit, no branch or no usable settings file.
    """
    repo = GitRepo(folder)
    branch = repo.current_branch()
    first = base or branch
    sha = _tip(repo, first) if first else repo.resolve("HEAD") or ""
    settings = settings_at(repo, sha)
    if first is None and settings.forge.base is None:
        raise InputError(
            "HEAD is detached, so there is no branch under care.",
            "Check a branch out (git switch main), or name one in forge.base.",
        )
    if settings.forge.remote:
        repo = GitRepo(folder, remote=settings.forge.remote, environment=environment)
        repo.fetch()
    under_care = base or settings.forge.base or branch or ""
    if under_care != first or settings.forge.remote:
        sha = _tip(repo, under_care)
        settings = settings_at(repo, sha)
    return Shop(repo, settings, under_care, sha, environment, clock or SystemClock())


def _tip(repo: GitRepo, branch: str) -> str:
    sha = repo.resolve(f"refs/heads/{branch}")
    if sha is None:
        raise InputError(
            f"The branch {branch!r} has no commit yet.", "Make a first commit, then run this again."
        )
    return sha
