"""What the fixed policy's numbers mean: exact odds of admission, and the most runs it can draw.

Knows the policy's rules as probabilities (the same numbers, no simulation, every run scored, tokens
aside); tests hold it against simulations that drive the real gate and canary.
"""

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from healbot.records.run import Outcome
from healbot.records.settings import CanarySettings, GateSettings
from healbot.records.verdict import CaseEvidence, Comparison, Outcomes, Role
from healbot.rules.gate import drop_refused, gain_needed


class CaseRates(NamedTuple):
    """One case's assumed pass rates (0 to 1) under both revisions, and what it may decide."""

    role: Role
    baseline: float
    candidate: float
    safety: bool = False
    claimed: bool = False
    protected: bool = False


class Odds(NamedTuple):
    """Probabilities that the gate admits, and that gate and canary both do."""

    gate: float
    admitted: float


class CaseCounts(NamedTuple):
    """How many cases there are; ``safety`` counts those among train and corpus."""

    train: int
    heldout: int
    corpus: int
    safety: int


class RunCeiling(NamedTuple):
    """The most runs, both sides together, that one decision can draw."""

    gate: int
    canary: int

    @property
    def total(self) -> int:
        """Both."""
        return self.gate + self.canary


class _Terms(NamedTuple):
    """One case's probabilities; the policy's odds are differences of products of these over cases.

    For a training case: it got no worse at the gate (``held``), and did not gain (``idle``); it
    passed gate and canary (``kept``), and confirmed no gain (``silent``). A case of another role
    counts the same in both of a pair, so that the products carry it along.
    """

    held: float
    idle: float
    kept: float
    silent: float


def count_cases(comparison: Comparison) -> CaseCounts:
    """Count a comparison's cases by role."""
    roles = [case.role for case in comparison.cases]
    safety = sum(case.safety and case.role != "heldout" for case in comparison.cases)
    return CaseCounts(roles.count("train"), roles.count("heldout"), roles.count("corpus"), safety)


def max_runs(counts: CaseCounts, numbers: GateSettings) -> RunCeiling:
    """Return the most runs that gate and canary can draw, both sides together.

    Gate: the repeats on both sides, and for held-out cases once more. Canary: the repeats and once
    more (second chance, or the baseline of an unsolved case), and two for a safety case's alarm.
    """
    gate = 2 * numbers.repeats * (counts.train + 2 * counts.heldout)
    canary = 2 * numbers.canary.repeats * (counts.train + counts.corpus) + 2 * counts.safety
    return RunCeiling(gate, canary)


def admission_odds(cases: Sequence[CaseRates], numbers: GateSettings) -> Odds:
    """Return the exact odds that the fixed policy admits an edit with given rates."""
    return _odds([_terms(case, numbers) for case in cases])


def null_odds(evidence: Comparison, numbers: GateSettings) -> Odds:
    """Return the odds that an edit which does nothing passes, at the base rates measured here.

    Both sides of a case get one rate. It is not known but measured, so it is averaged over its
    posterior given the case's baseline runs and history (Jeffreys' prior: three failures in three
    do not make a rate of zero). Where there are none of these, its candidate runs are used; a case
    with no scored run at all counts as one that always passes, which errs upwards.
    """
    return _odds([_null_terms(case, numbers) for case in evidence.cases])


def null_pass_probability(evidence: Comparison, numbers: GateSettings) -> float:
    """Return how likely an edit that does nothing would have been admitted: the card's line."""
    return null_odds(evidence, numbers).admitted


def _odds(terms: Sequence[_Terms]) -> Odds:
    """Combine cases: none worse, and not all idle; all kept, and not all silent."""
    if not terms:
        return Odds(0.0, 0.0)
    held, idle, kept, silent = (math.prod(column) for column in zip(*terms, strict=True))
    return Odds(max(0.0, held - idle), max(0.0, kept - silent))


def _terms(case: CaseRates, numbers: GateSettings) -> _Terms:
    """Compute a case's terms at its pair of rates."""
    if case.role == "heldout":
        kept = _heldout_odds(case, numbers)
        return _Terms(kept, kept, kept, kept)
    if case.role == "corpus":
        kept = _canary_odds(case, "corpus", numbers.canary)
        return _Terms(1.0, 1.0, kept, kept)
    return _train_terms(case, numbers)


def _train_terms(case: CaseRates, numbers: GateSettings) -> _Terms:
    """Sum over all outcomes of a training case at the gate."""
    repeats, canary = numbers.repeats, numbers.canary
    rule = "corpus" if case.protected and not canary.strict else "must"
    must = _canary_odds(case, rule, canary)
    unsolved, short = (_canary_odds(case, name, canary) for name in ("unsolved", "short"))
    before, after = _pmf(repeats, case.baseline), _pmf(repeats, case.candidate)
    held = idle = kept = silent = 0.0
    for b, c in itertools.combinations_with_replacement(range(repeats + 1), 2):
        here, gained = before[b] * after[c], c - b >= gain_needed(numbers)
        bound = case.claimed or canary.strict or rule == "corpus" or 2 * b > repeats
        held += here
        idle += 0.0 if gained else here
        kept += here * (must if bound else unsolved)
        if gained:
            silent += 0.0 if bound else here * short
        else:
            silent += here * (must if bound else unsolved)
    return _Terms(held, idle, kept, silent)


