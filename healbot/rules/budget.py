"""Budgets: what a cycle could cost at worst, and what is left of a day and a month.

Pure. A run that reports nothing is counted at the stated worst case, so that "unknown" can never
mean "free"; the forecast is an upper bound and is checked before the first run.
"""

import math
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from healbot.records.ledger import Spend
from healbot.records.run import Usage
from healbot.records.settings import BudgetSettings, RunWorstCase, Settings, SpanBudget


class Left(NamedTuple):
    """What may still be spent; None: no limit of that kind. ``span`` names the tightest ones."""

    runs: float
    tokens: float
    usd: float
    seconds: float


UNLIMITED = float("inf")
ROUNDING = 1e-9
NOTHING = Spend()
SURPRISE = 2.0
"""How many times the dearest run so far the next one is set aside as, once one was dearer than the
stated worst case: what a run will report can't be known before it ends."""


def cost_of(usage: Usage, worst: RunWorstCase) -> Spend:
    """Return what one run counts: what it reported, else the stated worst case.

    Wall time is not a run's own: many go side by side. Whoever waits for them adds it.
    """
    return Spend(
        runs=1,
        tokens=worst.tokens if usage.tokens is None else usage.tokens,
        usd=worst.usd if usage.usd is None else usage.usd,
    )


def price_of(tokens: int, worst: RunWorstCase) -> float:
    """Return what tokens count whose price nobody knows: as those of an unreported run do."""
    if not tokens:
        return 0.0
    return worst.usd * tokens / worst.tokens if worst.tokens else worst.usd


def editors_aside(settings: Settings) -> Spend:
    """Return what the editors that ask a model may spend in one cycle, all of them together."""
    tokens = len(settings.model_editors) * settings.editing.tokens
    usd = price_of(tokens, settings.budget.unreported_run)
    known = settings.models.editor
    if known and known.price_in_usd_per_million is not None:
        dearest = max(known.price_in_usd_per_million, known.price_out_usd_per_million or 0.0)
        usd = tokens * dearest / 1_000_000
    return Spend(tokens=tokens, usd=round(usd, 6))


def less(left: Left, aside: Spend) -> Left:
    """Return what is left once something was set aside."""
    return left._replace(tokens=left.tokens - aside.tokens, usd=left.usd - aside.usd)


def set_aside(stated: RunWorstCase, dearest: Spend) -> RunWorstCase:
    """Return what one run still to be made is set aside as.

    The stated worst case, until a run turned out dearer; from then on twice the dearest.
    """
    dear_tokens = dearest.tokens > stated.tokens
    return RunWorstCase(
        tokens=math.ceil(SURPRISE * dearest.tokens) if dear_tokens else stated.tokens,
        usd=SURPRISE * dearest.usd if dearest.usd > stated.usd else stated.usd,
    )


def seen_worst(stated: RunWorstCase, spent: Iterable[tuple[datetime, Spend]]) -> RunWorstCase:
    """Return what a forecast counts a run as: the stated worst case, or what was seen if dearer.

    Seen is the dearest phase of the past, on average over its runs.
    """
    seen = [one for _, one in spent if one.runs]
    return RunWorstCase(
        tokens=max([stated.tokens, *(math.ceil(one.tokens / one.runs) for one in seen)]),
        usd=max([stated.usd, *(round(one.usd / one.runs, 6) for one in seen)]),
    )


def forecast(runs: int, left: Left, worst: RunWorstCase, *, aside: Spend = NOTHING) -> Spend:
    """Return the most that a cycle of so many runs may count.

    It is held to, but for what the first dear run reports beyond it.

    What a run will report can't be known beforehand, so where a budget limits tokens or money its
    rest is the bound; where none does, every run counts the stated worst case. Wall time is bounded
    by a deadline instead. ``aside`` is what else was set aside, for editors.
    """
    tokens = left.tokens if left.tokens != UNLIMITED else runs * worst.tokens + aside.tokens
    usd = left.usd if left.usd != UNLIMITED else runs * worst.usd + aside.usd
    return Spend(runs=runs, tokens=int(tokens), usd=round(usd, 6))


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
