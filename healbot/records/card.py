"""The review card of a proposal, as data: everything that its text says, and nothing else.

Knows the shape and whether its numbers add up. How it reads is ``views/card.py`` (GitHub) and
``views/terminal.py``; it never holds a held-out case's input, only its id.
"""

from collections.abc import Iterable
from datetime import date
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from healbot.records.case import Split, Standing
from healbot.records.edit import Earlier
from healbot.records.record import Record
from healbot.records.run import Outcome
from healbot.records.settings import Mode
from healbot.records.verdict import Reason, Word


def _decodable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    return value


Text = Annotated[str, BeforeValidator(_decodable)]
"""Foreign text as it came; bytes that were no UTF-8 (lone surrogates) become question marks."""

Anchor = Annotated[str, BeforeValidator(_decodable), Field(max_length=128)]
"""A name or digest that survives in the hidden payload however large the cycle was."""

Stage = Literal["measure", "diagnose", "probe", "earn", "gate", "canary"]
Side = Literal["baseline", "candidate"]


class Tally(Record):
    """Outcomes counted; ``none`` (could not score) is never among passes or fails."""

    passes: int = Field(0, ge=0)
    fails: int = Field(0, ge=0)
    none: int = Field(0, ge=0)

    @property
    def scored(self) -> int:
        """Runs with a pass or a fail."""
        return self.passes + self.fails

    @property
    def runs(self) -> int:
        """All runs."""
        return self.scored + self.none

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> "Tally":
        """Count outcomes."""
        seen = list(outcomes)
        return cls(
            passes=seen.count(Outcome.PASS),
            fails=seen.count(Outcome.FAIL),
            none=seen.count(Outcome.NONE),
        )

    def plus(self, other: "Tally") -> "Tally":
        """Add two counts."""
        return Tally(
            passes=self.passes + other.passes,
            fails=self.fails + other.fails,
            none=self.none + other.none,
        )


class Change(Record):
    """What changes in one file.

    Attributes:
        path: From the repository's root.
        first_line: Of the first changed line, counted from 1, as the file stood before.
        lines: Diff lines, each beginning with ``+``, ``-``, a space or ``@``.
    """

    path: Text
    first_line: int = Field(1, ge=1)
    added: int = Field(0, ge=0)
    removed: int = Field(0, ge=0)
    lines: tuple[Text, ...] = ()


class Trigger(Record):
    """The failing case that set the cycle off, under both revisions in the gate."""

    case: Text
    baseline: Tally = Tally()
    candidate: Tally = Tally()


class Protected(Record):
    """The corpus: how many cases with a standing were judged, and which of them got worse."""

    cases: int = Field(0, ge=0)
    worse: tuple[Text, ...] = ()


class CanarySum(Record):
    """The canary's runs under the candidate, summed.

    Attributes:
        fewest, most: Runs a case, where a second look made them uneven.
        left_out: Corpus cases that the run budget left out.
        run_budget: That budget, in runs.
    """

    tally: Tally
    cases: int = Field(ge=0)
    fewest: int = Field(0, ge=0)
    most: int = Field(0, ge=0)
    left_out: tuple[Text, ...] = ()
    run_budget: int | None = None


class Cost(Record):
    """What the cycle cost.

    Attributes:
        usd: None where nobody can know (nothing reported, no worst case stated).
        unreported_runs: Runs that reported no usage, counted at the stated worst case.
        worst_case_usd: That worst case, in dollars a run.
    """

    usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    minutes: float = Field(0, ge=0, allow_inf_nan=False)
    runs: int = Field(0, ge=0)
    unreported_runs: int = Field(0, ge=0)
    worst_case_usd: float | None = Field(None, ge=0, allow_inf_nan=False)


class AlwaysOn(Record):
    """Characters of always-on text."""

    before: int = Field(ge=0)
    after: int = Field(ge=0)
    limit: int = Field(ge=1)


class Way(Record):
    """How a person does something: what to click, and what to type; either may be empty."""

    click: Text = ""
    command: Text = ""


class Merging(Record):
    """What merging needs.

    Attributes:
        waits_for: Whom or what it waits for; empty: merges once required checks are green.
        why: Why it waits, a phrase each.
        way: How to merge it, where a person does.
        done: It is merged.
    """

    mode: Mode
    done: bool = False
    waits_for: Text = ""
    why: tuple[Text, ...] = ()
    way: Way = Way()


class CaseRow(Record):
    """One case in the table: the gate's runs of both sides, and the canary's.

    Attributes:
        baseline_tokens, candidate_tokens: Mean tokens of a passing gate run; None: unreported.
        canary_baseline: Fresh baseline runs, where the canary compares with them.
    """

    case: Text
    split: Split
    standing: Standing = Standing.PLAIN
    safety: bool = False
    baseline: Tally = Tally()
    candidate: Tally = Tally()
    canary: Tally = Tally()
    canary_baseline: Tally = Tally()
    baseline_tokens: int | None = Field(None, ge=0)
    candidate_tokens: int | None = Field(None, ge=0)


