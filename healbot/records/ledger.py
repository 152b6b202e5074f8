"""The ledger's lines: typed entries in one hash chain per agent.

Knows how one line renders and parses. Chaining, verifying and replaying are rules
(``rules/chain.py``, ``rules/progress.py``). The chain holds digests and verdicts, never content.
"""

import json
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from healbot.records.case import Standing
from healbot.records.edit import Prediction
from healbot.records.record import Record, canonical, digest_bytes
from healbot.records.run import Outcome
from healbot.records.settings import Mode
from healbot.records.verdict import Verdict, Word

GENESIS = "0" * 64
"""What the first line of a chain holds as the digest before it."""


class Spend(Record):
    """What was spent; unreported runs are counted at the stated worst case."""

    runs: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def plus(self, other: "Spend") -> "Spend":
        """Add two spendings."""
        return Spend(
            runs=self.runs + other.runs,
            tokens=self.tokens + other.tokens,
            usd=round(self.usd + other.usd, 6),
            seconds=round(self.seconds + other.seconds, 3),
        )


class Used(Record):
    """The runs of one case and revision that one decision used, by repeat number.

    Attributes:
        runner: Digest of the way it was run.
        repeats: The journal's repeat numbers, in the order drawn; ``outcomes`` stand beside them.
    """

    case_id: str
    case: str
    revision: str
    runner: str
    repeats: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    tokens: tuple[int | None, ...] = ()


class Finding(Record):
    """One failing case, diagnosed.

    Attributes:
        distinct_runs: In how many runs its signature was seen.
        was_real: False where the plain retry passed (a flake); None where that could not be told.
    """

    case_id: str
    signature: str
    distinct_runs: int
    was_real: bool | None


class ProposalNote(Record):
    """A proposal as the chain remembers it: digests and who, never the text.

    Attributes:
        candidate: The revision it yields.
        refused: The rule that dropped it before any run was spent on it, or None.
        earlier: The pull requests in which the same edit was open or refused before.
    """

    proposal: str
    edit: str
    editor: str
    candidate: str
    claims: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    prediction: tuple[Prediction, ...] = ()
    prompt: str = ""
    born_of: str = "script"
    refused: str | None = None
    earlier: tuple[int, ...] = ()


class Opened(Record):
    """A cycle began."""

    kind: Literal["opened"] = "opened"
    mode: Mode
    base_ref: str
    base_sha: str
    baseline: str
    settings: str
    cases: str
    forecast: Spend
    left_out: tuple[str, ...] = Field((), description="Corpus cases outside the run budget.")
    earn: tuple[str, ...] = Field((), description="Cases that may earn a standing in this cycle.")
    fallbacks: int = 0
    probes: int = Field(1, description="How many proposals are looked at.")
    checked: str = Field("", description="The commit of a person's edit that this cycle judges.")


class Measured(Record):
    """The training cases ran under the baseline."""

    kind: Literal["measured"] = "measured"
    used: tuple[Used, ...]
    failing: tuple[str, ...]
    unscored: tuple[str, ...] = ()


class Diagnosed(Record):
    """Failing cases were replayed unchanged and given signatures."""

    kind: Literal["diagnosed"] = "diagnosed"
    used: tuple[Used, ...]
    findings: tuple[Finding, ...]


class Proposed(Record):
    """Editors answered; what no edit may do was dropped."""

    kind: Literal["proposed"] = "proposed"
    proposals: tuple[ProposalNote, ...]
    note: str = ""


class Probed(Record):
    """Proposals ran on the training cases; ``order`` is the gate's order of candidates."""

    kind: Literal["probed"] = "probed"
    used: tuple[Used, ...]
    composed: tuple[ProposalNote, ...] = ()
    order: tuple[str, ...]


class Earned(Record):
    """Cases without a standing ran under the baseline, and earned one or not."""

    kind: Literal["earned"] = "earned"
    used: tuple[Used, ...]
    standings: dict[str, Standing]


class Gated(Record):
    """The gate judged one candidate."""

    kind: Literal["gated"] = "gated"
    proposal: str
    candidate: str
    used: tuple[Used, ...]
    verdict: Verdict


class PullOpened(Record):
    """A pull request was opened for an admitted candidate."""

    kind: Literal["pull-opened"] = "pull-opened"
    number: int
    branch: str
    head_sha: str
    proposal: str
    candidate: str


class Canaried(Record):
    """The canary judged the open candidate on runs that no gate decision used."""

    kind: Literal["canaried"] = "canaried"
    number: int | None
    candidate: str
    used: tuple[Used, ...]
    verdict: Verdict


