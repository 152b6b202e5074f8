"""One agent's ledger, read and appended to, under the agent's lease.

Knows the store and the lease, not what entries mean. An entry, the published form of the runs that
it used and the lease's renewal move in one swap: whoever lost the lease can append nothing.
"""

from collections.abc import Mapping

from healbot.cycle.published import lines_beside
from healbot.errors import LeaseLostError, NotNowError, StaleError
from healbot.ports import Clock, Lease, Permit, State, Store
from healbot.records.ledger import Body, Entry, Spend
from healbot.rules.chain import Chain, audit_path, extend, read_chain, require_whole
from healbot.rules.progress import Progress, replay

ATTEMPTS = 8


def read_ledger(store: Store, state: State, agent: str) -> Chain:
    """Read an agent's chain out of a state, whole or broken."""
    prefix = f"agents/{agent}/audit/"
    paths = [path for path in state.files if path.startswith(prefix)]
    return read_chain({path: store.read(state, path) or b"" for path in paths})


class Book:
    """An agent's ledger, open for appending while its lease is held."""

    def __init__(self, agent: str, store: Store, *, permit: Permit, clock: Clock) -> None:
        self.agent = agent
        self._store = store
        self._permit = permit
        self._clock = clock
        self._lease: Lease | None = None
        self._taken_at = clock.now()
        self._chain = Chain()
        self._progress = Progress()

    def __enter__(self) -> "Book":
        lease = self._permit.take(self.agent)
        self._hold(lease)
        try:
            self._read(self._store.load())
        except BaseException:
            self._permit.release(lease)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._lease:
            self._permit.release(self._lease)
            self._lease = None

    @property
    def progress(self) -> Progress:
        """What the ledger adds up to now."""
        return self._progress

    @property
    def head(self) -> str:
        """The digest of the last entry; ``GENESIS`` where there is none."""
        return self._chain.head

    def has(self, head: str) -> bool:
        """Whether a digest was this chain's head at some time."""
        return head == self.head or any(entry.previous == head for entry in self._chain.entries)

    def keep(self) -> None:
        """Renew the lease once a third of its time is gone; called during long work.

        Raises:
            LeaseLostError: Somebody else holds it by now.
        """
        lease = self._held()
        span = lease.until - self._taken_at
        if self._clock.now() > lease.until - span * 2 / 3:
            self._hold(self._permit.renew(lease))

    def append(
        self,
        body: Body,
        *,
        cycle: str | None,
        spent: Spend | None = None,
        beside: Mapping[str, bytes] | None = None,
    ) -> Progress:
        """Append one entry; ``beside`` are lines for other state files, joined to their end.

        Raises:
            LeaseLostError: The lease or the chain is somebody else's by now; nothing was written.
        """
        for _ in range(ATTEMPTS):
            state = self._store.load()
            self._read(state, expect=self._chain.head)
            entry = extend(
                self._chain,
                body,
                agent=self.agent,
                cycle=cycle,
                at=self._clock.now(),
                spent=spent or Spend(),
            )
            renewed, swap = self._permit.renewal(self._held())
            published = lines_beside(self.agent, entry, self._progress)
            changes = self._changes(state, entry, {**published, **(beside or {})})
            message = f"{self.agent}: {body.kind}\n\nHealbot-Ledger: {entry.digest}"
            try:
                state = self._store.save(state, changes, message=message, at=entry.at, also=[swap])
            except StaleError:
                continue
            self._hold(renewed)
            self._chain = Chain(entries=(*self._chain.entries, entry), head=entry.digest)
            self._progress = replay(self._chain.entries)
            return self._progress
        raise NotNowError("The state branch keeps moving.", "Run the command again in a minute.")

    def _read(self, state: State, expect: str | None = None) -> None:
        chain = read_ledger(self._store, state, self.agent)
        require_whole(chain)
        if expect is not None and chain.head != expect:
            raise _lost()
        self._chain = chain
        self._progress = replay(chain.entries)

    def _changes(
        self, state: State, entry: Entry, beside: Mapping[str, bytes]
    ) -> dict[str, bytes | None]:
        lines = {audit_path(self.agent, entry.at): (entry.render() + "\n").encode(), **beside}
        return {path: (self._store.read(state, path) or b"") + new for path, new in lines.items()}

    def _hold(self, lease: Lease) -> None:
        self._lease, self._taken_at = lease, self._clock.now()

    def _held(self) -> Lease:
        if self._lease is None:
            raise _lost()
        return self._lease


def _lost() -> LeaseLostError:
    return LeaseLostError(
        "Somebody else took this agent's lease over.",
        "Nothing more was changed here; healbot status says who holds it.",
    )
