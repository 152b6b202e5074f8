"""One real run of each agent, to see that it runs at all; never evidence.

Knows the wiring; runs go into a journal that is thrown away, under repeat numbers of nobody's.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from healbot.cycle.evaluate import Wanted
from healbot.cycle.purse import Purse
from healbot.entry.cases import ASIDE, UNLIMITED
from healbot.entry.findings import Finding, error, of_error, ok, warning
from healbot.entry.voice import PlainVoice
from healbot.entry.wiring import Shop
from healbot.errors import HealbotError
from healbot.records.case import Split
from healbot.records.run import Outcome, Run
from healbot.records.settings import AgentSettings
from healbot.stores.journal import FileJournal


def try_out(shop: Shop, stopped: str | None) -> Iterator[Finding]:
    """Run the first training case of each agent once; says how it ended."""
    if stopped:
        yield warning(
            "live", f"no run was made: stopped by {stopped}", "healbot start, then again."
        )
        return
    for agent in shop.settings.agents:
        try:
            yield _judged(agent, _run(shop, agent))
        except HealbotError as problem:
            yield of_error("live", problem)
    shop.processes.close()


def _run(shop: Shop, agent: AgentSettings) -> Run | None:
    ground, _ = shop.ground(agent)
    cases = ground.of(Split.TRAIN)[:1]
    with (
        tempfile.TemporaryDirectory(prefix="healbot-live-") as folder,
        PlainVoice(sys.stderr) as told,
    ):
        told.phase(f"live: {agent.name}", len(cases))
        journal = FileJournal(Path(folder))
        evaluator = shop.evaluator(agent, ground, told, journal=journal)
        purse = Purse(UNLIMITED, shop.settings.budget.unreported_run, shop.clock)
        bench = shop.bench(evaluator, purse, lambda: None)
        runs = bench.run([Wanted(ground.harness, case, ASIDE) for case in cases])
    return runs[0] if runs else None


def _judged(agent: AgentSettings, run: Run | None) -> Finding:
    if run is None:
        return warning("live", f"{agent.name} has no training case to run", "Write one.")
    text = f"{agent.name} ran {run.case_id} in {run.duration_seconds:.1f} s"
    if run.outcome == Outcome.PASS:
        return ok("live", f"{text} and passed")
    reasons = [one.reason for one in run.checks if one.outcome != Outcome.PASS]
    why = "; ".join([*reasons, *run.notes][:2])
    if run.outcome == Outcome.FAIL:
        return ok("live", f"{text} and failed it ({why}): it runs, and there is something to heal")
    return error("live", f"{text}, and it could not be scored: {why}", "See healbot cases run.")
