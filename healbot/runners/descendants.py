"""Finding and ending what a program left behind, beyond its process group.

Knows Linux's ``/proc``; elsewhere only the group itself can be ended. A descendant is known by its
group, its session, its chain of parents, or a marker in the environment that it was born with. One
that forks twice, leaves the session and wipes its environment escapes; only a sandbox stops that.
"""

import os
import signal
import time
from typing import NamedTuple

PROC = "/proc"
ROUNDS = 40
"""How often survivors are looked for before we give up on a program that forks without end."""
PAUSE_SECONDS = 0.005
SHORT_SECONDS = 10.0
"""In a run shorter than this, process numbers can't have gone once around unless they say so."""


class _Stat(NamedTuple):
    parent: int
    group: int
    session: int
    started: int


Found = dict[int, int]
"""Processes by number, with the instant at which each started: a number alone may be reused."""


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - many small ones, in the hot path
        return file.read()


def _stat(pid: int) -> _Stat | None:
    """Read one process's kin; None where it is gone or only waits to be reaped."""
    try:
        text = _content(f"{PROC}/{pid}/stat")
    except OSError:
        return None
    fields = text[text.rfind(b")") + 2 :].split()
    if fields[0] in (b"Z", b"X"):
        return None
    return _Stat(int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def _marked(pid: int, mark: bytes) -> bool:
    try:
        return mark in _content(f"{PROC}/{pid}/environ").split(b"\0")
    except OSError:
        return False


def _candidates(leader: int, *, quick: bool) -> list[int]:
    try:
        pids = sorted(int(name) for name in os.listdir(PROC) if name.isdigit())  # noqa: PTH208 - names only, and many
        newest = int(_content(f"{PROC}/loadavg").split()[-1])
    except (OSError, ValueError):
        return []
    if quick and newest >= leader:
        return [pid for pid in pids if pid > leader]
    return [pid for pid in pids if pid not in (leader, os.getpid())]


def find(
    leader: int, mark: bytes, *, known: Found | None = None, quick: bool = True
) -> dict[int, int]:
    """Return living processes that descend from a leader, itself left out.

    By number, with the instant at which each started (in the system's ticks).

    Args:
        leader: The process that was started as the leader of its own session; not yet reaped.
        mark: ``NAME=value`` as bytes, in the leader's start environment and in no other's.
        known: Found earlier, while their parents still lived.
        quick: Look only at processes with a higher number (unless numbers went around).
    """
    stats = {pid: _stat(pid) for pid in _candidates(leader, quick=quick)}
    alive = {pid: stat for pid, stat in stats.items() if stat is not None}
    found = {
        pid
        for pid, stat in alive.items()
        if leader in (stat.group, stat.session, stat.parent)
        or (known or {}).get(pid) == stat.started
        or _marked(pid, mark)
    }
    while True:
        more = {pid for pid, stat in alive.items() if stat.parent in found} - found
        if not more:
            return {pid: alive[pid].started for pid in found}
        found |= more


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def signal_group(leader: int, number: signal.Signals) -> None:
    """Signal a whole group; a group that is gone is no error."""
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return


def end(leader: int, mark: bytes, *, known: Found | None = None, ran_seconds: float = 0.0) -> None:
    """Kill a leader's group and every descendant that can be found, until none is left.

    The leader must not have been reaped yet, so that its number can't be anybody else's.
    """
    for _ in range(ROUNDS):
        found = find(leader, mark, known=known, quick=ran_seconds < SHORT_SECONDS)
        signal_group(leader, signal.SIGKILL)
        for pid in found:
            _kill(pid)
        if not found:
            return
        time.sleep(PAUSE_SECONDS)
