"""One agent's ledger, read and appended to, under the agent's lease.

Knows the store, the lease and what the ledger is held against, not what entries mean. An entry, the
published form of the runs that it used and the lease's renewal move in one swap: whoever lost the
lease can append nothing.
"""

from collections.abc import Mapping

from healbot.cycle.published import Widen, lines_beside, no_texts
from healbot.errors import ChainError, CouldNotTellError, LeaseLostError, NotNowError, StaleError
from healbot.ports import Anchored, Anchors, Clock, Lease, Permit, State, Store
from healbot.records.ledger import Body, Entry, Forgotten, Restarted, Spend, Switched
from healbot.rules.chain import (
    SET_BACK,
    Chain,
    audit_path,
    extend,
    read_chain,
    require_linked,
    require_whole,
)
from healbot.rules.progress import Progress, replay

ATTEMPTS = 8
ON_PURPOSE = 'To begin anew on purpose: healbot audit --accept "why".'
FETCH_STATE = (
    "Fetch it: git fetch origin healbot/state:healbot/state 'refs/healbot/*:refs/healbot/*'; "
    f"or set forge.remote. {ON_PURPOSE}"
)
ANEW = "healbot was removed from the base branch, and set up again"
LOST = "The base branch's commits record a ledger that is not here"
CUT = "This clone is shallow, so it can't tell whether an earlier ledger is missing"
DEEPEN = "Get the history: git fetch --unshallow; then run this again."


def read_ledger(
    store: Store, state: State, agent: str, *, anchors: Mapping[str, str] | None = None
) -> Chain:
    """Read an agent's chain out of a state, whole or broken; ``anchors`` as ``read_chain``'s."""
    prefix = f"agents/{agent}/audit/"
    paths = [path for path in state.files if path.startswith(prefix)]
    return read_chain({path: store.read(state, path) or b"" for path in paths}, anchors or {})


def fetching(remote: str) -> str:
    """Return how to get a ledger that is not in this clone; empty: there is no remote."""
    return FETCH_STATE.replace(" origin ", f" {remote} ") if remote else ON_PURPOSE


def require_here(anchored: Anchored) -> None:
    """Refuse to begin a ledger where an earlier one may be missing.

    Raises:
        ChainError: Commits record one, and nothing shows that healbot was removed since.
        CouldNotTellError: A remote's copy is known and was not taken, or the history is cut.
    """
    if anchored.elsewhere:
        raise CouldNotTellError(
            f"This clone holds no ledger, and {anchored.elsewhere} does.",
            fetching(anchored.remote),
        )
    if anchored.shallow:
        raise CouldNotTellError(f"{CUT}.", DEEPEN)
    if anchored.heads and not anchored.ended:
        raise ChainError(f"{LOST}.", fetching(anchored.remote))


def late_path(agent: str) -> str:
    """Return the state file of switches that a ledger could not take when they were thrown."""
    return f"agents/{agent}/switched.jsonl"


class Book:
    """An agent's ledger, open for appending while its lease is held."""

    def __init__(
        self, agent: str, store: Store, *, permit: Permit, clock: Clock, anchors: Anchors
    ) -> None:
        self.agent = agent
        self.restarted: Restarted | None = None
        self.widen: Widen = no_texts
        self._accepting: tuple[str, str] | None = None
        self._store = store
        self._anchors = anchors
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
            self._begin()
        except BaseException:
            self._permit.release(self._held())
            raise
        return self

    def accepting(self, *, by: str, why: str) -> "Book":
        """Let it open although heads recorded elsewhere are missing, and record who let it."""
        self._accepting = (by, why)
        return self

    def _begin(self) -> None:
        """Read the chain and hold it against what is recorded elsewhere.

        Raises:
            ChainError: It does not hold.
            CouldNotTellError: See ``require_here``.
        """
        anchored = self._anchors.read(self.agent)  # before the chain, which may only grow
        state = self._store.load()
        chain = read_ledger(self._store, state, self.agent, anchors=anchored.heads)
        if self._accepting:
            require_linked(chain)  # an edited line is excused by nobody
            self._anchors.accept()
            by, why = self._accepting
            self._excuse(chain, anchored, by=by, why=why)
        elif not chain.entries and not anchored.here:
            require_here(anchored)
            self._excuse(chain, anchored, by="healbot", why=ANEW)
        elif anchored.set_back:
            raise ChainError(f"The ledger's chain is broken: {anchored.set_back}.", SET_BACK)
        else:
            require_whole(chain)
            self._take(chain)
        self._record_late(state)

    def _excuse(self, chain: Chain, anchored: Anchored, *, by: str, why: str) -> None:
        """Go on without the heads that are missing, and record exactly these."""
        self._take(chain.model_copy(update={"broken": ()}))
        if chain.missing or anchored.set_back or anchored.elsewhere:
            self.restarted = Restarted(
                heads=chain.missing, base_sha=anchored.base_sha, by=by, why=why
            )
            self.append(self.restarted, cycle=None)

    def _record_late(self, state: State) -> None:
        """Record switches that were thrown while somebody else held the lease."""
        path = late_path(self.agent)
        lines = (self._store.read(state, path) or b"").splitlines(keepends=True)
        for place, line in enumerate(lines, start=1):
            rest = b"".join(lines[place:]) or None
            try:
                body = Switched.model_validate_json(line)
            except ValueError:
                continue  # no line of ours
            self._append(body, cycle=None, spent=Spend(), over={path: rest})

    def _take(self, chain: Chain) -> None:
        self._chain, self._progress = chain, replay(chain.entries)

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
        return head in (self.head, *self._chain.digests)

    def acts(self) -> frozenset[str]:
        """The acts of forgetting that the chain records."""
        bodies = (entry.body for entry in self._chain.entries)
        return frozenset(body.act for body in bodies if isinstance(body, Forgotten))

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
        joined = dict(beside or {})
        return self._append(body, cycle=cycle, spent=spent or Spend(), joined=joined)

    def _append(
        self,
        body: Body,
        *,
        cycle: str | None,
        spent: Spend,
        joined: Mapping[str, bytes] | None = None,
        over: Mapping[str, bytes | None] | None = None,
    ) -> Progress:
        """Append an entry, join lines to other files, and put yet others over what is there."""
        for _ in range(ATTEMPTS):
            state = self._store.load()
            self._read(state, expect=self._chain.head)
            entry = extend(
                self._chain,
                body,
                agent=self.agent,
                cycle=cycle,
                at=self._clock.now(),
                spent=spent,
            )
            renewed, swap = self._permit.renewal(self._held())
            published = lines_beside(self.agent, entry, self._progress, widen=self.widen)
            changes = self._changes(state, entry, {**published, **(joined or {})})
            changes |= over or {}
            message = f"{self.agent}: {body.kind}\n\nHealbot-Ledger: {entry.digest}"
            try:
                self._store.save(
                    state, changes, message=message, at=entry.at, also=[swap], anchor=self.agent
                )
            except StaleError:
                continue
            self._hold(renewed)
            self._take(
                Chain(
                    entries=(*self._chain.entries, entry),
                    head=entry.digest,
                    digests=(*self._chain.digests, entry.digest),
                )
            )
            return self._progress
        raise NotNowError("The state branch keeps moving.", "Run the command again in a minute.")

    def _read(self, state: State, *, expect: str) -> None:
        chain = read_ledger(self._store, state, self.agent)
        require_whole(chain)
        if chain.head != expect:
            raise _lost()
        self._take(chain)

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
