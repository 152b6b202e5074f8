"""Repeat numbers: which runs a decision draws, so that no run serves two decisions.

Knows what the ledger says is used already. Within one decision numbers go up from there; after a
crash the same decision draws the same numbers, and the journal answers.
"""

from collections.abc import Iterable, Sequence

from healbot.cycle.evaluate import Bench, Wanted
from healbot.records.case import Case
from healbot.records.harness import Harness
from healbot.records.ledger import Used
from healbot.records.run import Run, RunKey
from healbot.rules.progress import Progress


class Draws:
    """The runs of one decision."""

    def __init__(self, bench: Bench, progress: Progress) -> None:
        self._bench = bench
        self._progress = progress
        self._next: dict[tuple[str, str], int] = {}
        self._made: list[Run] = []

    def run(self, asked: Iterable[tuple[Harness, Case, int]]) -> tuple[Run, ...]:
        """Make so many fresh runs of each harness and case, side by side; in the order asked."""
        wanted: list[Wanted] = []
        for harness, case, count in asked:
            place = (harness.revision, case.digest)
            first = self._progress.first_repeat(self._bench.evaluator.key(harness, case, 0))
            start = self._next.get(place, first)
            self._next[place] = start + count
            wanted += [Wanted(harness, case, start + n) for n in range(count)]
        runs = self._bench.run(wanted)
        self._made += runs
        return runs

    @property
    def used(self) -> tuple[Used, ...]:
        """Every run of the decision, by case and revision, in the order drawn."""
        return used_of(self._made)


def used_of(runs: Sequence[Run]) -> tuple[Used, ...]:
    """Group runs by case and revision, in the order in which each first appears."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.key.case, run.key.revision), []).append(run)
    return tuple(
        Used(
            case_id=group[0].case_id,
            case=case,
            revision=revision,
            runner=group[0].key.runner,
            repeats=tuple(run.key.repeat for run in group),
            outcomes=tuple(run.outcome for run in group),
            tokens=tuple(run.usage.tokens for run in group),
        )
        for (case, revision), group in groups.items()
    )


def runs_behind(used: Iterable[Used], bench: Bench) -> tuple[Run, ...]:
    """Return the journalled runs behind a decision, as far as this machine has them."""
    keys = (
        RunKey(revision=one.revision, case=one.case, runner=one.runner, repeat=repeat)
        for one in used
        for repeat in one.repeats
    )
    return tuple(run for key in keys if (run := bench.evaluator.find(key)) is not None)
