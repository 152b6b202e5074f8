"""Budgets: unknown is never free, and the tightest span holds."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healbot.records.ledger import Spend
from healbot.records.run import Usage
from healbot.records.settings import BudgetSettings, RunWorstCase, Settings, SpanBudget
from healbot.rules.budget import (
    UNLIMITED,
    Left,
    cost_of,
    editors_aside,
    forecast,
    left_of,
    less,
    price_of,
    runs_that_fit,
    seen_worst,
    set_aside,
    spent_since,
)

NOW = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
WORST = RunWorstCase(tokens=1000, usd=0.5)
OPEN = SpanBudget()
ENDLESS = Left(UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED)


def test_a_run_counts_what_it_reported_and_the_worst_case_for_the_rest() -> None:
    assert cost_of(Usage(tokens=3, usd=0.1), WORST) == Spend(runs=1, tokens=3, usd=0.1)
    assert cost_of(Usage(tokens=0), WORST) == Spend(runs=1, tokens=0, usd=0.5)
    assert (
        cost_of(Usage(), WORST)
        == forecast(1, ENDLESS, WORST)
        == Spend(runs=1, tokens=1000, usd=0.5)
    )


def test_day_and_month_begin_at_midnight_in_utc() -> None:
    midnight = NOW.replace(hour=0, minute=0)
    spent = [
        (midnight.replace(day=1) - timedelta(seconds=1), Spend(usd=100)),
        (midnight.replace(day=1), Spend(usd=7)),
        (midnight - timedelta(seconds=1), Spend(usd=20)),
        (midnight, Spend(usd=3)),
    ]
    budget = BudgetSettings(cycle=OPEN, day=SpanBudget(usd=10), month=SpanBudget(usd=1000))
    assert left_of(budget, spent, now=NOW, cycle=Spend()).usd == 7
    budget = BudgetSettings(cycle=OPEN, day=OPEN, month=SpanBudget(usd=31))
    assert left_of(budget, spent, now=NOW, cycle=Spend()).usd == 1
    assert spent_since(spent, midnight) == Spend(usd=3)


def test_the_tightest_span_of_each_kind_holds_and_nothing_is_left_below_zero() -> None:
    budget = BudgetSettings(
        cycle=SpanBudget(runs=10, minutes=2), day=SpanBudget(runs=50, tokens=5), month=OPEN
    )
    spent = [(NOW, Spend(runs=45, tokens=9))]
    left = left_of(budget, spent, now=NOW, cycle=Spend(runs=3, seconds=30))
    assert left == Left(runs=5, tokens=0, usd=UNLIMITED, seconds=90)


@pytest.mark.parametrize(
    ("left", "runs"),
    [
        (Left(7, UNLIMITED, UNLIMITED, UNLIMITED), 7),
        (Left(UNLIMITED, 2999, UNLIMITED, UNLIMITED), 2),
        (Left(UNLIMITED, UNLIMITED, 1.5, UNLIMITED), 3),
        (Left(UNLIMITED, UNLIMITED, 1.49, UNLIMITED), 2),
        (Left(-1, UNLIMITED, UNLIMITED, UNLIMITED), -1),
    ],
)
def test_runs_fit_by_whole_worst_cases(left: Left, runs: int) -> None:
    assert runs_that_fit(left, WORST) == runs


def test_a_worst_case_of_nothing_limits_nothing() -> None:
    free = RunWorstCase(tokens=0, usd=0)
    assert runs_that_fit(Left(4, 0, 0, 0), free) == 4
    assert runs_that_fit(Left(UNLIMITED, 0, 0, 0), free) > 10**6


@given(
    st.floats(0, 1e4), st.floats(0, 1e8), st.floats(0, 1e4),
    st.integers(0, 10**5), st.floats(0.001, 50),
)  # fmt: skip
def test_the_forecast_of_what_fits_is_never_above_what_is_left(
    runs: float, tokens: float, usd: float, worst_tokens: int, worst_usd: float
) -> None:
    worst = RunWorstCase(tokens=worst_tokens, usd=worst_usd)
    left = Left(runs, tokens, usd, UNLIMITED)
    most = forecast(runs_that_fit(left, worst), left, worst)
    assert most.runs <= left.runs
    assert most.tokens <= left.tokens
    assert most.usd <= left.usd + 1e-3


def test_a_forecast_counts_a_run_as_the_dearest_phase_seen_and_never_below_what_is_stated() -> None:
    past = [
        (NOW, Spend(runs=2, tokens=100, usd=0.1)),
        (NOW, Spend(runs=3, tokens=6001, usd=1.2)),
        (NOW, Spend(seconds=9)),
    ]
    assert seen_worst(WORST, past) == RunWorstCase(tokens=2001, usd=0.5)
    assert seen_worst(WORST, past[:1]) == seen_worst(WORST, ()) == WORST


def test_once_a_run_was_dearer_than_stated_twice_as_much_is_set_aside() -> None:
    assert set_aside(WORST, Spend(tokens=1000, usd=0.5)) == WORST
    assert set_aside(WORST, Spend(tokens=1001, usd=0.6)) == RunWorstCase(tokens=2002, usd=1.2)


def test_tokens_without_a_price_count_as_those_of_an_unreported_run() -> None:
    assert price_of(3000, WORST) == 1.5
    assert price_of(0, RunWorstCase(tokens=0, usd=0.5)) == 0
    assert price_of(7, RunWorstCase(tokens=0, usd=0.5)) == 0.5


def _settings(*editors: str, **model: float) -> Settings:
    return Settings.model_validate(
        {
            "version": 1,
            "agents": [{"dir": "a", "cases": "c", "run": {"command": "x"}}],
            "models": {"editor": {"name": "m", "base_url": "http://127.0.0.1:1", **model}},
            "editors": editors,
            "editing": {"tokens": 10_000},
            "budget": {"unreported_run": {"tokens": 1000, "usd": 0.5}},
        }
    )


def test_what_editors_may_spend_is_set_aside_beside_the_runs() -> None:
    assert editors_aside(_settings("lessons")) == Spend()
    both = editors_aside(_settings("invariant", "domain"))
    assert both == Spend(tokens=20_000, usd=10)
    priced = {"price_in_usd_per_million": 1.0, "price_out_usd_per_million": 50.0}
    assert editors_aside(_settings("domain", **priced)) == Spend(tokens=10_000, usd=0.5)
    left = less(Left(9, 30_000, 12, UNLIMITED), both)
    assert left == Left(9, 10_000, 2, UNLIMITED)
    assert forecast(2, ENDLESS, WORST, aside=both) == Spend(runs=2, tokens=22_000, usd=11)
    assert forecast(2, left, WORST, aside=both) == Spend(runs=2, tokens=10_000, usd=2)
