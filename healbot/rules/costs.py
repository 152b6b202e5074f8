"""What cycles cost, and what the next one and a month of them could: forecast beside actual.

Pure. Knows the ledger's entries, budgets and a plan; a price that no run reported stays unknown,
and is never guessed.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from healbot.records.ledger import Entry, Spend, Used
from healbot.records.record import Record
from healbot.records.settings import AgentSettings, BudgetSettings, RunWorstCase, SpanBudget
from healbot.rules.progress import CycleState, Progress, uses

PART_OF = {
    "measured": "measure", "diagnosed": "diagnose", "proposed": "edit", "probed": "probe",
    "earned": "earn", "gated": "gate", "canaried": "canary",
}  # fmt: skip
"""Which part of a cycle an entry ends; what any other entry spent was given up half-way."""
GIVEN_UP = "given up"
HISTORY = 20
"""How many of the latest cycles an expectation is the mean of."""
PERCENTILE = 0.95
CYCLES_PER_MONTH = 30
"""One a night, until there is history to tell better."""
MONTH = timedelta(days=30)
WEEK = timedelta(days=7)
JOB_SECONDS = 60.0
"""What a job of a workflow needs before and after the runs: checkout, installation, caches."""
JOBS_WITH_RUNS, JOBS_WITHOUT = 2, 2
"""A cycle in a workflow: up to the gate, then the pull request, the canary, the decision."""


class CycleCost(Record):
    """One cycle: what was said beforehand, and what it spent; ``over`` names what went above."""

    cycle: str
    at: datetime
    outcome: str
    forecast: Spend
    spent: Spend
    parts: dict[str, Spend]
    over: tuple[str, ...] = ()

    def ratio(self, kind: str) -> float | None:
        """Return actual by forecast of one kind; None where nothing was forecast."""
        said, was = float(getattr(self.forecast, kind)), float(getattr(self.spent, kind))
        return round(was / said, 3) if said else None


class Reported(NamedTuple):
    """How much of what runs cost is known from their own reports.

    Attributes:
        runs, tokens: Runs that decisions used, and those among them that reported tokens.
        usd: Whether any run reported money.
    """

    runs: int
    tokens: int
    usd: bool


def costs_of(progress: Progress, entries: Iterable[Entry]) -> tuple[CycleCost, ...]:
    """Return each closed cycle's cost, oldest first."""
    parts: dict[str, dict[str, Spend]] = {}
    for entry in entries:
        if entry.cycle and entry.spent != Spend():
            name = PART_OF.get(entry.body.kind, GIVEN_UP)
            mine = parts.setdefault(entry.cycle, {})
            mine[name] = mine.get(name, Spend()).plus(entry.spent)
    return tuple(_cost(one, parts.get(one.id, {})) for one in progress.cycles if one.closed)


def _cost(cycle: CycleState, parts: dict[str, Spend]) -> CycleCost:
    assert cycle.closed  # noqa: S101 - asked of closed cycles only
    said, was = cycle.opened.forecast, cycle.spent
    kinds = {
        "runs": was.runs > said.runs,
        "tokens": was.tokens > said.tokens,
        "usd": was.usd > said.usd,
    }
    return CycleCost(
        cycle=cycle.id,
        at=cycle.opened_at,
        outcome=cycle.closed.outcome,
        forecast=said,
        spent=was,
        parts={name: one for name, one in parts.items() if one.runs or one.tokens},
        over=tuple(kind for kind, above in kinds.items() if above),
    )


def reported(entries: Iterable[Entry], worst: RunWorstCase) -> Reported:
    """Say how far the runs' own reports go.

    The chain holds tokens by run, money by entry: an entry whose money is not its runs at the
    stated worst case holds reports.
    """
    used: list[Used] = []
    usd = False
    for entry in entries:
        used += uses(entry.body)
        stated = entry.spent.runs * worst.usd
        usd = usd or (bool(entry.spent.runs) and abs(entry.spent.usd - stated) > _ROUNDING)
    tokens = [one for line in used for one in line.tokens]
    return Reported(len(tokens), sum(one is not None for one in tokens), usd)


def mean_of(spent: Sequence[Spend]) -> Spend | None:
    """Return the mean of spendings; None where there are none."""
    if not spent:
        return None
    return _each(spent, lambda values: sum(values) / len(values))


