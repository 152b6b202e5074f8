"""What interrupted work can leave behind in a clone, and how each of it is swept.

Knows where workspaces, homes, leases and mirrored refs lie; touches nothing that somebody alive
may still use.
"""

import fcntl
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

from healbot.entry.outside import workspaces_of
from healbot.forges.checkout import PENDING
from healbot.forges.git import MIRROR, GitRepo
from healbot.ports import Clock, Swap
from healbot.runners import folders
from healbot.runners.scratch import ALIVE, GUARD, locked
from healbot.runners.workspace import RUNS
from healbot.stores.permit import LEASE_PREFIX, RefPermit

HOME_AGE = timedelta(days=1)
"""A home without a lock is left over once it is as old as this."""


class Mend(NamedTuple):
    """One thing to put in order: what it is, and how."""

    text: str
    do: Callable[[], object]


def leftovers(repo: GitRepo, clock: Clock, *, shared: bool) -> Iterator[Mend]:
    """Yield what interrupted work left; ``shared``: the state lives on a remote."""
    yield from _leases(repo, clock)
    if not shared:
        yield from _refs(repo, MIRROR, "what a remote held")
        yield from _refs(repo, PENDING, "notes on commits to be pushed")
    yield from _workspaces(workspaces_of(repo.private))
    yield from _homes(repo.private / "homes", clock)


def in_use(place: Path) -> bool:
    """Say whether a process that lives holds the lock of a folder of workspaces."""
    alive = place / ALIVE
    if not alive.exists():
        return False
    try:
        with locked(alive, fcntl.LOCK_EX | fcntl.LOCK_NB):
            return False
    except OSError:
        return True


def _leases(repo: GitRepo, clock: Clock) -> Iterator[Mend]:
    permit = RefPermit(repo, repo, clock, minutes=1)
    for ref, sha in repo.refs(LEASE_PREFIX).items():
        agent = ref.removeprefix(LEASE_PREFIX)
        if permit.holder(agent) is None:
            swap = Swap(ref, sha, None)
            yield Mend(f"the lease of {agent!r}, whose holder is gone", partial(repo.swap, [swap]))


def _refs(repo: GitRepo, prefix: str, what: str) -> Iterator[Mend]:
    gone = [Swap(ref, sha, None) for ref, sha in repo.refs(prefix).items()]
    if gone:
        yield Mend(f"{what}, though forge.remote is not set ({len(gone)} refs)",
                   partial(repo.swap, gone))  # fmt: skip


def workspaces_in(outside: Path) -> list[Path]:
    """Return the folders in which processes of one clone keep their workspaces."""
    found = [*outside.glob(f"*/*/{RUNS}/*"), *outside.glob(f"*/{RUNS}/*")]
    return sorted(one for one in found if one.is_dir() and not one.is_symlink())


def _workspaces(outside: Path) -> Iterator[Mend]:
    for place in workspaces_in(outside):
        if not in_use(place):
            yield Mend("a workspace whose process is gone", partial(_sweep, place))


def _sweep(place: Path) -> None:
    """Remove a folder of workspaces; nobody makes one while the lock above it is held."""
    with locked(place.parent / GUARD, fcntl.LOCK_EX):
        if not in_use(place):
            folders.remove(place)


def _homes(place: Path, clock: Clock) -> Iterator[Mend]:
    oldest = (clock.now() - HOME_AGE).timestamp()
    for home in sorted(place.glob("*")):
        if home.is_dir() and not home.is_symlink() and home.stat().st_mtime < oldest:
            yield Mend("a home of an agent's run", partial(folders.remove, home))
