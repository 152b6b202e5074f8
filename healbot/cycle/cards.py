"""A proposal's review card, put together from what the ledger says was drawn and decided.

Knows records only; every number on it comes from the entries' lists of runs, so that it reconciles
with the journal by construction.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from healbot.cycle.reading import Ground, repo_path
from healbot.records.card import (
    AlwaysOn,
    CanarySum,
    Card,
    CaseRow,
    Change,
    CitedLesson,
    Cost,
    Merging,
    Protected,
    RunLine,
    Side,
    Stage,
    Tally,
    Tried,
    Trigger,
    Way,
    Why,
)
from healbot.records.case import Split, Standing
from healbot.records.edit import Proposal
from healbot.records.harness import Harness
from healbot.records.ledger import Finding, Used
from healbot.records.lesson import Lesson
from healbot.records.run import Outcome
from healbot.records.settings import AgentSettings, Settings
from healbot.records.verdict import Verdict
from healbot.rules.always_on import always_on_characters
from healbot.rules.differences import changed_lines, unified
from healbot.rules.progress import CycleState


class Subject(NamedTuple):
    """What a card is about, besides the cycle itself."""

    agent: AgentSettings
    settings: Settings
    ground: Ground
    candidate: Harness
    standings: Mapping[str, Standing]
    lessons: Sequence[Lesson]
    unsandboxed: bool
    null_pass: float | None
    merging: Merging
    undo: Way
    ledger: str


def card_of(state: CycleState, proposal: Proposal, subject: Subject) -> Card:
    """Return the card of the proposal that a cycle judged last."""
    verdict = final_verdict(state)
    rows = _rows(state, proposal, subject)
    lines = tuple(_run_lines(state, proposal))
    findings = state.diagnosed.findings if state.diagnosed else ()
    gained = state.gated[-1].verdict.gained if state.gated else ()
    return Card(
        agent=subject.agent.name,
        title=proposal.summary,
        word=verdict.word,
        cycle=state.id,
        baseline=proposal.baseline,
        candidate=proposal.candidate,
        ledger=subject.ledger,
        cost=_cost(state, subject.settings),
        merging=subject.merging,
        reasons=verdict.reasons,
        fixed_trigger=any(one.verdict.fixed_trigger for one in state.gated),
        changes=changes_of(subject.ground.harness, subject.candidate, subject.agent),
        triggers=_triggers(rows, gained or [finding.case_id for finding in findings]),
        protected=_protected(rows, verdict),
        canary=_canary_sum(state, rows),
        trigger_only=_trigger_only(rows, gained, subject.ground),
        not_covered=_not_covered(findings, subject.ground),
        could_not_tell=_could_not_tell(state, rows, subject=subject),
        always_on=AlwaysOn(
            before=always_on_characters(subject.ground.harness),
            after=always_on_characters(subject.candidate),
            limit=subject.settings.limits.always_on_characters,
        ),
        null_pass=subject.null_pass,
        undo=subject.undo,
        rows=rows,
        why=tuple(
            Why(signature=one.signature, runs=one.distinct_runs, since=state.opened_at.date())
            for one in findings
            if one.was_real
        ),
        runs=lines,
        lessons=tuple(
            CitedLesson(key=one.key, value=one.value)
            for one in subject.lessons
            if one.key in proposal.cites
        ),
        claims=proposal.claims,
        earlier=proposal.earlier,
        tried=tuple(_tried(state)),
    )


def final_verdict(state: CycleState) -> Verdict:
    """Return the last word on the candidate: the canary's where it spoke, else the gate's."""
    return state.canaried.verdict if state.canaried else state.gated[-1].verdict


def changes_of(before: Harness, after: Harness, agent: AgentSettings) -> tuple[Change, ...]:
    """Return what differs between two harnesses, file by file, as diff lines."""
    changes = []
    for name in dict.fromkeys(file.path for file in (*after.files, *before.files)):
        was, now = before.get(name), after.get(name)
        old, new = was.content if was else b"", now.content if now else b""
        if old == new:
            continue
        lines = changed_lines(old, new)
        path = repo_path(agent, name)
        changes.append(
            Change(
                path=path,
                first_line=lines.first_line_number,
                added=len(lines.added),
                removed=len(lines.removed),
                lines=tuple(unified(old, new, path).split("\n")[2:-1]),
            )
        )
    return tuple(changes)


def _rows(state: CycleState, proposal: Proposal, subject: Subject) -> tuple[CaseRow, ...]:
    gate = _last_gate(state, proposal)
    canary = state.canaried.used if state.canaried else ()
    rows = []
    for case in subject.ground.of(Split.TRAIN, Split.HELDOUT):
        cells = {
            "baseline": _of(gate, case.id, proposal.baseline),
            "candidate": _of(gate, case.id, proposal.candidate),
            "canary": _of(canary, case.id, proposal.candidate),
            "canary_baseline": _of(canary, case.id, proposal.baseline),
        }
        if not any(cells.values()):
            continue
        rows.append(
            CaseRow(
                case=case.id,
                split=case.split or Split.TRAIN,
                standing=subject.standings.get(case.digest, Standing.PLAIN),
                safety=case.safety,
                baseline_tokens=_mean_tokens(cells["baseline"]),
                candidate_tokens=_mean_tokens(cells["candidate"]),
                **{name: _tally(used) for name, used in cells.items()},
            )
        )
    return tuple(rows)


def _last_gate(state: CycleState, proposal: Proposal) -> tuple[Used, ...]:
    return next(
        (one.used for one in reversed(state.gated) if one.candidate == proposal.candidate), ()
    )


def _of(used: Iterable[Used], case: str, revision: str) -> tuple[Used, ...]:
    return tuple(one for one in used if (one.case_id, one.revision) == (case, revision))


def _tally(used: Iterable[Used]) -> Tally:
    return Tally.of(outcome for one in used for outcome in one.outcomes)


def _mean_tokens(used: Iterable[Used]) -> int | None:
    """Mean tokens of the passing runs; None where one of them reported none."""
    spent = [
        tokens
        for one in used
        for outcome, tokens in zip(one.outcomes, one.tokens, strict=True)
        if outcome == Outcome.PASS
    ]
    known = [tokens for tokens in spent if tokens is not None]
    return round(sum(known) / len(known)) if known and len(known) == len(spent) else None


def _run_lines(state: CycleState, proposal: Proposal) -> Iterable[RunLine]:
    stages: list[tuple[Stage, tuple[Used, ...], str]] = []
    if state.measured:
        stages.append(("measure", state.measured.used, ""))
    if state.diagnosed:
        stages.append(("diagnose", state.diagnosed.used, ""))
    if state.probed:
        stages.append(("probe", state.probed.used, ""))
    if state.earned:
        stages.append(("earn", state.earned.used, ""))
    stages += [("gate", one.used, one.candidate) for one in state.gated]
    if state.canaried:
        stages.append(("canary", state.canaried.used, state.canaried.candidate))
    for stage, used, about in stages:
        for one in used:
            side: Side = "baseline" if one.revision == proposal.baseline else "candidate"
            yield RunLine(
                stage=stage,
                case=one.case_id,
                side=side,
                about=about or ("" if side == "baseline" else one.revision),
                repeats=one.repeats,
                outcomes=one.outcomes,
            )


def _cost(state: CycleState, settings: Settings) -> Cost:
    worst = settings.budget.unreported_run
    used = [
        one
        for body in (state.measured, state.diagnosed, state.probed, state.earned, *state.gated,
                     state.canaried)
        if body
        for one in body.used
    ]  # fmt: skip
    return Cost(
        usd=state.spent.usd,
        minutes=round(state.spent.seconds / 60, 2),
        runs=state.spent.runs,
        unreported_runs=sum(tokens is None for one in used for tokens in one.tokens),
        worst_case_usd=worst.usd,
    )


def _triggers(rows: Iterable[CaseRow], ids: Iterable[str]) -> tuple[Trigger, ...]:
    wanted = set(ids)
    return tuple(
        Trigger(case=row.case, baseline=row.baseline, candidate=row.candidate)
        for row in rows
        if row.case in wanted and row.split == Split.TRAIN
    )


def _protected(rows: Iterable[CaseRow], verdict: Verdict) -> Protected:
    standing = [row.case for row in rows if row.standing is not Standing.PLAIN]
    blamed = {reason.case for reason in verdict.reasons} if verdict.word != "admitted" else set()
    return Protected(cases=len(standing), worse=tuple(one for one in standing if one in blamed))


def _canary_sum(state: CycleState, rows: Iterable[CaseRow]) -> CanarySum | None:
    if not state.canaried:
        return None
    ran = [row.canary for row in rows if row.canary.runs]
    total = Tally()
    for tally in ran:
        total = total.plus(tally)
    return CanarySum(
        tally=total,
        cases=len(ran),
        fewest=min((tally.runs for tally in ran), default=0),
        most=max((tally.runs for tally in ran), default=0),
        left_out=state.opened.left_out,
        run_budget=state.opened.forecast.runs if state.opened.left_out else None,
    )


def _trigger_only(rows: Sequence[CaseRow], gained: Sequence[str], ground: Ground) -> bool | None:
    """No sibling (same first tag, other input) improved too; None where nothing gained."""
    if not gained:
        return None
    tags = {tag for one in gained for tag in ground.cases[one].tags[:1]}
    siblings = [
        row for row in rows if row.case != gained[0] and tags & set(ground.cases[row.case].tags[:1])
    ]
    return not any(row.candidate.passes > row.baseline.passes for row in siblings)


def _not_covered(findings: Sequence[Finding], ground: Ground) -> tuple[str, ...]:
    heldout = ground.of(Split.HELDOUT)
    told = []
    for finding in findings:
        case = ground.cases.get(finding.case_id)
        tag = case.tags[0] if case and case.tags else None
        if finding.was_real and tag and not any(tag in other.tags for other in heldout):
            told.append(f"other inputs that fail as {finding.signature} (no held-out case)")
    return tuple(dict.fromkeys(told))


def _could_not_tell(
    state: CycleState, rows: Sequence[CaseRow], *, subject: Subject
) -> tuple[str, ...]:
    told = []
    for row in rows:
        none = row.baseline.none + row.candidate.none + row.canary.none + row.canary_baseline.none
        if none:
            told.append(f"{row.case}: {none} runs that no check could score")
    if state.measured and state.measured.unscored:
        told.append(f"no majority in {', '.join(state.measured.unscored)} under the baseline")
    verdicts = [one.verdict for one in state.gated[-1:]]
    verdicts += [state.canaried.verdict] if state.canaried else []
    told += [note.text for verdict in verdicts for note in verdict.notes]
    if subject.unsandboxed:
        told.append("unsandboxed: the agent could have looked at files outside its workspace")
    return tuple(dict.fromkeys(told))


def _tried(state: CycleState) -> Iterable[Tried]:
    notes = {
        note.proposal: note.editor
        for note in (
            *(state.proposed.proposals if state.proposed else ()),
            *(state.probed.composed if state.probed else ()),
        )
    }
    for one in state.gated:
        last = state.canaried if state.canaried and one is state.gated[-1] else one
        yield Tried(
            candidate=one.candidate,
            editor=notes.get(one.proposal, ""),
            word=last.verdict.word,
            rule=last.verdict.reasons[0].rule if last.verdict.word != "admitted" else "",
        )
