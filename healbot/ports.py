"""What healbot needs from the world, as narrow protocols; the plugs behind them do it.

Knows records only. At most seven methods each. A step names the ports it uses in its signature;
only ``entry/wiring.py`` knows which plug stands behind which.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from healbot.records.brief import Brief
from healbot.records.case import Case
from healbot.records.chat import Answer, Ask
from healbot.records.edit import Proposal
from healbot.records.harness import Harness
from healbot.records.intent import Effect, Intent
from healbot.records.lesson import Lesson
from healbot.records.pull import Pull
from healbot.records.run import CheckResult, Job, Run, RunKey, Trace


class Clock(Protocol):
    """Time. Instants are UTC."""

    def now(self) -> datetime:
        """Return the current instant."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""


class TreeFile(NamedTuple):
    """One file of a git tree: its mode as git writes it (``100644``, ``120000`` …) and blob id."""

    mode: str
    blob: str


class CommitInfo(NamedTuple):
    """One commit."""

    sha: str
    parents: tuple[str, ...]
    message: str
    author: str
    at: datetime


class Swap(NamedTuple):
    """One compare-and-swap of a ref; None as ``before``: must not exist; as ``after``: delete."""

    ref: str
    before: str | None
    after: str | None


class Repo(Protocol):
    """Reading a git repository. Full ref names (``refs/heads/main``) or object ids."""

    def resolve(self, ref: str) -> str | None:
        """Return the commit a ref stands at, or None where there is none."""

    def refs(self, prefix: str) -> Mapping[str, str]:
        """Return every ref under a prefix with its object id."""

    def tree(self, sha: str, prefix: str = "") -> Mapping[str, TreeFile]:
        """Return the files of a commit below a folder, by path from the root."""

    def blob(self, blob: str) -> bytes:
        """Return a blob's exact bytes."""

    def log(
        self, sha: str, paths: Sequence[str] = (), limit: int = 1000, *, first_parent: bool = False
    ) -> Sequence[CommitInfo]:
        """Return commits reachable from one (or by first parents only), newest first, by paths."""

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the best common ancestor."""

    def checked_out(self, ref: str) -> Path | None:
        """Return the work tree in which a branch that ``swap`` moves is checked out, or None."""


class RepoWriter(Protocol):
    """Making commits and moving refs; never touches history that is there."""

    def commit(
        self,
        changes: Mapping[str, bytes | None],
        *,
        base: str | None,
        parents: Sequence[str],
        message: str,
        at: datetime,
        by: str = "",
    ) -> str:
        """Make a commit of ``base``'s tree with files set (None: removed); returns its id.

        ``by`` names its author where that is a person. The same arguments give the same id, and no
        ref moves.
        """

    def merge(
        self, onto: str, head: str, *, message: str, at: datetime, by: str = ""
    ) -> str | None:
        """Make a merge commit of two commits, first parent ``onto``; None on a conflict."""

    def revert(
        self, onto: str, merged: str, *, message: str, at: datetime, by: str = ""
    ) -> str | None:
        """Make a commit on ``onto`` that undoes ``merged``; None on a conflict."""

    def swap(self, swaps: Sequence[Swap]) -> None:
        """Move refs, all or none, on the remote where there is one, then here.

        A branch that is checked out takes its work tree along.

        Raises:
            StaleError: A ref was not where ``before`` says.
            InTheWayError: A checked-out file has uncommitted changes in the way.
            RefusedError: The remote refused for another reason.
        """

    def fetch(self) -> None:
        """Bring the remote's refs here; does nothing where there is no remote."""


class State(NamedTuple):
    """One immutable state of the state branch; ``sha`` is None before its first commit."""

    sha: str | None
    files: Mapping[str, TreeFile]


class Store(Protocol):
    """The state branch: small text files, moved by compare-and-swap only."""

    def load(self) -> State:
        """Return the newest state."""

    def read(self, state: State, path: str) -> bytes | None:
        """Return a file of a state, or None."""

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
        """Commit changes onto a state and publish it, together with other refs, all or none.

        ``anchor`` names the agent whose ledger grows by this, if one does: its anchor moves along.

        Raises:
            StaleError: The state or one of the refs has moved meanwhile.
            ChainError: The branch was set back, so nothing may be built on it.
        """


class Anchored(NamedTuple):
    """Where heads of one ledger are recorded outside its files.

    Attributes:
        heads: Digest to where it is recorded, in words.
        base_sha: The base branch's tip as of now.
        here: Something besides the base branch's commits records that a ledger was in this clone.
        set_back: What the state branch held and holds no more, in words; empty: nothing.
        elsewhere: A remote's copy of the state branch that this clone has not taken, or empty.
        ended: The base branch's history shows that healbot was removed since those heads.
        shallow: The clone's history is cut, so it can't show whether a ledger was there.
        remote: A remote that this clone has branches of, or empty.
    """

    heads: Mapping[str, str]
    base_sha: str
    here: bool
    set_back: str = ""
    elsewhere: str = ""
    ended: bool = False
    shallow: bool = False
    remote: str = ""


class Anchors(Protocol):
    """What a ledger is held against: heads of it that are recorded elsewhere."""

    def read(self, agent: str) -> Anchored:
        """Return the heads that are recorded of an agent's ledger."""

    def accept(self) -> None:
        """Take the state branch as it stands now for the whole of it."""


class Lease(NamedTuple):
    """A held lease: its ref, the object that stands there, who holds it, until when."""

    ref: str
    sha: str
    holder: str
    until: datetime