class Queued(Record):
    """The pull request waits for a person."""

    kind: Literal["queued"] = "queued"
    number: int
    because: str


class Applied(Record):
    """The writer changed the harness: the merge of a proposal."""

    kind: Literal["applied"] = "applied"
    number: int
    by: str
    before: str
    after: str
    sha: str
    base_before_sha: str
    proposal: str
    fixed: tuple[str, ...] = ()


class Declined(Record):
    """A person closed the pull request: a no."""

    kind: Literal["declined"] = "declined"
    number: int
    by: str
    candidate: str
    made_at: AwareDatetime | None = Field(
        None, description="Where it was made before it was noticed."
    )


class TakenBack(Record):
    """A person took a no back: reopened a pull request, or undid the revert of a merge.

    Attributes:
        after: The revision that stands again, or is proposed again.
        sha: The commit that undid the revert; empty where a pull request was reopened.
    """

    kind: Literal["taken-back"] = "taken-back"
    number: int
    by: str
    after: str
    sha: str = ""
    reverted_sha: str = ""
    made_at: AwareDatetime | None = None


class RolledBack(Record):
    """A saved revision was restored as a new revision; history is never rewritten."""

    kind: Literal["rolled-back"] = "rolled-back"
    number: int | None
    by: str
    why: str
    before: str
    after: str
    reverted_sha: str
    sha: str
    note: str = ""
    made_at: AwareDatetime | None = Field(
        None, description="Where it was made before it was noticed."
    )


class Closed(Record):
    """A cycle ended."""

    kind: Literal["closed"] = "closed"
    verdict: Word | None = None
    outcome: Literal[
        "healthy",
        "no-proposal",
        "refused",
        "merged",
        "queued",
        "observed",
        "abandoned",
        "declined",
        "could-not-tell",
    ]
    note: str = ""


class Switched(Record):
    """The kill switch was thrown or released."""

    kind: Literal["switched"] = "switched"
    stopped: bool
    by: str
    why: str = ""
    made_at: AwareDatetime | None = Field(None, description="Where it could be recorded later.")


class Forgotten(Record):
    """Content was erased, and none of it is named here.

    Attributes:
        act: Names this act of forgetting, which may be recorded in several chains.
        session: SHA-256 of the session's id; None: everything was erased.
        records: Files of the clone that went.
        lines: Lines of the state branch that went, out of its history too.
    """

    kind: Literal["forgotten"] = "forgotten"
    act: str
    by: str
    session: str | None = None
    records: int = 0
    lines: int = 0


class Restarted(Record):
    """The chain goes on without heads that were recorded elsewhere.

    Either the first entry of a new life, after an uninstall, or a cut state that a person accepted.
    Exactly these heads are excused, so whatever is cut off later is still found.

    Attributes:
        base_sha: The base branch's tip as of then.
    """

    kind: Literal["restarted"] = "restarted"
    heads: tuple[str, ...]
    base_sha: str
    by: str
    why: str


Body = Annotated[
    Opened | Measured | Diagnosed | Proposed | Probed | Earned | Gated | PullOpened | Canaried
    | Queued | Applied | Declined | RolledBack | TakenBack | Closed | Switched
    | Forgotten | Restarted,
    Field(discriminator="kind"),
]  # fmt: skip


class Entry(Record):
    """One line of the chain.

    Attributes:
        number: Counts from 1 along the whole chain, across months.
        previous: SHA-256 of the line before (its bytes without the newline); ``GENESIS`` first.
        at: In UTC.
        spent: Since the entry before.
        agent: The chain's owner.
        cycle: Which cycle it belongs to, or None.
    """

    schema_version: Literal[1] = 1
    number: int = Field(ge=1)
    previous: str = Field(pattern=r"^[0-9a-f]{64}$")
    at: AwareDatetime
    agent: str
    cycle: str | None = None
    spent: Spend = Spend()
    body: Body

    def render(self) -> str:
        """Return the line, without its newline."""
        return canonical(self.model_dump(mode="json"))

    @property
    def digest(self) -> str:
        """SHA-256 of the rendered line; the next line's ``previous``."""
        return digest_bytes(self.render().encode())

    @classmethod
    def parse(cls, line: str) -> "Entry":
        """Read a line back.

        Raises:
            ValueError: The line is no entry, or not in its one canonical form.
        """
        try:
            entry = _ENTRY.validate_python(json.loads(line))
        except (json.JSONDecodeError, ValidationError, RecursionError) as error:
            raise ValueError(f"no ledger entry: {str(error).splitlines()[0]}") from error
        if canonical(json.loads(line)) != line:
            raise ValueError("not in canonical form")
        return entry


_ENTRY = TypeAdapter(Entry)
