"""What the page shows, as plain data: only what the ledger and the settings hold, no text of a run.

Knows the wiring; renders nothing. Every number here adds up to the ledger's.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from healbot import __version__
from healbot.entry.costing import budget_facts
from healbot.entry.wiring import Shop
from healbot.errors import InputError
from healbot.records.case import Split, Standing
from healbot.records.ledger import Entry, Used
from healbot.records.run import Outcome
from healbot.records.settings import AgentSettings
from healbot.records.verdict import Verdict
from healbot.rules.chain import require_whole
from healbot.rules.progress import CycleState, Progress, replay, uses
from healbot.rules.tally import REGRESSIONS

Facts = dict[str, Any]
RATED = frozenset({"measured", "earned", "gated", "canaried"})
"""Decisions whose runs were not chosen for an outcome."""


class Life(NamedTuple):
    """One time at which a revision became the live one."""

    at: datetime
    revision: str
    how: str
    pull: int | None = None


def report_facts(shop: Shop) -> Facts:
    """Return everything that the page shows."""
    return {
        "made_at": shop.clock.now().strftime("%Y-%m-%d %H:%M"),
        "version": __version__,
        "base": shop.base_ref,
        "mode": str(shop.settings.mode),
        "stopped_by": shop.stopped_by(),
        "budget": budget_facts(shop),
        "agents": [_agent(shop, one) for one in shop.settings.agents],
    }


def _agent(shop: Shop, agent: AgentSettings) -> Facts:
    chain = shop.chain(agent)
    require_whole(chain)
    progress, live = replay(chain.entries), shop.live(agent).revision
    lives = lives_of(progress)
    if live not in {one.revision for one in lives[-1:]}:
        lives = (*lives, Life(shop.clock.now(), live, "change by hand" if lives else "found"))
    counted = _counted(chain.entries, lives)
    return {
        "agent": agent.name,
        "revision": live,
        "ledger": {"entries": len(chain.entries), "head": chain.head},
        "runs": _runs(chain.entries, lives),
        "revisions": [
            {
                "revision": one.revision,
                "at": one.at.isoformat(timespec="seconds"),
                "how": one.how if one.pull is None else f"{one.how} of {one.pull}",
                **_outcomes(counted[place]),
            }
            for place, one in enumerate(lives)
        ],
        "verdicts": verdict_rows(progress.cycles),
        "cycles": [_cycle(one) for one in progress.cycles],
        "questions": questions(shop, agent, progress),
        "cases": _cases(shop, agent, progress=progress, entries=chain.entries),
    }


def lives_of(progress: Progress) -> tuple[Life, ...]:
    """Return each revision that a cycle found, a merge made or a revert restored, oldest first."""
    merges = [
        Life(one.at, one.applied.after, "merge", one.applied.number) for one in progress.merges
    ]
    reverts = [Life(at, one.after, "revert", one.number) for at, one in progress.rollbacks]
    found = [Life(one.opened_at, one.opened.baseline, "found") for one in progress.cycles]
    kept: list[Life] = []
    for one in sorted([*found, *merges, *reverts], key=lambda life: life.at):
        known = kept[-1].revision if kept else None
        if one.how == "found" and known not in (None, one.revision):
            kept.append(one._replace(how="change by hand"))
        elif one.how != "found" or known is None:
            kept.append(one)
    return tuple(kept)


def _place(entry: Entry, used: Used, lives: Sequence[Life]) -> int | None:
    """Return which life of a revision a run belongs to; None: it was never live."""
    mine = [place for place, one in enumerate(lives) if one.revision == used.revision]
    begun = [place for place in mine if lives[place].at <= entry.at]
    return next(iter(begun[-1:] or mine[:1]), None)


def _counted(entries: Iterable[Entry], lives: Sequence[Life]) -> dict[int, Counter[Outcome]]:
    counts: dict[int, Counter[Outcome]] = {place: Counter() for place in range(len(lives))}
    for entry in entries:
        for used in uses(entry.body) if entry.body.kind in RATED else ():
            place = _place(entry, used, lives)
            if place is not None:
                counts[place].update(used.outcomes)
    return counts


def _runs(entries: Sequence[Entry], lives: Sequence[Life]) -> Facts:
    """Return where every run that was counted as spent is to be found."""
    rated = chosen = candidates = 0
    for entry in entries:
        for used in uses(entry.body):
            if entry.body.kind not in RATED:
                chosen += len(used.repeats)
            elif _place(entry, used, lives) is None:
                candidates += len(used.repeats)
            else:
                rated += len(used.repeats)
    spent = sum(entry.spent.runs for entry in entries)
    return {
        "spent": spent,
        "rated": rated,
        "chosen": chosen,
        "never_live": candidates,
        "no_decision": spent - rated - chosen - candidates,
    }


def _outcomes(counts: Counter[Outcome]) -> Facts:
    passed, failed = counts[Outcome.PASS], counts[Outcome.FAIL]
    scored = passed + failed
    return {
        "pass": passed,
        "fail": failed,
        "none": counts[Outcome.NONE],
        "rate": round(passed / scored, 4) if scored else None,
    }


def verdict_rows(cycles: Iterable[CycleState]) -> list[Facts]:
    """Count verdicts by stage, word and the first rule that spoke."""
    said: list[tuple[str, Verdict]] = []
    unspent: Counter[str] = Counter()
    for cycle in cycles:
        said += [("gate", one.verdict) for one in cycle.gated]
        said += [("canary", cycle.canaried.verdict)] if cycle.canaried else []
        notes = cycle.proposed.proposals if cycle.proposed else ()
        unspent.update(note.refused for note in notes if note.refused)
    rows: dict[tuple[str, str, str], Facts] = {}
    for stage, verdict in said:
        rule = verdict.reasons[0].rule if verdict.reasons else "-"
        row = rows.setdefault(
            (stage, str(verdict.word), rule), {"times": 0, "fixed_trigger": 0, "broke": 0}
        )
        broke = any(reason.rule in REGRESSIONS for reason in verdict.reasons)
        row["times"] += 1
        row["fixed_trigger"] += verdict.fixed_trigger
        row["broke"] += verdict.fixed_trigger and broke and verdict.word == "rejected"
    for rule, times in unspent.items():
        rows["before any run", "invalid", rule] = {"times": times, "fixed_trigger": 0, "broke": 0}
    return [
        {"stage": stage, "word": word, "rule": rule, **row}
        for (stage, word, rule), row in sorted(rows.items())
    ]


def _cycle(cycle: CycleState) -> Facts:
    closed = cycle.closed
    return {
        "cycle": cycle.id,
        "at": cycle.opened_at.isoformat(timespec="seconds"),
        "mode": str(cycle.opened.mode),
        "outcome": closed.outcome if closed else "under way",
        "verdict": closed.verdict if closed else None,
        "pull": cycle.pull.number if cycle.pull else None,
        "forecast": cycle.opened.forecast.model_dump(),
        "spent": cycle.spent.model_dump(),
    }


def questions(shop: Shop, agent: AgentSettings, progress: Progress) -> list[Facts]:
    """Return what waits for somebody, and what could not be told."""
    asked: list[tuple[str, str]] = [
        (f"Pull request {one.pull.number} waits", one.queued.because)
        for one in progress.waiting()
        if one.pull and one.queued
    ]
    if progress.current:
        text = "healbot cycle resumes it where it stopped"
        asked.append((f"The cycle {progress.current.id} is not finished", text))
    if progress.rollbacks:
        hours = timedelta(hours=shop.settings.watch.cooldown_hours)
        until = progress.rollbacks[-1][0] + hours
        if shop.clock.now() < until:
            text = f"no cycle begins before {until:%Y-%m-%d %H:%M} UTC, after a rollback"
            asked.append(("Cooling down", text))
    last = progress.cycles[-1] if progress.cycles else None
    if last and last.measured:
        asked += [
            ("Could not be scored", f"{one}: check the check") for one in last.measured.unscored
        ]
    if last and last.closed and last.closed.outcome == "no-proposal":
        asked += [
            ("No edit was proposed", f"{one.case_id} fails as {one.signature}")
            for one in (last.diagnosed.findings if last.diagnosed else ())
            if one.was_real
        ]
    if last and last.opened.left_out:
        text = f"{len(last.opened.left_out)} corpus cases did not fit into the last cycle"
        asked.append(("Left out for the budget", text))
    return [{"what": what, "text": text, "agent": agent.name} for what, text in asked]


def _cases(
    shop: Shop, agent: AgentSettings, *, progress: Progress, entries: Iterable[Entry]
) -> list[Facts]:
    """Return the cases as they are now, with their runs under the live revision."""
    live = shop.live(agent).revision
    counts: dict[str, Counter[Outcome]] = {}
    for entry in entries:
        for used in uses(entry.body) if entry.body.kind in RATED else ():
            if used.revision == live:
                counts.setdefault(used.case, Counter()).update(used.outcomes)
    try:
        cases = shop.ground(agent)[0].of(*Split)
    except InputError:
        return []
    return [
        {
            "id": case.id,
            "split": str(case.split),
            "standing": str(progress.standings.get(case.digest, Standing.PLAIN)),
            "safety": case.safety,
            **_outcomes(counts.get(case.digest, Counter())),
        }
        for case in cases
    ]
