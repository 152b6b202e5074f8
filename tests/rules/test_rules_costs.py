"""What cycles cost and could cost: means, percentiles, months, and what went above."""

from datetime import UTC, datetime, timedelta

from healbot.records.ledger import Closed, Entry, Measured, Opened, Spend, Used
from healbot.records.run import Outcome
from healbot.records.settings import AgentSettings, BudgetSettings, Mode, RunWorstCase, SpanBudget
from healbot.rules.costs import (
    GIVEN_UP,
    actions_minutes,
    costs_of,
    cycles_per_month,
    expected,
    mean_of,
    mean_parts,
    mean_ratio,
    month_of,
    most_seconds,
    percentile_of,
    reported,
)
from healbot.rules.progress import Progress, replay

AT = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
ZERO = "0" * 64
AGENT = AgentSettings.model_validate(
    {"dir": "a", "cases": "c", "run": {"command": "x", "timeout_seconds": 100}}
)


def cycle(
    name: str, spent: Spend, *, at: datetime = AT, runs: int = 9, late: int = 0
) -> list[Entry]:
    opened = Opened(
        mode=Mode.AUTO, base_ref="main", base_sha="s", baseline="r", settings="d", cases="c",
        forecast=Spend(runs=runs, tokens=10**6, usd=100),
    )  # fmt: skip
    used = Used(
        case_id="x", case="c", revision="r", runner="w", repeats=(0, 1),
        outcomes=(Outcome.PASS, Outcome.FAIL), tokens=(7, None),
    )  # fmt: skip
    bodies = (
        (opened, Spend()),
        (Measured(used=(used,), failing=()), spent),
        (Closed(outcome="healthy"), Spend(runs=late)),
    )
    return [
        Entry(number=1, previous=ZERO, at=at, agent="a", cycle=name, spent=cost, body=body)
        for body, cost in bodies
    ]


def story(*cycles: list[Entry]) -> tuple[Progress, list[Entry]]:
    entries = [entry for one in cycles for entry in one]
    return replay(entries), entries


def test_each_cycle_s_cost_stands_beside_its_forecast_and_what_went_above_is_named() -> None:
    two = Spend(runs=9, tokens=90, usd=2, seconds=30)
    costs = costs_of(
        *story(
            cycle("one", Spend(runs=4, tokens=40, usd=1, seconds=60), runs=8),
            cycle("two", two, runs=8, late=1),
        )
    )
    assert [one.over for one in costs] == [(), ("runs",)]
    assert costs[0].ratio("runs") == 0.5
    assert costs[1].parts == {"measure": two, GIVEN_UP: Spend(runs=1)}
    assert mean_parts(costs) == {"measure": 6.5, GIVEN_UP: 0.5}
    assert mean_ratio(costs, "runs") == 0.875
    most = Spend(runs=5, tokens=10**6, usd=100, seconds=10**6)
    assert expected(costs, most) == Spend(runs=5, tokens=65, usd=1.5, seconds=45)


def test_with_nothing_past_nothing_is_expected() -> None:
    assert costs_of(*story()) == ()
    assert [mean_of([]), percentile_of([]), expected((), Spend()), mean_ratio((), "usd")] == [
        None
    ] * 4
    assert mean_parts(()) == {}


def test_the_95th_percentile_is_by_nearest_rank() -> None:
    spent = [Spend(runs=n) for n in range(1, 101)]
    assert (percentile_of(spent) or Spend()).runs == 95
    assert (percentile_of(spent[:3]) or Spend()).runs == 3


def test_a_price_is_known_only_where_a_run_reported_one() -> None:
    worst = RunWorstCase(usd=0.5)
    assert reported(cycle("one", Spend(runs=2, usd=1)), worst) == (2, 1, False)
    assert reported(cycle("one", Spend(runs=2, usd=0.7)), worst).usd


def test_a_month_is_held_to_what_days_and_the_month_allow() -> None:
    budget = BudgetSettings(day=SpanBudget(runs=2, usd=1), month=SpanBudget(usd=9, minutes=5))
    one = Spend(runs=4, tokens=10, usd=2, seconds=60)
    assert month_of(one, 20, budget) == Spend(runs=60, tokens=200, usd=9, seconds=300)
    assert month_of(one, 0, budget) == Spend()


def test_cycles_a_month_are_told_from_a_week_of_history_or_not_at_all() -> None:
    days = [cycle(str(n), Spend(), at=AT - timedelta(days=n)) for n in range(59, -1, -1)]
    assert cycles_per_month(story(*days[-6:])[0], AT) is None
    assert cycles_per_month(story(*days)[0], AT) == 30
    assert cycles_per_month(Progress(), AT) is None


def test_minutes_are_bounded_by_time_outs_and_by_the_budget() -> None:
    assert most_seconds(9, AGENT, parallel=4, limit=None) == 300
    assert most_seconds(9, AGENT, parallel=4, limit=1) == 160
    assert actions_minutes(0) == 4
    assert actions_minutes(61, canary_seconds=1) == 2 + 2 + 2