class Permit(Protocol):
    """May this go on? Leases per agent, by compare-and-swap on a ref."""

    def take(self, agent: str) -> Lease:
        """Take the agent's lease.

        Raises:
            NotNowError: Somebody alive holds it; says who, and until when.
        """

    def renewal(self, lease: Lease) -> tuple[Lease, Swap]:
        """Return the lease with a new expiry, and the swap that would put it in force."""

    def renew(self, lease: Lease) -> Lease:
        """Put a new expiry in force by itself.

        Raises:
            LeaseLostError: Somebody else holds it by now.
        """

    def release(self, lease: Lease) -> None:
        """Give it back; somebody else's lease is left alone."""

    def holder(self, agent: str) -> Lease | None:
        """Return who holds an agent's lease now, or None."""


class Journal(Protocol):
    """Finished runs and refused or open edits, by content, on this machine only."""

    def find(self, key: RunKey) -> Run | None:
        """Return a finished run, or None."""

    def lost(self, key: RunKey) -> int:
        """Return how many starts of a run a crash cut off, whether or not it finished since."""

    def begin(self, key: RunKey) -> None:
        """Note that a run starts."""

    def put(self, run: Run) -> None:
        """Keep a finished run; atomic, and the first one kept stays."""

    def load(self, digest: str) -> bytes | None:
        """Return content kept by its SHA-256, or None."""

    def save(self, content: bytes) -> str:
        """Keep content; returns its SHA-256."""


class Workspaces(Protocol):
    """Folders to run agents in."""

    def open(
        self, sha: str, harness: Harness, case: Case
    ) -> AbstractContextManager[tuple[Path, Path]]:
        """Give a fresh workspace (root, agent's folder) for one run; it is removed afterwards.

        The repository at ``sha`` without cases, checks, hidden tests and settings, with ``harness``
        in place and the case's files on top.
        """


class Runner(Protocol):
    """A way to run an agent."""

    @property
    def digest(self) -> str:
        """Names this way of running; runs under another digest are other runs."""

    def attempt(self, job: Job) -> Trace:
        """Run the agent once. Whatever the agent does, this returns; it never raises for it."""


class Check(Protocol):
    """A judgement of one run."""

    def score(self, case: Case, trace: Trace) -> CheckResult:
        """Judge a run; a fault of the check itself is ``none`` with its reason, never raised."""


class Chat(Protocol):
    """A chat model behind a server."""

    @property
    def digest(self) -> str:
        """Names model, API, server and sampling; answers under another digest are others."""

    def ask(self, ask: Ask) -> Answer:
        """Return the model's answer; an answer that refuses or was cut off is one, and says so.

        Raises:
            ModelRefusedError: The server said no.
            ModelSilentError: No answer came in time, or none that can be read.
        """


class Editor(Protocol):
    """Proposes edits from failed runs."""

    def propose(self, brief: Brief) -> tuple[Proposal, ...]:
        """Return proposals, best first, or none; raise GaveUpError where it tried in vain."""


class Lessons(Protocol):
    """Lessons, read."""

    def read(self) -> tuple[tuple[Lesson, ...], tuple[str, ...]]:
        """Return lessons, and a sentence for each file that could not be read."""


class ForgeReader(Protocol):
    """Pull requests, read."""

    def pulls(self) -> tuple[Pull, ...]:
        """Return all pull requests of healbot's, oldest first."""

    def pull(self, number: int) -> Pull | None:
        """Return one, or None."""


class ForgeWriter(Protocol):
    """The one way to change a forge."""

    def find(self, intent: Intent) -> Effect | None:
        """Return the effect where it is there already."""

    def perform(self, intent: Intent) -> Effect:
        """Bring the effect about.

        Raises:
            StaleError, HarnessChangedError, RefusedError: It can't be, and nothing was changed.
        """


class Voice(Protocol):
    """Tells a person what goes on; never on stdout."""

    def phase(self, name: str, total: int) -> None:
        """A phase begins, with so many runs ahead (0: unknown)."""

    def tick(self, name: str, outcome: str) -> None:
        """One run finished."""

    def note(self, text: str) -> None:
        """Something worth a line."""


class Command(NamedTuple):
    """A program to start.

    Attributes:
        argv: Program and arguments; no shell.
        env: The whole environment that it gets; nothing else is inherited.
        stdin: Bytes for its standard input, which is then closed.
        hide: Folders that must not be readable where a sandbox can hide them.
        keep: Folders that a sandbox leaves readable and writable, even inside a hidden one; the
            working directory always is.
        cap_bytes: How much of stdout and of stderr is kept (the head and the tail of it).
    """

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    timeout_seconds: float
    stdin: bytes = b""
    hide: Sequence[Path] = ()
    cap_bytes: int = 1_000_000
    keep: Sequence[Path] = ()


class Finished(NamedTuple):
    """How it ended: a word of ``records/run.py``, and ``why`` where it did not start."""

    ended: str
    exit_code: int | None
    stdout: bytes
    stderr: bytes
    truncated: bool
    duration_seconds: float
    why: str = ""


class Processes(Protocol):
    """Starting programs in their own process group, and ending all of it."""

    @property
    def sandboxed(self) -> bool:
        """True where ``hide`` really hides (bubblewrap is there and works)."""

    def run(self, command: Command) -> Finished:
        """Run to the end or the timeout; nothing of the group is left alive; never raises."""
