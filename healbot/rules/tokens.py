"""The gate's cost rule: tokens per passing run, compared only where both sides pass.

Knows counts of tokens and outcomes; no price. What a runner does not report is unknown: a case with
an unreported passing run is not compared, and a comparison with no case is said, not guessed.

A case's cost is the mean over its passing runs; the sides are compared by the sums of these means,
so that a case that now passes more often does not look like a case that costs more. With a limit
``1 + rise`` the rule reads: sum over cases of (candidate mean - limit * baseline mean) <= 0, which
makes the worst and the best completion of unscored runs a sum of each case's own.
"""

from collections.abc import Sequence
from typing import NamedTuple

from healbot.records.run import Outcome
from healbot.records.verdict import CaseEvidence, Outcomes, Reason
from healbot.rules.tally import Answer, Ruling, both, majority, tally, told

UNPRICED = "tokens-unknown"
"""The note that says where tokens could not be compared."""

ROUNDING = 1e-6
"""Tokens; means are floats, and exactly the limit is within it."""


class _Span(NamedTuple):
    """The least and the most that a case may add to the sum, and each side's least mean."""

    low: float
    high: float
    baseline: float
    candidate: float


def judge_tokens(
    cases: Sequence[CaseEvidence], rise: float
) -> tuple[list[Ruling], tuple[Reason, ...]]:
    """Rule on tokens per passing run over cases whose majority passes under both.

    Args:
        cases: The gate's training and held-out cases with all their runs.
        rise: Allowed rise as a share, 0.5 for 50 %.

    Returns:
        One ruling, or none where nothing could be compared; and a note that says so.
    """
    passing = [case for case in cases if _passes(case) is not Answer.NO]
    spans = {case.id: _span(case, 1 + rise) for case in passing}
    sure = [case.id for case in passing if _passes(case) is Answer.YES]
    unknown = sorted(name for name in sure if spans[name] is None)
    text = f"tokens are not compared on {', '.join(unknown)}: not reported by every passing run"
    notes = (Reason(rule=UNPRICED, text=text),) if unknown else ()
    known = [span for span in spans.values() if span is not None]
    if not known:
        return [], notes
    within = told(
        worst=sum(span.high for span in known) <= ROUNDING,
        best=sum(span.low for span in known) <= ROUNDING,
    )
    before, after = sum(span.baseline for span in known), sum(span.candidate for span in known)
    counts = (
        f"{before / len(known):.0f} tokens per passing run before, {after / len(known):.0f} after"
    )
    text = f"{counts} (cases that pass on both sides); a rise above {rise:.0%} refuses"
    return [Ruling("tokens", within, text)], notes


def _passes(case: CaseEvidence) -> Answer:
    """Say whether the majority of a case's runs passes on both sides."""
    return both(majority(tally(case.baseline)), majority(tally(case.candidate)))


def _span(case: CaseEvidence, limit: float) -> _Span | None:
    """Bound what a case adds to the sum over all completions; None where it is not reported."""
    baseline = _means(case.baseline, case.baseline_tokens)
    candidate = _means(case.candidate, case.candidate_tokens)
    if baseline is None or candidate is None:
        return None
    low, high = candidate[0] - limit * baseline[1], candidate[1] - limit * baseline[0]
    maybe_silent = _maybe_silent(case.baseline, case.baseline_tokens) or _maybe_silent(
        case.candidate, case.candidate_tokens
    )
    if maybe_silent or _passes(case) is Answer.OPEN:
        low, high = min(low, 0), max(high, 0)
    return _Span(low, high, baseline[0], candidate[0])


def _means(outcomes: Outcomes, tokens: tuple[int | None, ...]) -> tuple[float, float] | None:
    """Return the least and the greatest mean of tokens over runs that may have passed.

    None where a passing run's tokens are unknown, or no run that may have passed reports any.
    """
    told_tokens = (*tokens, *(None for _ in outcomes))[: len(outcomes)]
    sure = [n for n, outcome in zip(told_tokens, outcomes, strict=True) if outcome is Outcome.PASS]
    if None in sure:
        return None
    maybe = [
        n
        for n, outcome in zip(told_tokens, outcomes, strict=True)
        if outcome is Outcome.NONE and n is not None
    ]
    certain = [n for n in sure if n is not None]
    low = _extreme(certain, sorted(maybe))
    high = _extreme(certain, sorted(maybe, reverse=True))
    return (min(low), max(high)) if low and high else None


def _extreme(certain: Sequence[int], ordered: Sequence[int]) -> list[float]:
    """Return the means with more and more of the ordered extra runs counted in."""
    pools = [[*certain, *ordered[:extra]] for extra in range(len(ordered) + 1)]
    return [sum(pool) / len(pool) for pool in pools if pool]


def _maybe_silent(outcomes: Outcomes, tokens: tuple[int | None, ...]) -> bool:
    """Say whether a run that may have passed did not report its tokens."""
    told_tokens = (*tokens, *(None for _ in outcomes))[: len(outcomes)]
    return any(
        outcome is Outcome.NONE and n is None
        for n, outcome in zip(told_tokens, outcomes, strict=True)
    )
