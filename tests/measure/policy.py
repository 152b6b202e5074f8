"""Prints what the fixed policy admits, by driving the real gate and canary, beside the claims.

Run it with ``python -m tests.measure.policy [--trials N] [--seed N]``. It knows the policy only
through its public functions; outcomes come from a seeded generator. The exact odds stand beside the
simulated ones, so that a fault in either shows.
"""

import argparse
import math
import random
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from healbot.records.run import Outcome
from healbot.records.settings import CanarySettings, GateSettings
from healbot.records.verdict import CaseEvidence, Comparison, Draw, Outcomes, Word
from healbot.rules.judge import Feed, Judgement, decide
from healbot.rules.stats import CaseRates, admission_odds


class Scenario(NamedTuple):
    """One edit against one set of cases, and what the specification says of it."""

    title: str
    cases: tuple[CaseRates, ...]
    numbers: GateSettings
    claim: str


class Result(NamedTuple):
    """Counts over trials."""

    trials: int
    gate: int
    admitted: int
    runs: int
    gate_runs: int


def evidence(cases: Sequence[CaseRates]) -> Comparison:
    """Return the cases without outcomes."""
    return Comparison(
        cases=tuple(
            CaseEvidence(
                id=f"case-{n}",
                role=case.role,
                safety=case.safety,
                claimed=case.claimed or None,
                protected=case.protected,
            )
            for n, case in enumerate(cases)
        )
    )


def random_feed(cases: Sequence[CaseRates], rng: random.Random) -> Feed:
    """Hand out random outcomes at the cases' rates."""
    rates = {f"case-{n}": case for n, case in enumerate(cases)}

    def some(rate: float, runs: int) -> Outcomes:
        return tuple(Outcome.PASS if rng.random() < rate else Outcome.FAIL for _ in range(runs))

    def feed(wish: Draw) -> tuple[Outcomes, Outcomes]:
        case = rates[wish.case]
        return some(case.baseline, wish.baseline), some(case.candidate, wish.candidate)

    return feed


def drawn(comparison: Comparison) -> int:
    """Count runs of both sides."""
    return sum(len(case.baseline) + len(case.candidate) for case in comparison.cases)


def simulate(
    cases: Sequence[CaseRates], numbers: GateSettings, *, trials: int, seed: int
) -> Result:
    """Drive the real policy."""
    rng = random.Random(seed)  # noqa: S311 - a simulation
    start = evidence(cases)
    judged: list[Judgement] = [
        decide(start, random_feed(cases, rng), numbers) for _ in range(trials)
    ]
    return Result(
        trials=trials,
        gate=sum(drawn(one.canary) > 0 for one in judged),
        admitted=sum(one.verdict.word is Word.ADMITTED for one in judged),
        runs=sum(drawn(one.gate) + drawn(one.canary) for one in judged),
        gate_runs=sum(drawn(one.gate) for one in judged),
    )


def scene(
    before: float, after: float, *, harm: float = 0.9, others: Sequence[float] = ()
) -> tuple[CaseRates, ...]:
    """Return the specification's set: 3 held-out and 5 corpus cases at 0.9, and training cases.

    Args:
        before, after: The claimed training case's rates.
        harm: The candidate's rate on the first held-out case.
        others: Rates of further training cases that the edit does nothing for.
    """
    return (
        CaseRates("train", before, after, claimed=True),
        *(CaseRates("train", rate, rate) for rate in others),
        CaseRates("heldout", 0.9, harm),
        *(CaseRates("heldout", 0.9, 0.9) for _ in range(2)),
        *(CaseRates("corpus", 0.9, 0.9) for _ in range(5)),
    )


def scenarios() -> tuple[Scenario, ...]:
    """Return what the specification gives numbers for; it does not say how many training cases."""
    fixed = GateSettings()
    strict = GateSettings(canary=CanarySettings(strict=True))
    rates = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    useless = "7-11 % (gate)"
    harm = "16-28 %"
    return (
        *(Scenario(f"useless edit at {rate}", scene(rate, rate), fixed, useless) for rate in rates),
        *(
            Scenario(
                f"  two training cases at {rate}", scene(rate, rate, others=(rate,)), fixed, useless
            )
            for rate in rates
        ),
        Scenario("fix 0.3 to 0.9, held-out 0.9 to 0.5", scene(0.3, 0.9, harm=0.5), fixed, harm),
        Scenario("fix 0.3 to 1.0, held-out 0.9 to 0.5", scene(0.3, 1.0, harm=0.5), fixed, harm),
        Scenario("fix 0.0 to 1.0, held-out 0.9 to 0.5", scene(0.0, 1.0, harm=0.5), fixed, harm),
        Scenario("true fix 0.3 to 0.9", scene(0.3, 0.9), fixed, "45 % (canary 4 of 6)"),
        Scenario("  and one unsolved at 0.3", scene(0.3, 0.9, others=(0.3,)), fixed, "-"),
        Scenario("  and two, strict", scene(0.3, 0.9, others=(0.3, 0.3)), strict, "3 in 100,000"),
    )


def line(scenario: Scenario, *, trials: int, seed: int) -> str:
    """Simulate one scenario and write its line."""
    result = simulate(scenario.cases, scenario.numbers, trials=trials, seed=seed)
    odds = admission_odds(scenario.cases, scenario.numbers)
    gate, admitted = result.gate / trials, result.admitted / trials
    error = 100 * math.sqrt(max(admitted * (1 - admitted), 1 / trials) / trials)
    return (
        f"{scenario.title:<40} {100 * gate:7.2f} {100 * odds.gate:7.2f}"
        f" {100 * admitted:9.3f} {100 * odds.admitted:9.3f} {error:6.2f}"
        f" {result.gate_runs / trials:7.1f} {result.runs / trials:7.1f}  {scenario.claim}"
    )


def main(argv: Sequence[str], write: Callable[[str], object]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    write(
        f"{options.trials} trials a line, seed {options.seed}; all but the last columns in %\n"
        f"{'edit':<40} {'gate':>7} {'exact':>7} {'admitted':>9} {'exact':>9} {'+-':>6}"
        f" {'g.runs':>7} {'runs':>7}  specification\n"
    )
    for scenario in scenarios():
        write(line(scenario, trials=options.trials, seed=options.seed) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdout.write))
