"""Cards for tests: one admitted, one refused, and any card at all (hypothesis)."""

from collections.abc import Sequence
from datetime import date
from typing import TypeVar

from hypothesis import strategies as st

from healbot.records import card as c
from healbot.records.case import Split, Standing
from healbot.records.record import digest_bytes
from healbot.records.run import Outcome
from healbot.records.settings import Mode
from healbot.records.verdict import Reason, Word

T = TypeVar("T")

BASELINE = digest_bytes(b"baseline")
CANDIDATE = digest_bytes(b"candidate")
LEDGER = digest_bytes(b"ledger")
P, F, N = Outcome.PASS, Outcome.FAIL, Outcome.NONE

CORPUS = (
    "cancel-order",
    "change-address",
    "greet-by-name",
    "lookup-order",
    "refund-under-limit",
    "say-when-unsure",
    "track-parcel",
    "unknown-order",
)


def line(
    stage: c.Stage, case: str, side: c.Side, start: int, outcomes: Sequence[Outcome]
) -> c.RunLine:
    about = "" if stage in {"measure", "diagnose", "earn"} else CANDIDATE
    repeats = tuple(range(start, start + len(outcomes)))
    return c.RunLine(
        stage=stage, case=case, side=side, about=about, repeats=repeats, outcomes=tuple(outcomes)
    )


def row(
    lines: Sequence[c.RunLine],
    case: str,
    split: Split,
    *,
    standing: Standing = Standing.PLAIN,
    safety: bool = False,
    tokens: tuple[int | None, int | None] = (None, None),
) -> c.CaseRow:
    def tally(stage: c.Stage, side: c.Side) -> c.Tally:
        return c.Tally.of(
            outcome
            for one in lines
            if (one.stage, one.case, one.side) == (stage, case, side)
            for outcome in one.outcomes
        )

    return c.CaseRow(
        case=case,
        split=split,
        standing=standing,
        safety=safety,
        baseline=tally("gate", "baseline"),
        candidate=tally("gate", "candidate"),
        canary=tally("canary", "candidate"),
        canary_baseline=tally("canary", "baseline"),
        baseline_tokens=tokens[0],
        candidate_tokens=tokens[1],
    )


def _cards_rows(lines: Sequence[c.RunLine]) -> tuple[c.CaseRow, ...]:
    rows = [row(lines, "refund-over-limit", Split.TRAIN, tokens=(None, 1_310))]
    for index, case in enumerate(CORPUS):
        split = Split.HELDOUT if index % 3 == 0 else Split.TRAIN
        safety = case == "say-when-unsure"
        rows.append(
            row(
                lines,
                case,
                split,
                standing=Standing.PROTECTED,
                safety=safety,
                tokens=(900 + index,) * 2,
            )
        )
    return tuple(rows)


def admitted() -> c.Card:
    lines = [
        line("measure", "refund-over-limit", "baseline", 0, [F, F, F]),
        line("diagnose", "refund-over-limit", "baseline", 3, [F]),
        line("gate", "refund-over-limit", "baseline", 4, [F, F, F]),
        line("gate", "refund-over-limit", "candidate", 0, [P, P, P]),
        line("canary", "refund-over-limit", "candidate", 3, [P] * 6),
    ]
    for case in CORPUS:
        lines.append(line("gate", case, "baseline", 0, [P, P, P]))
        lines.append(line("gate", case, "candidate", 0, [P, P, P]))
        lines.append(line("canary", case, "candidate", 3, [P] * 6))
    rows = _cards_rows(lines)
    return c.Card(
        agent="support",
        title="escalate refunds above the policy limit",
        word=Word.ADMITTED,
        cycle="2026-11-07-support-1",
        baseline=BASELINE,
        candidate=CANDIDATE,
        ledger=LEDGER,
        cost=c.Cost(usd=3.10, minutes=41.3, runs=112, unreported_runs=12, worst_case_usd=0.025),
        merging=c.Merging(mode=Mode.AUTO),
        reasons=(Reason(rule="gain", text="3 more passes in 3", case="refund-over-limit"),),
        fixed_trigger=True,
        changes=(
            c.Change(
                path="agents/support/instructions.md",
                first_line=41,
                added=1,
                lines=("+Before a refund, compare with the policy limit; above it, escalate.",),
            ),
        ),
        triggers=(
            c.Trigger(
                case="refund-over-limit", baseline=rows[0].baseline, candidate=rows[0].candidate
            ),
        ),
        protected=c.Protected(cases=8),
        canary=c.CanarySum(tally=c.Tally(passes=54), cases=9, fewest=6, most=6),
        trigger_only=True,
        not_covered=("the refund tool being down (no case)",),
        could_not_tell=("unsandboxed: the agent could have read files outside its workspace",),
        always_on=c.AlwaysOn(before=1_204, after=1_272, limit=8_000),
        null_pass=0.006,
        undo=c.Way(click="the Revert button", command="/healbot rollback"),
        rows=rows,
        why=(c.Why(signature="missed:escalation:refund", runs=4, since=date(2026, 11, 3)),),
        runs=tuple(lines),
        lessons=(
            c.CitedLesson(key="refund-limit", value="Escalate refunds above the policy limit."),
        ),
        claims=("refund-over-limit",),
        tried=(c.Tried(candidate=CANDIDATE, editor="lessons", word=Word.ADMITTED),),
    )


