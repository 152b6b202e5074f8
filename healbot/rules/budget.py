"""Budgets: what a cycle could cost at worst, and what is left of a day and a month.

Pure. A run that reports nothing is counted at the stated worst case, so that "unknown" can never
mean "free"; the forecast is an upper bound and is checked before the first run.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from healbot.records.ledger import Spend
from healbot.records.run import Usage
from healbot.records.settings import BudgetSettings, RunWorstCase, SpanBudget


class Left(NamedTuple):
    """What may still be spent; None: no limit of that kind. ``span`` names the tightest ones."""

    runs: float
    tokens: float
    usd: float
    seconds: float


UNLIMITED = float("inf")


def cost_of(usage: Usage, worst: RunWorstCase) -> Spend:
    """Return what one run counts: what it reported, else the stated worst case.

    Wall time is not a run's own: many go side by side. Whoever waits for them adds it.
    """
    return Spend(
        runs=1,
        tokens=worst.tokens if usage.tokens is None else usage.tokens,
        usd=worst.usd if usage.usd is None else usage.usd,
    )


def forecast(runs: int, left: Left, worst: RunWorstCase) -> Spend:
    """Return the most that a cycle of so many runs may count; it is held to, so never exceeded.

    What a run will report can't be known beforehand, so where a budget limits tokens or money its
    rest is the bound; where none does, every run counts the stated worst case. Wall time is bounded
    by a deadline instead.
    """
    tokens = runs * worst.tokens if left.tokens == UNLIMITED else int(left.tokens)
    usd = runs * worst.usd if left.usd == UNLIMITED else left.usd
    return Spend(runs=runs, tokens=tokens, usd=round(usd, 6))


def within(left: Left, promised: Spend, gone: Spend) -> Left:
    """Return what is left, capped by what a cycle's forecast leaves."""
    return Left(
        min(left.runs, promised.runs - gone.runs),
        min(left.tokens, promised.tokens - gone.tokens),
        min(left.usd, promised.usd - gone.usd),
        left.seconds,
    )


def spent_since(spent: Iterable[tuple[datetime, Spend]], since: datetime) -> Spend:
    """Add up what was spent from an instant on."""
    total = Spend()
    for at, one in spent:
        if at >= since:
            total = total.plus(one)
    return total


def left_of(
    budget: BudgetSettings,
    spent: Iterable[tuple[datetime, Spend]],
    *,
    now: datetime,
    cycle: Spend,
) -> Left:
    """Return what cycle, day (UTC) and month leave, the tightest of each kind."""
    past = tuple(spent)
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    spans = (
        (budget.cycle, cycle),
        (budget.day, spent_since(past, day)),
        (budget.month, spent_since(past, day.replace(day=1))),
    )
    lefts = [_left(limit, used) for limit, used in spans]
    return Left(*(min(one[index] for one in lefts) for index in range(len(Left._fields))))


def _left(limit: SpanBudget, used: Spend) -> Left:
    def less(most: float | None, gone: float) -> float:
        return UNLIMITED if most is None else max(0.0, most - gone)

    minutes = None if limit.minutes is None else limit.minutes * 60
    return Left(
        less(limit.runs, used.runs),
        less(limit.tokens, used.tokens),
        less(limit.usd, used.usd),
        less(minutes, used.seconds),
    )


def runs_that_fit(left: Left, worst: RunWorstCase) -> int:
    """Return how many runs fit into what is left, each at the stated worst case."""
    most = [left.runs]
    if worst.tokens:
        most.append(left.tokens / worst.tokens)
    if worst.usd:
        most.append(left.usd / worst.usd + 1e-9)
    fewest = min(most)
    return 10**9 if fewest == UNLIMITED else int(fewest)