class Why(Record):
    """The failure behind the proposal."""

    signature: Text
    runs: int = Field(ge=0)
    since: date | None = None


class RunLine(Record):
    """The runs of one case and side that one decision used.

    Attributes:
        about: The candidate revision that the decision was about; empty where there was none.
        repeats: The journal's repeat numbers; ``outcomes`` stand beside them.
        runner: Which way of running it, where there are several.
    """

    stage: Stage
    case: Text
    side: Side
    about: Text = ""
    runner: Text = ""
    repeats: tuple[int, ...] = ()
    outcomes: tuple[Outcome, ...] = ()


class CitedLesson(Record):
    """A lesson that the proposal rests on."""

    key: Text
    value: Text = ""


class Tried(Record):
    """One candidate of this cycle and what became of it.

    Attributes:
        rule: The rule that spoke against it, or empty.
    """

    candidate: Text
    editor: Text
    word: Word
    rule: Text = ""


class Card(Record):
    """The review text of a proposal, as data.

    Attributes:
        title: One line that says what the edit does (model or foreign text).
        fixed_trigger: A training case gained enough, whatever else happened.
        trigger_only: No sibling case (same signature, other input) improved too; None: not asked.
        null_pass: How likely an edit that does nothing would have passed, 0 to 1.
        not_covered, could_not_tell: Statements, a phrase each.
        claims: Ids of the cases that the edit says it fixes: its prediction.
        earlier: What a person, or a verdict, said to the same edit before.
        ledger: Digest of the ledger's head when the card was written.
        complete: False where a parsed payload had to leave details out.
    """

    schema_version: Literal[1] = 1
    agent: Anchor
    title: Text
    word: Word
    cycle: Anchor
    baseline: Anchor
    candidate: Anchor
    ledger: Anchor
    cost: Cost
    merging: Merging
    reasons: tuple[Reason, ...] = ()
    fixed_trigger: bool = False
    changes: tuple[Change, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    protected: Protected = Protected()
    canary: CanarySum | None = None
    trigger_only: bool | None = None
    not_covered: tuple[Text, ...] = ()
    could_not_tell: tuple[Text, ...] = ()
    always_on: AlwaysOn | None = None
    null_pass: float | None = Field(None, ge=0, le=1)
    undo: Way = Way()
    rows: tuple[CaseRow, ...] = ()
    why: tuple[Why, ...] = ()
    runs: tuple[RunLine, ...] = ()
    lessons: tuple[CitedLesson, ...] = ()
    claims: tuple[Text, ...] = ()
    earlier: tuple[Earlier, ...] = ()
    tried: tuple[Tried, ...] = ()
    complete: bool = True

    def mismatches(self) -> tuple[str, ...]:
        """Return a sentence for each number that the listed runs and lines do not bear out."""
        if not self.complete:
            return ()
        found = [*self._rows_against_runs(), *self._sums_against_rows()]
        for change in self.changes:
            counted = tuple(sum(line[:1] == sign for line in change.lines) for sign in "+-")
            if counted != (change.added, change.removed):
                found.append(f"{change.path}: the diff has +{counted[0]} -{counted[1]}")
        listed = sum(len(line.repeats) for line in self.runs)
        if listed > self.cost.runs:
            found.append(f"{listed} runs are listed, but {self.cost.runs} are counted as spent")
        return tuple(found)

    def _counted(self, stage: Stage, case: str, side: Side) -> Tally:
        lines = (
            line.outcomes
            for line in self.runs
            if (line.stage, line.case, line.side, line.about) == (stage, case, side, self.candidate)
        )
        return Tally.of(outcome for outcomes in lines for outcome in outcomes)

    def _rows_against_runs(self) -> Iterable[str]:
        for row in self.rows:
            cells: tuple[tuple[Stage, Side, Tally], ...] = (
                ("gate", "baseline", row.baseline),
                ("gate", "candidate", row.candidate),
                ("canary", "baseline", row.canary_baseline),
                ("canary", "candidate", row.canary),
            )
            for stage, side, tally in cells:
                if self._counted(stage, row.case, side) != tally:
                    yield f"{row.case}: {stage} {side} differs from the runs listed"
        for line in self.runs:
            if len(line.repeats) != len(line.outcomes):
                yield f"{line.case}: a {line.stage} line lists repeats without outcomes"

    def _sums_against_rows(self) -> Iterable[str]:
        rows = {row.case: row for row in self.rows}
        for one in self.triggers:
            row = rows.get(one.case)
            if row is None or (row.baseline, row.candidate) != (one.baseline, one.candidate):
                yield f"{one.case}: the first line differs from the table"
        standing = sum(row.standing is not Standing.PLAIN for row in self.rows)
        if standing != self.protected.cases:
            yield f"{self.protected.cases} protected cases are named, the table has {standing}"
        if self.canary is not None:
            ran = [row.canary for row in self.rows if row.canary.runs]
            total = Tally()
            for tally in ran:
                total = total.plus(tally)
            if (total, len(ran)) != (self.canary.tally, self.canary.cases):
                yield "the canary's sum differs from the table"