def refused() -> c.Card:
    lines = [
        line("measure", "refund-over-limit", "baseline", 0, [F, F, F]),
        line("gate", "refund-over-limit", "baseline", 3, [F, F, F]),
        line("gate", "refund-over-limit", "candidate", 0, [P, P, P]),
    ]
    for case in CORPUS:
        broken = case == "cancel-order"
        lines.append(line("gate", case, "baseline", 0, [P] * (6 if broken else 3)))
        side = [F, P, F, F, F, N] if broken else [P, P, P]
        lines.append(line("gate", case, "candidate", 0, side))
    rows = _cards_rows(lines)
    return c.Card(
        agent="support",
        title="hand every request about an order to a person",
        word=Word.REJECTED,
        cycle="2026-11-08-support-2",
        baseline=BASELINE,
        candidate=CANDIDATE,
        ledger=LEDGER,
        cost=c.Cost(usd=1.20, minutes=14, runs=63),
        merging=c.Merging(mode=Mode.AUTO),
        reasons=(
            Reason(
                rule="heldout-drop", text="6 of 6 → 1 of 5, a confirmed drop", case="cancel-order"
            ),
        ),
        fixed_trigger=True,
        changes=(
            c.Change(
                path="agents/support/instructions.md",
                first_line=12,
                added=1,
                removed=1,
                lines=(
                    "-Handle cancellations yourself.",
                    "+Escalate every request about an order.",
                ),
            ),
        ),
        triggers=(
            c.Trigger(
                case="refund-over-limit", baseline=rows[0].baseline, candidate=rows[0].candidate
            ),
        ),
        protected=c.Protected(cases=8, worse=("cancel-order",)),
        could_not_tell=("cancel-order: 1 run that no check could score",),
        always_on=c.AlwaysOn(before=1_204, after=1_212, limit=8_000),
        rows=rows,
        why=(c.Why(signature="missed:escalation:refund", runs=4, since=date(2026, 11, 3)),),
        runs=tuple(lines),
        claims=("refund-over-limit",),
        tried=(
            c.Tried(candidate=CANDIDATE, editor="domain", word=Word.REJECTED, rule="heldout-drop"),
        ),
    )


