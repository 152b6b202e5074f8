"""``healbot cost``: what the next cycle and a month could cost, with what past ones did cost.

Knows how the answer is printed; the facts are ``entry/costing.py``. Spends nothing.
"""

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from healbot.entry.options import HERE, AgentArgument, JsonOption, RepoOption, opened
from healbot.entry.printing import as_json, table

Facts = dict[str, Any]


def cost(
    agent: AgentArgument = None,
    *,
    repo: RepoOption = HERE,
    cycles_a_month: Annotated[
        int | None,
        typer.Option("--cycles-per-month", min=0, help="Left out: as lately, else one a night."),
    ] = None,
    as_document: JsonOption = False,
) -> None:
    """What the next cycle and a month may cost, beside the actuals."""
    from healbot.entry.costing import (  # noqa: PLC0415 - heavy, only here
        budget_facts,
        cost_facts,
    )

    with opened(repo) as shop:
        agents = (shop.agent(agent),) if agent else shop.settings.agents
        facts: Facts = {
            "agents": [cost_facts(shop, one, cycles_a_month) for one in agents],
            "budget": budget_facts(shop),
            "unreported_run": shop.settings.budget.unreported_run.model_dump(),
            "not_run_yet": {
                "guard": {"runs_per_night": shop.settings.watch.guard_runs_per_night},
                "judge": None,
            },
        }
    if as_document:
        as_json(facts)
        return
    for one in facts["agents"]:
        _print_agent(one)
    _print_budget(facts)


def _print_agent(facts: Mapping[str, Any]) -> None:
    following, month, actual = facts["next_cycle"], facts["month"], facts["actual"]
    print(f"{facts['agent']}: the next cycle and a month of {month['cycles']} cycles")
    if following["under_way"]:
        print(f"  the cycle {following['under_way']} is under way; this is what it has left")
    rows = [
        ("next cycle, at most", following["most"]),
        ("next cycle, expected", following["expected"]),
        ("month, at most", month["most"]),
        ("month, expected", month["expected"]),
        ("last cycle", actual["last"]),
        (f"mean of {actual['cycles']}", actual["mean"]),
        ("95 % were below", actual["p95"]),
    ]
    table(
        [{"what": name, **_cells(one)} for name, one in rows if one],
        ("what", "runs", "tokens", "usd", "minutes", "actions"),
        empty="nothing to show",
    )
    print()
    table(following["parts"], ("part", "most_runs", "mean_runs"), empty="nothing to show")
    for note in _notes(facts):
        print(note, file=sys.stderr)
    print()


def _cells(one: Mapping[str, Any]) -> Facts:
    """Say "counted" beside what no run reported: it is the worst case, not a price."""
    counted = "" if one["usd_known"] else " counted"
    tokens = "" if one["tokens_known"] else " counted"
    return {
        "runs": one["runs"],
        "tokens": f"{one['tokens']:,}{tokens}",
        "usd": f"${one['usd']:,.2f}{counted}",
        "minutes": f"{one['minutes']:g}",
        "actions": one.get("actions_minutes"),
    }


def _notes(facts: Mapping[str, Any]) -> list[str]:
    following, known, wrong = facts["next_cycle"], facts["reported"], facts["forecasts"]
    counted = following["run_counts_up_to"]
    notes = []
    if not following["fits"]:
        notes.append(
            f"A cycle needs up to {following['least_runs']} runs, and the budgets leave fewer: it "
            "would not begin. Raise budget.cycle, budget.day or budget.month."
        )
    whole = following["at_that"]
    notes.append(
        f"{following['most']['runs']} runs at {counted['tokens']:,} tokens and "
        f"${counted['usd']:g} come to {whole['tokens']:,} tokens and ${whole['usd']:,.2f}; where "
        "runs report more, the budget is the bound."
    )
    if following["left_out"]:
        notes.append(f"{len(following['left_out'])} corpus cases do not fit and are left out.")
    if not known["money"]:
        notes.append(
            "No run reported what it cost, so the price is not known; each counts "
            f"${counted['usd']:g} (budget.unreported_run), the stated worst case."
        )
    if known["with_tokens"] < known["runs"] or not known["runs"]:
        notes.append(
            f"{known['with_tokens']} of {known['runs']} runs reported tokens; each of the others "
            f"counts {counted['tokens']} tokens."
        )
    ratio = wrong["ratio"]["runs"]
    if ratio is not None:
        notes.append(f"On average a cycle spent {ratio:.0%} of the runs that were forecast.")
    notes += [
        f"Above its forecast: cycle {one['cycle']} ({', '.join(one['over'])})."
        for one in wrong["above"]
    ]
    if facts["month"]["expected"] is None:
        notes.append("No cycle has run yet, so nothing can be expected from history.")
    return notes


def _print_budget(facts: Mapping[str, Any]) -> None:
    for name, span in facts["budget"].items():
        gone = span["spent"]
        left = ", ".join(f"{_money(kind, one)} left" for kind, one in span["left"].items())
        print(
            f"this {name}, all agents: {gone['runs']} runs, {gone['tokens']:,} tokens, "
            f"${gone['usd']:,.2f}, {gone['seconds'] / 60:.1f} minutes; {left or 'no limit'}"
        )
    nightly = facts["not_run_yet"]["guard"]["runs_per_night"]
    print(
        f"Not in these sums: the nightly guard ({nightly} runs a night are set; not run yet), "
        "judge models (not run yet), healbot cases run, and dry runs until a cycle takes them up.",
        "Minutes are wall time of runs; Actions minutes are an estimate, each job rounded up.",
        "Runs that a given-up cycle made count there, and again in a cycle that takes them up.",
        sep="\n",
        file=sys.stderr,
    )


def _money(kind: str, amount: float) -> str:
    return f"${amount:,.2f}" if kind == "usd" else f"{amount:,.0f} {kind}"
