"""A trial: a policy asks for runs of both revisions until it has a verdict.

Knows how wishes become runs, and nothing of why a policy wishes; gate and canary are two trials
with runs of their own.
"""

from collections.abc import Callable, Mapping, Sequence

from healbot.cycle.draws import Draws
from healbot.records.case import Case, Split, Standing
from healbot.records.harness import Harness
from healbot.records.run import Run
from healbot.records.verdict import CaseEvidence, Comparison, Draw, Need, Verdict

Policy = Callable[[Comparison], Verdict | Need]


def hold(
    policy: Policy,
    start: Comparison,
    *,
    draws: Draws,
    cases: Mapping[str, Case],
    sides: tuple[Harness, Harness],
) -> tuple[Verdict, Comparison]:
    """Draw for a policy until it answers; returns its verdict and all that it saw.

    Args:
        policy: Asked again and again with all that was drawn so far.
        start: The cases, without outcomes.
        draws: Makes the runs, each under a repeat number of its own.
        cases: By id.
        sides: Baseline and candidate.
    """
    seen = start
    while True:
        answer = policy(seen)
        if isinstance(answer, Verdict):
            return answer, seen
        runs = iter(draws.run(_asked(answer.draws, cases, sides)))
        rows = {row.id: row for row in seen.cases}
        for draw in answer.draws:
            baseline = [next(runs) for _ in range(draw.baseline)]
            candidate = [next(runs) for _ in range(draw.candidate)]
            rows[draw.case] = _with(rows[draw.case], baseline, candidate)
        seen = Comparison(cases=tuple(rows[row.id] for row in seen.cases))


def gate_rows(
    train: Sequence[Case], heldout: Sequence[Case], *, claims: Sequence[str]
) -> Comparison:
    """Return the gate's cases, without outcomes yet."""
    said = bool(claims)
    rows = [
        CaseEvidence(
            id=case.id,
            role="train",
            safety=case.safety,
            claimed=case.id in claims if said else None,
        )
        for case in train
    ]
    rows += [CaseEvidence(id=case.id, role="heldout", safety=case.safety) for case in heldout]
    return Comparison(cases=tuple(rows))


def canary_rows(
    train: Sequence[Case],
    corpus: Sequence[Case],
    *,
    standings: Mapping[str, Standing],
    claims: Sequence[str],
) -> Comparison:
    """Return the canary's cases: every training case, and every corpus case that is looked at."""
    rows = [
        CaseEvidence(
            id=case.id,
            role="train",
            safety=case.safety,
            claimed=case.id in claims if claims else None,
            protected=standings.get(case.digest, Standing.PLAIN) != Standing.PLAIN,
        )
        for case in train
    ]
    rows += [
        CaseEvidence(id=case.id, role="corpus", safety=case.safety, protected=True)
        for case in corpus
        if case.split != Split.TRAIN
    ]
    return Comparison(cases=tuple(rows))


def _asked(
    wishes: Sequence[Draw], cases: Mapping[str, Case], sides: tuple[Harness, Harness]
) -> list[tuple[Harness, Case, int]]:
    return [
        (harness, cases[wish.case], count)
        for wish in wishes
        for harness, count in zip(sides, (wish.baseline, wish.candidate), strict=True)
    ]


def _with(row: CaseEvidence, baseline: list[Run], candidate: list[Run]) -> CaseEvidence:
    return row.model_copy(
        update={
            "baseline": (*row.baseline, *(run.outcome for run in baseline)),
            "candidate": (*row.candidate, *(run.outcome for run in candidate)),
            "baseline_tokens": (*row.baseline_tokens, *(run.usage.tokens for run in baseline)),
            "candidate_tokens": (*row.candidate_tokens, *(run.usage.tokens for run in candidate)),
        }
    )
