"""What ``healbot cost`` and the page say of cost, as plain data: forecasts and actuals.

Knows the wiring; the sums are ``rules/costs.py``. Spends nothing and prints nothing.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from healbot.entry.wiring import Shop
from healbot.records.case import Split
from healbot.records.ledger import Spend
from healbot.records.settings import AgentSettings, RunWorstCase
from healbot.rules.budget import (
    UNLIMITED,
    Left,
    editors_aside,
    forecast,
    left_of,
    less,
    runs_that_fit,
    seen_worst,
    spent_since,
    within,
)
from healbot.rules.chain import require_whole
from healbot.rules.costs import (
    CYCLES_PER_MONTH,
    GIVEN_UP,
    CycleCost,
    Reported,
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
from healbot.rules.plan import Plan, plan_cycle
from healbot.rules.progress import Progress, replay

Facts = dict[str, Any]
KINDS = ("runs", "tokens", "usd")


class Past(NamedTuple):
    """What an agent's ledger says of cost."""

    progress: Progress
    costs: tuple[CycleCost, ...]
    known: Reported
    worst: RunWorstCase


def budget_facts(shop: Shop) -> Facts:
    """Return what this day and month spent, for all agents together, against their limits."""
    now, budget, spent = shop.clock.now(), shop.settings.budget, shop.spent()
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    spans = (("day", day, budget.day), ("month", day.replace(day=1), budget.month))
    return {
        name: {
            "spent": {
                **(gone := spent_since(spent, since)).model_dump(),
                "minutes": round(gone.seconds / 60, 2),
            },
            "limits": limit.model_dump(exclude_none=True),
            "left": {
                kind: round(max(0.0, most - _amount(gone, kind)), 6)
                for kind, most in limit.model_dump(exclude_none=True).items()
            },
        }
        for name, since, limit in spans
    }


def cost_facts(shop: Shop, agent: AgentSettings, cycles_a_month: int | None = None) -> Facts:
    """Return one agent's forecast and actuals."""
    past = _past(shop, agent)
    now, budget = shop.clock.now(), shop.settings.budget
    current = past.progress.current
    left = left_of(budget, shop.spent(), now=now, cycle=current.spent if current else Spend())
    plan = _plan(shop, agent, past=past, left=left)
    fits = plan.runs <= runs_that_fit(left, past.worst)
    most = _most(shop, agent, past=past, left=left, runs=plan.runs)
    likely = expected(past.costs, most)
    lately = cycles_per_month(past.progress, now)
    cycles = cycles_a_month if cycles_a_month is not None else lately or CYCLES_PER_MONTH
    said = "option" if cycles_a_month is not None else "history" if lately else "one a night"
    return {
        "agent": agent.name,
        "next_cycle": {
            "under_way": current.id if current else None,
            "fits": fits,
            "least_runs": plan.least,
            "most": _shown(most, past.known, canary=0),
            "expected": likely and _shown(likely, past.known, canary=_canary_seconds(past.costs)),
            "parts": _parts(plan, past),
            "left_out": list(plan.left_out),
            "fallbacks": plan.fallbacks,
            "probes": plan.probes,
            "run_counts_up_to": past.worst.model_dump(),
            "at_that": {
                "tokens": most.runs * past.worst.tokens,
                "usd": round(most.runs * past.worst.usd, 2),
            },
        },
        "month": {
            "cycles": cycles,
            "cycles_from": said,
            "most": _shown(month_of(most, cycles, budget), past.known, canary=None),
            "expected": likely
            and _shown(month_of(likely, cycles, budget), past.known, canary=None),
        },
        "actual": _actual(past.costs, past.known),
        "forecasts": {
            "ratio": {kind: mean_ratio(past.costs, kind) for kind in KINDS},
            "above": [
                {"cycle": one.cycle, "over": list(one.over)} for one in past.costs if one.over
            ],
        },
        "reported": {
            "runs": past.known.runs,
            "with_tokens": past.known.tokens,
            "money": past.known.usd,
        },
    }


def _most(shop: Shop, agent: AgentSettings, *, past: Past, left: Left, runs: int) -> Spend:
    """Return the forecast, or what is left of it in a cycle under way, with a bound on its time."""
    aside = editors_aside(shop.settings)
    most, current = forecast(runs, left, past.worst, aside=aside), past.progress.current
    if current:
        rest = within(left, current.opened.forecast, current.spent)
        most = Spend(
            runs=max(0, int(rest.runs)),
            tokens=max(0, int(rest.tokens)),
            usd=max(0.0, round(rest.usd, 6)),
        )
    minutes = None if left.seconds == UNLIMITED else left.seconds / 60
    parallel = shop.settings.limits.parallel
    seconds = most_seconds(most.runs, agent, parallel=parallel, limit=minutes)
    return most.model_copy(update={"seconds": round(seconds, 1)})


def _past(shop: Shop, agent: AgentSettings) -> Past:
    chain = shop.chain(agent)
    require_whole(chain)
    entries = chain.entries
    progress = replay(entries)
    stated = shop.settings.budget.unreported_run
    return Past(
        progress,
        costs_of(progress, entries),
        reported(entries, stated),
        seen_worst(stated, progress.spent),
    )


def _plan(shop: Shop, agent: AgentSettings, *, past: Past, left: Left) -> Plan:
    ground, _ = shop.ground(agent)
    return plan_cycle(
        ground.of(Split.TRAIN, Split.HELDOUT),
        past.progress.standings,
        numbers=shop.settings.gate,
        editors=len(shop.settings.editors),
        fit=runs_that_fit(less(left, editors_aside(shop.settings)), past.worst),
        salt="",
    )


def _canary_seconds(past: Sequence[CycleCost]) -> float:
    spent = mean_of([one.parts.get("canary", Spend()) for one in past])
    return spent.seconds if spent else 0.0


def _shown(spend: Spend, known: Reported, *, canary: float | None) -> Facts:
    """Write a spending; money that no run ever reported is the stated worst case, and no price."""
    facts: Facts = {
        "runs": spend.runs,
        "tokens": spend.tokens,
        "tokens_known": known.tokens > 0,
        "usd": spend.usd,
        "usd_known": known.usd,
        "minutes": round(spend.seconds / 60, 1),
    }
    if canary is not None:
        facts["actions_minutes"] = actions_minutes(spend.seconds, canary)
    return facts


def _parts(plan: Plan, past: Past) -> list[Facts]:
    means = mean_parts(past.costs)
    rows: list[Facts] = [
        {"part": name, "most_runs": runs, "mean_runs": means.get(name, 0.0) if means else None}
        for name, runs in plan.parts.items()
    ]
    if GIVEN_UP in means:
        rows.append({"part": GIVEN_UP, "most_runs": None, "mean_runs": means[GIVEN_UP]})
    return rows


def _actual(costs: Sequence[CycleCost], known: Reported) -> Facts:
    spent = [one.spent for one in costs]
    last, mean, high = (spent[-1] if spent else None), mean_of(spent), percentile_of(spent)
    return {
        "cycles": len(costs),
        "last": last and _shown(last, known, canary=0),
        "mean": mean and _shown(mean, known, canary=0),
        "p95": high and _shown(high, known, canary=0),
    }


def _amount(spent: Spend, kind: str) -> float:
    return spent.seconds / 60 if kind == "minutes" else float(getattr(spent, kind))
