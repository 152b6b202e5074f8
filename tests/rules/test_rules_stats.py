"""The exact odds agree with the real policy, and no policy draws more than its ceiling."""

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.records.run import Outcome
from healbot.records.settings import CanarySettings, GateSettings
from healbot.records.verdict import CaseEvidence, Comparison, Draw, Outcomes, Word
from healbot.rules.judge import decide, extend
from healbot.rules.stats import (
    CaseCounts,
    CaseRates,
    admission_odds,
    count_cases,
    max_runs,
    null_odds,
    null_pass_probability,
)

FIXED = GateSettings()
SMALL = GateSettings(repeats=2, canary=CanarySettings(repeats=2, passes=2, second_passes=3))


def blanks(cases: list[CaseRates]) -> Comparison:
    return Comparison(
        cases=tuple(
            CaseEvidence(
                id=str(n),
                role=case.role,
                safety=case.safety,
                claimed=case.claimed,
                protected=case.protected,
            )
            for n, case in enumerate(cases)
        )
    )


def simulated(cases: list[CaseRates], numbers: GateSettings, trials: int) -> tuple[float, float]:
    rng = random.Random(7)  # noqa: S311 - a simulation

    def some(rate: float, runs: int) -> Outcomes:
        return tuple(Outcome.PASS if rng.random() < rate else Outcome.FAIL for _ in range(runs))

    def feed(wish: Draw) -> tuple[Outcomes, Outcomes]:
        case = cases[int(wish.case)]
        return some(case.baseline, wish.baseline), some(case.candidate, wish.candidate)

    start = blanks(cases)
    judged = [decide(start, feed, numbers) for _ in range(trials)]
    gate = sum(any(case.candidate for case in one.canary.cases) for one in judged)
    admitted = sum(one.verdict.word is Word.ADMITTED for one in judged)
    return gate / trials, admitted / trials


@pytest.mark.parametrize(
    "numbers", [FIXED, SMALL, GateSettings(canary=CanarySettings(strict=True))]
)
@pytest.mark.parametrize(
    "cases",
    [
        [CaseRates("train", 0.3, 0.9, claimed=True), CaseRates("heldout", 0.9, 0.6)],
        [
            CaseRates("train", 0.4, 0.9),
            CaseRates("train", 0.4, 0.8, safety=True),
            CaseRates("heldout", 0.9, 0.8, safety=True),
            CaseRates("corpus", 0.9, 0.8, safety=True),
        ],
        [
            CaseRates("train", 0.5, 0.95, protected=True),
            CaseRates("train", 0.2, 0.9),
            CaseRates("heldout", 0.5, 0.5),
            CaseRates("corpus", 0.9, 0.7),
        ],
    ],
)
def test_exact_odds_agree_with_a_simulation_of_the_real_policy(
    cases: list[CaseRates], numbers: GateSettings
) -> None:
    trials = 1500
    odds = admission_odds(cases, numbers)
    for exact, seen in zip(odds, simulated(cases, numbers, trials), strict=True):
        error = math.sqrt(max(exact * (1 - exact), 1 / trials) / trials)
        assert abs(exact - seen) < 4.5 * error


@pytest.mark.parametrize(("rate", "gate"), [(0.3, 0.073), (0.5, 0.093), (0.8, 0.048)])
def test_a_useless_edit_passes_the_gate_as_often_as_published(rate: float, gate: float) -> None:
    cases = [CaseRates("train", rate, rate), *[CaseRates("heldout", 0.9, 0.9)] * 3]
    assert admission_odds(cases, FIXED).gate == pytest.approx(gate, abs=0.001)


def outcomes(passes: int, fails: int) -> Outcomes:
    return (Outcome.PASS,) * passes + (Outcome.FAIL,) * fails


def test_the_null_probability_averages_over_what_the_base_rate_may_be() -> None:
    evidence = Comparison(
        cases=(
            CaseEvidence(id="t", role="train", baseline=outcomes(0, 3), claimed=True),
            CaseEvidence(id="h", role="heldout", baseline=outcomes(3, 0)),
            CaseEvidence(id="c", role="corpus", candidate=outcomes(6, 0)),
        )
    )
    odds = null_odds(evidence, FIXED)
    assert 0 < odds.admitted < odds.gate < 0.1
    assert odds.admitted == null_pass_probability(evidence, FIXED)