def percentile_of(spent: Sequence[Spend], share: float = PERCENTILE) -> Spend | None:
    """Return, kind by kind, what so many of the spendings did not exceed (nearest rank)."""
    if not spent:
        return None
    place = max(0, math.ceil(share * len(spent)) - 1)
    return _each(spent, lambda values: sorted(values)[place])


def _each(spent: Sequence[Spend], fold: Callable[[Sequence[float]], float]) -> Spend:
    return Spend(
        runs=math.ceil(fold([one.runs for one in spent])),
        tokens=math.ceil(fold([one.tokens for one in spent])),
        usd=round(fold([one.usd for one in spent]), 6),
        seconds=round(fold([one.seconds for one in spent]), 3),
    )


def expected(past: Sequence[CycleCost], most: Spend) -> Spend | None:
    """Return what the next cycle costs if it is like the latest ones, never above the forecast."""
    mean = mean_of([one.spent for one in past[-HISTORY:]])
    return mean and least_of(mean, most)


def least_of(one: Spend, other: Spend) -> Spend:
    """Return the smaller of two spendings, kind by kind."""
    return Spend(
        runs=min(one.runs, other.runs),
        tokens=min(one.tokens, other.tokens),
        usd=min(one.usd, other.usd),
        seconds=min(one.seconds, other.seconds),
    )


def most_seconds(runs: int, agent: AgentSettings, *, parallel: int, limit: float | None) -> float:
    """Return the most wall time that so many runs can take: a bound, not what is to be expected.

    Args:
        runs: How many.
        agent: Its ways of running have time-outs, which bound each run.
        parallel: How many go side by side.
        limit: Minutes that the budget leaves, or None; runs under way at its end still end.
    """
    longest = max(way.timeout_seconds for way in agent.run)
    bound = math.ceil(runs / parallel) * longest
    return bound if limit is None else min(bound, limit * 60 + longest)


def cycles_per_month(progress: Progress, now: datetime) -> int | None:
    """Return how many cycles a month there were lately; None with less than a week of history."""
    times = [one.opened_at for one in progress.cycles if one.opened_at > now - MONTH]
    if not times or now - min(one.opened_at for one in progress.cycles) < WEEK:
        return None
    span = min(MONTH, now - min(one.opened_at for one in progress.cycles))
    return max(1, round(len(times) * (MONTH / span)))


def month_of(cycle: Spend, cycles: int, budget: BudgetSettings) -> Spend:
    """Return what so many cycles come to, held to what day and month allow."""
    days = MONTH.days
    whole = Spend(
        runs=cycle.runs * cycles,
        tokens=cycle.tokens * cycles,
        usd=round(cycle.usd * cycles, 6),
        seconds=cycle.seconds * cycles,
    )
    for limit, times in ((budget.day, days), (budget.month, 1)):
        whole = least_of(whole, _limit(limit, times, whole))
    return whole


def _limit(span: SpanBudget, times: int, none: Spend) -> Spend:
    return Spend(
        runs=none.runs if span.runs is None else span.runs * times,
        tokens=none.tokens if span.tokens is None else span.tokens * times,
        usd=none.usd if span.usd is None else round(span.usd * times, 6),
        seconds=none.seconds if span.minutes is None else span.minutes * times * 60,
    )


def actions_minutes(seconds: float, canary_seconds: float = 0.0) -> int:
    """Estimate the minutes that a forge counts for a cycle: each job's own, rounded up.

    Args:
        seconds: Wall time of all runs.
        canary_seconds: Of these, the canary's: it is a job of its own.
    """
    first = math.ceil((seconds - canary_seconds + JOB_SECONDS) / 60)
    second = math.ceil((canary_seconds + JOB_SECONDS) / 60)
    return first + second + JOBS_WITHOUT * math.ceil(JOB_SECONDS / 60)


def mean_parts(past: Sequence[CycleCost]) -> Mapping[str, float]:
    """Return the mean runs of each part over the latest cycles."""
    latest = past[-HISTORY:]
    names = dict.fromkeys(name for one in latest for name in one.parts)
    return {
        name: round(sum(one.parts.get(name, Spend()).runs for one in latest) / len(latest), 1)
        for name in names
    }


def mean_ratio(past: Sequence[CycleCost], kind: str) -> float | None:
    """Return the mean of actual by forecast; None where there is none."""
    ratios = [one for cost in past if (one := cost.ratio(kind)) is not None]
    return round(sum(ratios) / len(ratios), 3) if ratios else None


_ROUNDING = 1e-6
