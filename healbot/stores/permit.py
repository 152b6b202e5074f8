"""Leases: one cycle per agent, by compare-and-swap on ``refs/healbot/lease/<agent>``.

Knows refs and time. A lease is a commit without files whose message says who holds it and until
when. It is taken over when it has expired, or when its holder ran on this machine and is dead.
"""

import json
import os
import platform
import secrets
from datetime import datetime, timedelta
from pathlib import Path

from healbot.errors import LeaseLostError, NotNowError, StaleError
from healbot.ports import Clock, Lease, Repo, RepoWriter, Swap

LEASE_PREFIX = "refs/healbot/lease/"
ATTEMPTS = 5


class RefPermit:
    """``Permit`` on refs."""

    def __init__(self, repo: Repo, writer: RepoWriter, clock: Clock, *, minutes: float) -> None:
        self._repo = repo
        self._writer = writer
        self._clock = clock
        self._span = timedelta(minutes=minutes)
        self._me = {
            "host": _machine(),
            "pid": os.getpid(),
            "born": _born(os.getpid()),
            "mark": secrets.token_hex(8),
        }

    def take(self, agent: str) -> Lease:
        """Take the agent's lease, or say who has it; see ``ports.Permit``."""
        for _ in range(ATTEMPTS):
            self._writer.fetch()
            ref = LEASE_PREFIX + agent
            before = self._repo.resolve(ref)  # read once: what is judged is what is replaced
            held = self._alive(ref, before)
            if held:
                raise NotNowError(
                    f"Another cycle of {agent!r} is under way ({held.holder}), at the latest until "
                    f"{held.until:%Y-%m-%d %H:%M} UTC.",
                    "Wait for it, or look at healbot status.",
                )
            lease = self._make(ref)
            try:
                self._writer.swap([Swap(ref, before, lease.sha)])
            except StaleError:
                continue
            return lease
        raise NotNowError(f"The lease of {agent!r} keeps moving.", "Try again in a minute.")

    def renewal(self, lease: Lease) -> tuple[Lease, Swap]:
        """Return the lease with a new expiry, and the swap that would put it in force.

        Raises:
            LeaseLostError: Somebody else holds it by now.
        """
        if self._repo.resolve(lease.ref) != lease.sha:
            raise LeaseLostError(
                "Somebody else took the lease over.",
                "Nothing more was changed; see healbot status.",
            )
        renewed = self._make(lease.ref)
        return renewed, Swap(lease.ref, lease.sha, renewed.sha)

    def renew(self, lease: Lease) -> Lease:
        """Put a new expiry in force by itself; see ``ports.Permit``."""
        renewed, swap = self.renewal(lease)
        try:
            self._writer.swap([swap])
        except StaleError as error:
            raise LeaseLostError(
                "Somebody else took the lease over.", "Nothing more was changed."
            ) from error
        return renewed

    def release(self, lease: Lease) -> None:
        """Give it back; somebody else's lease is left alone."""
        try:
            self._writer.swap([Swap(lease.ref, lease.sha, None)])
        except StaleError:
            return

    def holder(self, agent: str) -> Lease | None:
        """Return who holds an agent's lease now, or None where nobody alive does."""
        ref = LEASE_PREFIX + agent
        return self._alive(ref, self._repo.resolve(ref))

    def _alive(self, ref: str, sha: str | None) -> Lease | None:
        """Return the lease that a commit says, or None where nobody alive holds it any more."""
        if not sha:
            return None
        try:
            said = json.loads(self._repo.log(sha, limit=1)[0].message)
            until = datetime.fromisoformat(said["until"])
            gone = until <= self._clock.now() or self._dead(said)
            return None if gone else Lease(ref, sha, _named(said), until)
        except (ValueError, TypeError, KeyError):
            return None  # no lease of ours stands there, so nobody holds one

    def _make(self, ref: str) -> Lease:
        now = self._clock.now()
        until = now + self._span
        said = {**self._me, "until": until.isoformat(), "nonce": secrets.token_hex(8)}
        sha = self._writer.commit(
            {}, base=None, parents=(), message=json.dumps(said, sort_keys=True), at=now
        )
        return Lease(ref, sha, f"process {self._me['pid']}", until)

    def _dead(self, said: dict[str, object]) -> bool:
        if said.get("host") != self._me["host"]:
            return False
        pid = said.get("pid")
        return not isinstance(pid, int) or _born(pid) != said.get("born")


def _named(said: dict[str, str]) -> str:
    return f"process {said['pid']} on {said['host'][:8]}"


def _machine() -> str:
    """Names this machine since its last start, so that process numbers mean something.

    Containers share a machine and count processes apart, so where they count is part of the name.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return platform.node()


def _born(pid: int) -> str:
    """When a process started, in the system's own count; empty where it is gone or unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return ""
        return _alive_word(pid)
    except OSError:
        return ""
    state, *fields = stat.rsplit(")", 1)[-1].split()
    return "" if state == "Z" else fields[18]


def _alive_word(pid: int) -> str:
    try:
        os.kill(pid, 0)
    except OSError:
        return ""
    return "alive"