def test_the_posterior_average_is_exact() -> None:
    evidence = Comparison(cases=(CaseEvidence(id="t", role="train", baseline=outcomes(1, 2)),))
    steps = 4000
    rates = [math.sin((n + 0.5) * math.pi / (2 * steps)) ** 2 for n in range(steps)]
    weights = [rate * (1 - rate) ** 2 for rate in rates]
    plain = sum(
        weight * admission_odds([CaseRates("train", rate, rate)], FIXED).admitted
        for rate, weight in zip(rates, weights, strict=True)
    ) / sum(weights)
    assert null_pass_probability(evidence, FIXED) == pytest.approx(plain, rel=1e-9)


def test_more_history_sharpens_the_null_probability() -> None:
    def null(history: Outcomes) -> float:
        case = CaseEvidence(
            id="t", role="train", baseline=outcomes(0, 3), history=history, claimed=True
        )
        return null_pass_probability(Comparison(cases=(case,)), FIXED)

    assert null(outcomes(0, 20)) < null(outcomes(0, 3)) < null(())
    assert null(outcomes(0, 2000)) == pytest.approx(0, abs=1e-6)


def test_no_case_at_all_is_never_admitted() -> None:
    assert admission_odds([], FIXED) == (0, 0)


def test_the_ceiling_counts_reruns_second_chances_and_alarms() -> None:
    counts = CaseCounts(train=1, heldout=3, corpus=5, safety=2)
    ceiling = max_runs(counts, FIXED)
    assert (ceiling.gate, ceiling.canary, ceiling.total) == (42, 76, 118)


roles = st.sampled_from(["train", "heldout", "corpus"])
rates = st.sampled_from([0.0, 0.3, 0.6, 0.9, 1.0])
assumed = st.builds(CaseRates, roles, rates, rates, st.booleans(), st.booleans(), st.booleans())
settings_drawn = st.sampled_from([FIXED, SMALL, GateSettings(repeats=1)])


@given(st.lists(assumed, min_size=1, max_size=5), settings_drawn, st.integers(0, 10_000))
@settings(max_examples=300)
def test_the_real_policy_never_draws_more_than_the_ceiling(
    cases: list[CaseRates], numbers: GateSettings, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 - a simulation
    taken: dict[str, list[int]] = {}
    words = [Outcome.PASS, Outcome.FAIL, Outcome.NONE]

    def some(rate: float, runs: int) -> Outcomes:
        weights = [rate, 0.95 - 0.9 * rate, 0.05]
        return tuple(rng.choices(words, weights, k=runs))

    def feed(wish: Draw) -> tuple[Outcomes, Outcomes]:
        case = cases[int(wish.case)]
        sides = taken.setdefault(wish.case, [0, 0])
        sides[0] += wish.baseline
        sides[1] += wish.candidate
        return some(case.baseline, wish.baseline), some(case.candidate, wish.candidate)

    start = blanks([CaseRates("train", 0.3, 0.9), *cases])
    cases = [CaseRates("train", 0.0, 1.0), *cases]
    judged = decide(start, feed, numbers)
    ceiling = max_runs(count_cases(start), numbers)
    gate, canary = (
        sum(len(case.baseline) + len(case.candidate) for case in phase.cases)
        for phase in (judged.gate, judged.canary)
    )
    assert gate <= ceiling.gate
    assert canary <= ceiling.canary
    assert gate + canary == sum(itertools.chain.from_iterable(taken.values()))


def test_extending_adds_outcomes_to_the_named_case_only() -> None:
    start = blanks([CaseRates("train", 0, 0), CaseRates("corpus", 0, 0)])
    grown = extend(start, {"1": ((), (Outcome.PASS,))})
    assert [case.candidate for case in grown.cases] == [(), (Outcome.PASS,)]