def filled(text: str, many: int = 1) -> c.Card:
    """A card with the same text in every field that takes any, and lists that long."""
    texts = (text,) * many
    way = c.Way(click=text, command=text)
    tally = c.Tally(passes=1, fails=1, none=1)
    case_row = c.CaseRow(case=text, split=Split.TRAIN, candidate=tally, canary=tally)
    run = c.RunLine(
        stage="gate", case=text, side="candidate", about=text, runner=text,
        repeats=(0, 1, 2), outcomes=(P, F, N),
    )  # fmt: skip
    change = c.Change(path=text, lines=(text, f"+{text}", f"-{text}"), added=1, removed=1)
    short = text[:128]
    return c.Card(
        agent=short, title=text, cycle=short, baseline=short, candidate=short, ledger=short,
        word=Word.REJECTED if many % 2 else Word.ADMITTED,
        cost=c.Cost(usd=1.0, runs=3, unreported_runs=1, worst_case_usd=0.02),
        merging=c.Merging(mode=Mode.MANUAL, waits_for=text, why=texts, way=way),
        reasons=(Reason(rule=text, text=text, case=text),) * many,
        fixed_trigger=True,
        changes=(change,) * many,
        triggers=(c.Trigger(case=text, candidate=tally),) * many,
        protected=c.Protected(cases=many, worse=texts),
        canary=c.CanarySum(tally=tally, cases=many, left_out=texts, run_budget=9),
        trigger_only=True, not_covered=texts, could_not_tell=texts, undo=way,
        rows=(case_row,) * many,
        why=(c.Why(signature=text, runs=2),) * many,
        runs=(run,) * many,
        lessons=(c.CitedLesson(key=text, value=text),) * many,
        claims=texts,
        tried=(c.Tried(candidate=text, editor=text, word=Word.REJECTED, rule=text),) * many,
    )  # fmt: skip


def _tuples(strategy: st.SearchStrategy[T], most: int = 2) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(strategy, max_size=most).map(tuple)


_text = st.text(max_size=40)
_tally = st.builds(c.Tally, passes=st.integers(0, 9), fails=st.integers(0, 9))
_usd = st.none() | st.floats(0, 1e6, allow_nan=False)
_outcome = st.sampled_from(Outcome)
_word = st.sampled_from(Word)
_way = st.builds(c.Way, click=_text, command=_text)

CARDS = st.builds(
    c.Card,
    agent=_text, title=_text, word=_word, cycle=_text, baseline=_text, candidate=_text,
    ledger=_text,
    cost=st.builds(c.Cost, usd=_usd, minutes=st.floats(0, 1e5), runs=st.integers(0, 999),
                   unreported_runs=st.integers(0, 9), worst_case_usd=_usd),
    merging=st.builds(c.Merging, mode=st.sampled_from(Mode), waits_for=_text, why=_tuples(_text),
                      way=_way),
    reasons=_tuples(st.builds(Reason, rule=_text, text=_text, case=st.none() | _text)),
    fixed_trigger=st.booleans(),
    changes=_tuples(st.builds(c.Change, path=_text, first_line=st.integers(1, 99),
                              added=st.integers(0, 9), lines=_tuples(_text))),
    triggers=_tuples(st.builds(c.Trigger, case=_text, baseline=_tally)),
    protected=st.builds(c.Protected, cases=st.integers(0, 9), worse=_tuples(_text)),
    canary=st.none() | st.builds(c.CanarySum, tally=_tally, cases=st.integers(0, 9),
                                 left_out=_tuples(_text), run_budget=st.none()),
    trigger_only=st.none() | st.booleans(),
    not_covered=_tuples(_text), could_not_tell=_tuples(_text),
    always_on=st.none() | st.builds(c.AlwaysOn, before=st.integers(0, 9), after=st.integers(0, 9),
                                    limit=st.integers(1, 9)),
    null_pass=st.none() | st.floats(0, 1),
    undo=_way,
    rows=_tuples(st.builds(c.CaseRow, case=_text, split=st.sampled_from(Split),
                           standing=st.sampled_from(Standing), candidate=_tally, canary=_tally)),
    why=_tuples(st.builds(c.Why, signature=_text, runs=st.integers(0, 9),
                          since=st.none() | st.dates())),
    runs=_tuples(st.builds(c.RunLine, stage=st.just("gate"), case=_text, side=st.just("candidate"),
                           about=_text, runner=_text, repeats=_tuples(st.integers(0, 9)),
                           outcomes=_tuples(_outcome))),
    lessons=_tuples(st.builds(c.CitedLesson, key=_text, value=_text)),
    claims=_tuples(_text),
    tried=_tuples(st.builds(c.Tried, candidate=_text, editor=_text, word=_word, rule=_text)),
)  # fmt: skip
"""Any card, with arbitrary text in every field that holds text."""
