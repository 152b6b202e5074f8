"""``healbot cases``: list, lint and run the cases of an agent."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from healbot.cycle.evaluate import Bench, Wanted
from healbot.cycle.purse import Purse
from healbot.entry.options import HERE, JsonOption, RepoOption, opened
from healbot.entry.printing import as_json, table
from healbot.entry.starter import unfilled
from healbot.entry.voice import voice
from healbot.errors import Exit, InputError
from healbot.records.case import Case, Split, Standing
from healbot.records.harness import Harness
from healbot.records.run import Outcome, Run
from healbot.records.settings import SETTINGS_PATH
from healbot.rules.budget import Left
from healbot.rules.lint import Problem
from healbot.rules.lint import lint as lint_cases
from healbot.stores.journal import FileJournal

app = typer.Typer(help="Cases and the corpus.", no_args_is_help=True)

AgentOption = Annotated[str | None, typer.Option("--agent", help="Which agent.")]
ASIDE = 1_000_000
"""Repeat numbers from here on are nobody's evidence."""
UNLIMITED = Left(float("inf"), float("inf"), float("inf"), float("inf"))


@app.command("list")
def list_(
    agent: AgentOption = None, repo: RepoOption = HERE, as_document: JsonOption = False
) -> None:
    """List cases with split and standing."""
    with opened(repo) as shop:
        chosen = shop.agent(agent)
        ground, _ = shop.ground(chosen)
        standings = shop.progress(chosen).standings
    rows = [
        {
            "id": case.id,
            "split": str(case.split),
            "standing": str(standings.get(case.digest, Standing.PLAIN)),
            "safety": case.safety,
            "tags": list(case.tags),
            "origin": case.origin,
        }
        for case in ground.of(*Split)
    ]
    if as_document:
        as_json(rows)
        return
    table(rows, ("id", "split", "standing", "tags", "origin"), empty="no cases")


@app.command()
def lint(
    agent: AgentOption = None, repo: RepoOption = HERE, as_document: JsonOption = False
) -> int:
    """Say what is wrong or weak about cases; exits with 1 where there is an error."""
    with opened(repo) as shop:
        agents = (shop.agent(agent),) if agent else shop.settings.agents
        paths = tuple(shop.repo.tree(shop.base_sha))
        problems = [
            problem
            for one in agents
            for problem in lint_cases(shop.written_cases(one), paths=paths)
        ]
        problems += [
            Problem(SETTINGS_PATH, 1, f"{one.name}: run.command is still to be filled in", "error")
            for one in agents
            if unfilled(one)
        ]
    if as_document:
        as_json([problem._asdict() for problem in problems])
    else:
        for one in problems:
            print(f"{one.path}:{one.line}: {one.severity}: {one.text}")
        if not problems:
            print("The cases are in order.", file=sys.stderr)
    return int(any(problem.severity == "error" for problem in problems))


@app.command()
def run(  # noqa: PLR0913 - options of a command, each named when given
    *,
    only: Annotated[str, typer.Option("-k", help="Only ids that hold this text.")] = "",
    repeats: Annotated[int, typer.Option(help="Runs a case.", min=1)] = 1,
    first_failure: Annotated[bool, typer.Option("-x", help="Stop at the first failure.")] = False,
    last_failed: Annotated[bool, typer.Option("--lf", help="Only what failed last time.")] = False,
    durations: Annotated[int, typer.Option(help="Show the N slowest.", min=0)] = 0,
    agent: AgentOption = None,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> int:
    """Run cases under the live revision; these runs serve no decision.

    Exits with 1 where a run failed, with 4 where none failed but one could not be scored.
    """
    with opened(repo) as shop, voice() as told:
        shop.require_going()
        chosen = shop.agent(agent)
        ground, _ = shop.ground(chosen)
        memory = shop.repo.private / f"last-failed-{chosen.name}.json"
        wanted = _remembered(memory) if last_failed else None
        cases = [
            case
            for case in ground.of(*Split)
            if only in case.id and (wanted is None or case.id in wanted)
        ]
        if not cases:
            raise InputError("No case is left to run.", "See healbot cases list.")
        told.phase("run", len(cases) * repeats)
        with tempfile.TemporaryDirectory(prefix="healbot-cases-") as folder:
            evaluator = shop.evaluator(chosen, ground, told, journal=FileJournal(Path(folder)))
            purse = Purse(UNLIMITED, shop.settings.budget.unreported_run, shop.clock)
            bench = shop.bench(evaluator, purse, lambda: None)
            runs = _in_batches(bench, ground.harness, cases, repeats=repeats, stop=first_failure)
    failed = sorted({run.case_id for run in runs if run.outcome != Outcome.PASS})
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_text(json.dumps(failed))
    rows = [_row(one, runs) for one in cases if any(run.case_id == one.id for run in runs)]
    if as_document:
        as_json(rows)
    else:
        table(rows, ("id", "pass", "fail", "none", "seconds", "why"), empty="no runs")
        for slow in sorted(runs, key=lambda run: -run.duration_seconds)[:durations]:
            print(f"{slow.duration_seconds:.2f} s  {slow.case_id}")
    outcomes = {run.outcome for run in runs}
    if Outcome.FAIL in outcomes:
        return Exit.NO
    return Exit.COULD_NOT_TELL if Outcome.NONE in outcomes else Exit.DONE


def _in_batches(
    bench: Bench, harness: Harness, cases: list[Case], *, repeats: int, stop: bool
) -> list[Run]:
    """Run all at once; where the first failure ends it, only as many as go side by side."""
    wanted = [Wanted(harness, case, ASIDE + repeat) for case in cases for repeat in range(repeats)]
    size = bench.parallel if stop else len(wanted)
    runs: list[Run] = []
    for start in range(0, len(wanted), size):
        runs += bench.run(wanted[start : start + size])
        if stop and any(run.outcome == Outcome.FAIL for run in runs):
            break
    return runs


def _remembered(memory: Path) -> set[str]:
    try:
        return set(json.loads(memory.read_text()))
    except (OSError, ValueError) as error:
        raise InputError("No earlier run is known here.", "Leave --lf out once.") from error


def _row(case: Case, runs: list[Run]) -> dict[str, object]:
    mine = [run for run in runs if run.case_id == case.id]
    failed = next((run for run in mine if run.outcome != Outcome.PASS), None)
    why = ""
    for check in failed.checks if failed else ():
        if check.outcome != Outcome.PASS:
            why = (
                why or check.missed or "; ".join([check.reason, *(failed.notes if failed else ())])
            )
    return {
        "id": case.id,
        "pass": sum(run.outcome == Outcome.PASS for run in mine),
        "fail": sum(run.outcome == Outcome.FAIL for run in mine),
        "none": sum(run.outcome == Outcome.NONE for run in mine),
        "seconds": round(sum(run.duration_seconds for run in mine) / len(mine), 2),
        "why": why,
    }
