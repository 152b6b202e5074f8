"""From the first run to failures that are known to be real, and to standings that were earned.

Knows runs under the baseline only. Nothing is chosen by its outcome except what is diagnosed.
"""

from collections.abc import Mapping, Sequence

from healbot.cycle.draws import Draws
from healbot.records.case import Case, Standing
from healbot.records.harness import Harness
from healbot.records.ledger import Diagnosed, Earned, Finding, Measured
from healbot.records.run import Outcome, Run
from healbot.records.settings import CanarySettings
from healbot.rules.signature import signature_of

RETRIES_PLAIN = 1
RETRIES_NOISY = 3
"""Retry probe: once, or three times by majority where the repeats were mixed (spec: loop)."""

UNKNOWN = "unknown:-:-"
"""The signature where no failed run of the case is on this machine."""


def measure(draws: Draws, baseline: Harness, train: Sequence[Case], *, repeats: int) -> Measured:
    """Run every training case; a case is failing when the majority of its repeats fail."""
    runs = draws.run([(baseline, case, repeats) for case in train])
    groups = _by_case(runs)
    failing, unscored = [], []
    for case in train:
        word = majority(groups.get(case.digest, ()))
        if word == Outcome.FAIL:
            failing.append(case.id)
        elif word == Outcome.NONE:
            unscored.append(case.id)
    return Measured(used=draws.used, failing=tuple(failing), unscored=tuple(unscored))


def diagnose(
    draws: Draws, baseline: Harness, failing: Sequence[Case], *, measured: Sequence[Run]
) -> Diagnosed:
    """Replay each failing case unchanged, and name its failure.

    A case whose plain retry passes was a flake (``was_real`` False).
    """
    before = _by_case(measured)
    asked = []
    for case in failing:
        outcomes = {run.outcome for run in before.get(case.digest, ())}
        count = RETRIES_PLAIN if outcomes == {Outcome.FAIL} else RETRIES_NOISY
        asked.append((baseline, case, count))
    retried = _by_case(draws.run(asked))
    findings = []
    for case in failing:
        retries = retried.get(case.digest, ())
        word = majority(retries)
        failed = [
            run for run in (*before.get(case.digest, ()), *retries) if run.outcome == Outcome.FAIL
        ]
        signatures = [signature_of(case, run) for run in failed]
        most = max(dict.fromkeys(signatures), key=signatures.count, default=UNKNOWN)
        findings.append(
            Finding(
                case_id=case.id,
                signature=most,
                distinct_runs=signatures.count(most),
                was_real=None if word == Outcome.NONE else word == Outcome.FAIL,
            )
        )
    return Diagnosed(used=draws.used, findings=tuple(findings))


def earn(
    draws: Draws, baseline: Harness, chosen: Sequence[Case], *, numbers: CanarySettings
) -> Earned:
    """Give cases without a standing six baseline runs (a setting), and protect those that pass.

    These runs are fresh, so they are not chosen for their outcome.
    """
    groups = _by_case(draws.run([(baseline, case, numbers.repeats) for case in chosen]))
    standings: dict[str, Standing] = {}
    for case in chosen:
        passed = sum(run.outcome == Outcome.PASS for run in groups.get(case.digest, ()))
        if passed >= numbers.passes:
            standings[case.digest] = Standing.PROTECTED
    return Earned(used=draws.used, standings=standings)


def majority(runs: Sequence[Run]) -> Outcome:
    """Return what more than half of the runs say; "could not tell" where neither does."""
    for word in (Outcome.FAIL, Outcome.PASS):
        if sum(run.outcome == word for run in runs) * 2 > len(runs):
            return word
    return Outcome.NONE


def _by_case(runs: Sequence[Run]) -> Mapping[str, list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.key.case, []).append(run)
    return groups
