"""The store and the lease of a dry run: what would be written stays in memory.

Knows the real store to read from; writes nothing anywhere.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from healbot.ports import Clock, Lease, State, Store, Swap, TreeFile

IN_MEMORY = TreeFile("100644", "in-memory")


class DryStore:
    """``Store`` that keeps changes in memory, over a real one."""

    def __init__(self, real: Store) -> None:
        self._real = real
        self._changes: dict[str, bytes | None] = {}

    def load(self) -> State:
        """Return the real state with this run's changes laid over it."""
        state = self._real.load()
        files = dict(state.files)
        for path, content in self._changes.items():
            files.pop(path, None)
            if content is not None:
                files[path] = IN_MEMORY
        return State(state.sha, files)

    def read(self, state: State, path: str) -> bytes | None:
        """Return a file, this run's where it wrote one."""
        if path in self._changes:
            return self._changes[path]
        return self._real.read(state, path)

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
        """Keep changes in memory."""
        del state, message, at, also, anchor
        self._changes |= changes
        return self.load()


class DryPermit:
    """``Permit`` that always says yes and takes nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def take(self, agent: str) -> Lease:
        """Give a lease that is no one's business."""
        return Lease(f"dry/{agent}", "", "this dry run", self._clock.now() + timedelta(days=1))

    def renewal(self, lease: Lease) -> tuple[Lease, Swap]:
        """Return the lease as it is."""
        return lease, Swap(lease.ref, None, None)

    def renew(self, lease: Lease) -> Lease:
        """Return the lease as it is."""
        return lease

    def release(self, lease: Lease) -> None:
        """Do nothing."""

    def holder(self, agent: str) -> Lease | None:
        """Nobody."""
        del agent
        return None
