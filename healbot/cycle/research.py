"""The phases that run agents, checks and editors. They hold nothing that could change the world.

Knows runs, editors and policies; each phase returns the one entry that ends it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from healbot.cycle.draws import Draws, runs_behind
from healbot.cycle.evaluate import Bench
from healbot.cycle.measure import diagnose, earn, measure
from healbot.cycle.memory import Memory, nothing_remembered, skips
from healbot.cycle.propose import Guard, compose, load_proposal, probe, propose
from healbot.cycle.reading import Ground
from healbot.cycle.trial import canary_rows, gate_rows, hold
from healbot.errors import HarnessChangedError
from healbot.ports import Editor, Journal, Voice
from healbot.records.brief import Brief, FailedCase
from healbot.records.case import Case, Split, Standing
from healbot.records.edit import Proposal
from healbot.records.harness import Harness
from healbot.records.ledger import (
    Body,
    Canaried,
    Diagnosed,
    Earned,
    Gated,
    Measured,
    Probed,
    Proposed,
    Used,
)
from healbot.records.lesson import Lesson
from healbot.records.run import Outcome, Run
from healbot.records.settings import AgentSettings, GateSettings, Mode
from healbot.records.verdict import Comparison, Reason, Verdict, Word
from healbot.rules.canary import judge_canary
from healbot.rules.gate import judge_gate
from healbot.rules.layout import instructions_path
from healbot.rules.noes import refused_edits
from healbot.rules.order import Phase, next_candidate
from healbot.rules.progress import CycleState, Progress

AUTO_NEEDS_RUNS = 2
"""Auto mode learns only from a failure seen in so many distinct runs (spec: modes)."""


class Research(NamedTuple):
    """What the reading phases of one cycle work with."""

    agent: AgentSettings
    ground: Ground
    bench: Bench
    editors: Sequence[Editor]
    lessons: Sequence[Lesson]
    guard: Guard
    journal: Journal
    numbers: GateSettings
    voice: Voice
    remember: Callable[[Progress], Memory] = nothing_remembered

    def perform(self, phase: Phase, state: CycleState, progress: Progress) -> Body:
        """Carry out one phase; returns the entry that ends it."""
        steps: Mapping[Phase, Callable[[CycleState, Progress], Body]] = {
            Phase.MEASURE: self._measure,
            Phase.DIAGNOSE: self._diagnose,
            Phase.EDIT: self._edit,
            Phase.PROBE: self._probe,
            Phase.EARN: self._earn,
            Phase.GATE: self._gate,
            Phase.CANARY: self._canary,
        }
        return steps[phase](state, progress)

    def _measure(self, _: CycleState, progress: Progress) -> Measured:
        train = self.ground.of(Split.TRAIN)
        self.voice.phase("measure", len(train) * self.numbers.repeats)
        draws = Draws(self.bench, progress)
        body = measure(draws, self.ground.harness, train, repeats=self.numbers.repeats)
        self._say_unscored(body)
        return body

    def _say_unscored(self, body: Measured) -> None:
        """Tell a person that a case could not be scored; what the agent printed is not repeated."""
        for run in runs_behind(body.used, self.bench):
            if run.case_id in body.unscored and run.key.repeat == body.used[0].repeats[0]:
                why = [one.check for one in run.checks if one.outcome == Outcome.NONE][:1]
                said = "; ".join(run.notes) if run.ended == "not-started" else ""
                said = said or f"its check {''.join(why) or '-'} could not tell"
                self.voice.note(
                    f"{run.case_id} can't be scored: {said}; "
                    f"healbot cases run -k {run.case_id} says more"
                )

    def _diagnose(self, state: CycleState, progress: Progress) -> Diagnosed:
        assert state.measured  # noqa: S101 - the order of phases
        failing = [self.ground.cases[one] for one in state.measured.failing]
        self.voice.phase("diagnose", 0)
        return diagnose(
            Draws(self.bench, progress),
            self.ground.harness,
            failing,
            measured=runs_behind(state.measured.used, self.bench),
        )

    def _edit(self, state: CycleState, progress: Progress) -> Proposed:
        assert state.diagnosed  # noqa: S101 - the order of phases
        self.voice.phase("edit", 0)
        brief = self._brief(state, progress)
        if not brief.failed:
            return Proposed(proposals=(), note="each failure was seen in one run only")
        memory = self.remember(progress)
        body = propose(
            self.editors,
            brief.model_copy(update={"tried": memory.told}),
            guard=self.guard,
            journal=self.journal,
            most=state.opened.probes,
            memory=memory,
        )
        for line in (*skips(body.proposals), *([body.note] if body.proposals else [])):
            if line:
                self.voice.note(line)
        return body

    def _brief(self, state: CycleState, progress: Progress) -> Brief:
        needed = AUTO_NEEDS_RUNS if state.opened.mode == Mode.AUTO else 1
        runs = _runs(state, self.bench, Outcome.FAIL)
        passed = _runs(state, self.bench, Outcome.PASS)
        failed = [
            FailedCase(
                case=self.ground.cases[one.case_id],
                finding=one,
                runs=runs.get(one.case_id, ()),
                passed=passed.get(one.case_id, ()),
            )
            for one in (state.diagnosed.findings if state.diagnosed else ())
            if one.was_real and one.distinct_runs >= needed
        ]
        return Brief(
            agent=self.agent.name,
            instructions=instructions_path(self.ground.harness, self.agent),
            harness=self.ground.harness,
            failed=tuple(failed),
            lessons=tuple(self.lessons),
            refused_before=refused_edits(progress),
        )

    def _probe(self, state: CycleState, progress: Progress) -> Probed:
        assert state.proposed  # noqa: S101 - the order of phases
        assert state.measured  # noqa: S101 - the order of phases
        live = [note.proposal for note in state.proposed.proposals if not note.refused]
        failing = [
            (self.ground.cases[used.case_id], used.outcomes.count(Outcome.PASS))
            for used in state.measured.used
            if used.case_id in state.measured.failing
        ]
        self.voice.phase("probe", 0 if len(live) == 1 else len(live) * len(failing))
        body = probe(
            Draws(self.bench, progress),
            [load_proposal(self.journal, digest) for digest in live],
            failing=failing,
            guard=self.guard,
            repeats=self.numbers.repeats,
            join=lambda supported: compose(
                supported,
                self._brief(state, progress),
                guard=self.guard,
                journal=self.journal,
                memory=self.remember(progress),
            ),
        )
        for line in skips(body.composed):
            self.voice.note(line)
        return body

    def _earn(self, state: CycleState, progress: Progress) -> Earned:
        chosen = [self.ground.cases[one] for one in state.opened.earn if one in self.ground.cases]
        failing = set(state.measured.failing if state.measured else ())
        plain = [case for case in chosen if case.id not in failing]
        self.voice.phase("earn", len(plain) * self.numbers.canary.repeats)
        return earn(
            Draws(self.bench, progress), self.ground.harness, plain, numbers=self.numbers.canary
        )

    def _gate(self, state: CycleState, progress: Progress) -> Gated:
        digest = next_candidate(state, fallbacks=state.opened.fallbacks)
        proposal, candidate = self._candidate(digest or "")
        self.voice.phase("gate", 0)
        draws = Draws(self.bench, progress)
        verdict, _ = hold(
            lambda seen: judge_gate(seen, self.numbers),
            gate_rows(
                self.ground.of(Split.TRAIN),
                self.ground.of(Split.HELDOUT),
                claims=self._claims(proposal),
            ),
            draws=draws,
            cases=self.ground.cases,
            sides=(self.ground.harness, candidate),
        )
        runs = runs_behind(draws.used, self.bench)
        verdict = _exercised(verdict, proposal, runs=runs, candidate=candidate)
        return Gated(
            proposal=proposal.digest,
            candidate=candidate.revision,
            used=draws.used,
            verdict=verdict,
        )

    def _canary(self, state: CycleState, progress: Progress) -> Canaried:
        gated = state.gated[-1]
        proposal, candidate = self._candidate(gated.proposal)
        self.voice.phase("canary", 0)
        corpus = corpus_of(self.ground, progress.standings, state.opened.left_out)
        train = self.ground.of(Split.TRAIN)
        start = canary_rows(
            train, corpus, standings=progress.standings, claims=self._claims(proposal)
        )
        before = gate_evidence(gated.used, self.ground, proposal, claims=self._claims(proposal))
        draws = Draws(self.bench, progress)
        verdict, _ = hold(
            lambda seen: judge_canary(seen, before, self.numbers),
            start,
            draws=draws,
            cases=self.ground.cases,
            sides=(self.ground.harness, candidate),
        )
        return Canaried(
            number=state.pull.number if state.pull else None,
            candidate=candidate.revision,
            used=draws.used,
            verdict=verdict,
        )

    def _candidate(self, digest: str) -> tuple[Proposal, Harness]:
        return candidate_of(self.journal, digest, self.guard)

    def _claims(self, proposal: Proposal) -> tuple[str, ...]:
        return tuple(one for one in proposal.claims if one in self.ground.cases)


def candidate_of(journal: Journal, digest: str, guard: Guard) -> tuple[Proposal, Harness]:
    """Return a proposal and its candidate, computed afresh from the edit and checked.

    Raises:
        HarnessChangedError: The edit no longer yields the revision that was judged.
    """
    proposal = load_proposal(journal, digest)
    candidate = guard(proposal.edit).candidate
    if candidate is None or candidate.revision != proposal.candidate:
        raise HarnessChangedError(
            "The edit no longer yields the revision that was judged.",
            "Nothing was changed; run the cycle again.",
        )
    return proposal, candidate


def corpus_of(
    ground: Ground, standings: Mapping[str, Standing], left_out: Sequence[str]
) -> tuple[Case, ...]:
    """Return the cases that must keep working, less those outside the run budget."""
    return tuple(
        case
        for case in ground.of(Split.TRAIN, Split.HELDOUT)
        if case.digest in standings and case.id not in left_out
    )


def gate_evidence(
    used: Sequence[Used], ground: Ground, proposal: Proposal, *, claims: Sequence[str]
) -> Comparison:
    """Return what the gate saw, put together again from its entry."""
    sides = {(one.case_id, one.revision): one.outcomes for one in used}
    rows = gate_rows(ground.of(Split.TRAIN), ground.of(Split.HELDOUT), claims=claims)
    return Comparison(
        cases=tuple(
            row.model_copy(
                update={
                    "baseline": sides.get((row.id, proposal.baseline), ()),
                    "candidate": sides.get((row.id, proposal.candidate), ()),
                }
            )
            for row in rows.cases
        )
    )


def _runs(state: CycleState, bench: Bench, outcome: Outcome) -> Mapping[str, tuple[Run, ...]]:
    bodies = [body for body in (state.measured, state.diagnosed) if body]
    groups: dict[str, tuple[Run, ...]] = {}
    for run in runs_behind([used for body in bodies for used in body.used], bench):
        if run.outcome == outcome:
            groups[run.case_id] = (*groups.get(run.case_id, ()), run)
    return groups


def _exercised(
    verdict: Verdict, proposal: Proposal, *, runs: Sequence[Run], candidate: Harness
) -> Verdict:
    """Turn an admission into ``not-exercised`` where the runs are known not to have read the edit.

    Only an edit that touches nothing but skills can go unread; a runner that does not report what
    was read leaves it unknown, which is not the same.
    """
    paths = {hunk.path for hunk in proposal.edit.hunks}
    skills = {file.skill for file in candidate.files if file.path in paths}
    mine = [run for run in runs if run.key.revision == candidate.revision]
    unknown = None in skills or not mine or any(run.skills_read is None for run in mine)
    if verdict.word != Word.ADMITTED or unknown:
        return verdict
    if any(skills & set(run.skills_read or ()) for run in mine):
        return verdict
    reason = Reason(
        rule="not-exercised",
        text=f"no run of the candidate read {', '.join(sorted(one or '' for one in skills))}",
    )
    return verdict.model_copy(update={"word": Word.NOT_EXERCISED, "reasons": (reason,)})