def _canary_odds(case: CaseRates, rule: str, canary: CanarySettings) -> float:
    """Return how likely one case passes the canary under one of its rules.

    ``short``: as ``unsolved``, and it did not pass often enough to confirm a gain.
    """
    runs = canary.repeats
    calm = 1 - (1 - case.candidate) * case.baseline if case.safety else 1.0
    below = _below(runs, case.baseline)
    chance = _below(runs, case.candidate)

    def kept(passes: int) -> float:
        if rule == "unsolved" or (rule == "short" and passes < canary.passes):
            return below[passes + 1]
        if rule == "short":
            return 0.0
        if passes >= canary.passes:
            return 1.0
        short = canary.second_passes - passes
        return 1 - chance[min(max(short, 0), runs + 1)] if rule == "corpus" else 0.0

    return sum(
        weight * kept(passes) * (1.0 if passes == runs else calm)
        for passes, weight in enumerate(_pmf(runs, case.candidate))
    )


def _heldout_odds(case: CaseRates, numbers: GateSettings) -> float:
    """Return how likely a held-out case does not refuse: no drop, or a rerun that clears it."""
    runs, refused = numbers.repeats, drop_refused(numbers)
    before, after = _pmf(runs, case.baseline), _pmf(runs, case.candidate)
    cleared = [0.0] * (2 * runs + 1)
    dropped = [0.0] * (runs + 1)
    for b, c in itertools.product(range(runs + 1), repeat=2):
        confirmed = case.safety and c < runs and 2 * b > runs
        cleared[b - c + runs] += 0.0 if confirmed else before[b] * after[c]
        dropped[max(0, b - c)] += before[b] * after[c]
    return dropped[0] + sum(
        weight * sum(cleared[: max(0, min(2 * runs + 1, refused - drop + runs))])
        for drop, weight in enumerate(dropped)
        if drop
    )


def _null_terms(case: CaseEvidence, numbers: GateSettings) -> _Terms:
    """Average a case's terms over the posterior of its one rate."""
    passes, runs = _scored((*case.baseline, *case.history))
    if not runs:
        passes, runs = _scored(case.candidate)
    rates = CaseRates(
        case.role, 1.0, 1.0, case.safety, claimed=bool(case.claimed), protected=case.protected
    )
    if not runs:
        return _terms(rates, numbers)
    degree = 4 * numbers.repeats + 4 * numbers.canary.repeats + runs
    sums = [0.0] * len(_Terms._fields)
    for rate, weight in _posterior(passes, runs, degree // 2 + 1):
        parts = _terms(rates._replace(baseline=rate, candidate=rate), numbers)
        sums = [total + weight * part for total, part in zip(sums, parts, strict=True)]
    return _Terms(*sums)


def _scored(outcomes: Outcomes) -> tuple[int, int]:
    """Count passes and scored runs."""
    passes = sum(outcome is Outcome.PASS for outcome in outcomes)
    return passes, passes + sum(outcome is Outcome.FAIL for outcome in outcomes)


def _posterior(passes: int, runs: int, nodes: int) -> list[tuple[float, float]]:
    """Return rates and weights of a Beta(passes + 1/2, fails + 1/2) posterior.

    Gauss-Chebyshev nodes: exact for polynomials up to degree ``2 * nodes - 1``, which the policy's
    odds times the likelihood are.
    """
    rates = [math.sin((2 * place + 1) * math.pi / (4 * nodes)) ** 2 for place in range(nodes)]
    logs = [passes * math.log(rate) + (runs - passes) * math.log1p(-rate) for rate in rates]
    top = max(logs)
    weights = [math.exp(one - top) for one in logs]
    total = sum(weights)
    return [(rate, weight / total) for rate, weight in zip(rates, weights, strict=True)]


@lru_cache(maxsize=4096)
def _pmf(runs: int, rate: float) -> tuple[float, ...]:
    """Return the binomial probabilities of 0 to ``runs`` passes."""
    return tuple(
        math.comb(runs, passes) * rate**passes * (1 - rate) ** (runs - passes)
        for passes in range(runs + 1)
    )


def _below(runs: int, rate: float) -> tuple[float, ...]:
    """Return the probability of fewer than n passes, for n from 0 to ``runs + 1``."""
    below = [0.0]
    for weight in _pmf(runs, rate):
        below.append(below[-1] + weight)
    return tuple(below)
