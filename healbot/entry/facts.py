"""What listings say, as plain data: the same for ``--json`` and for tables.

Knows the wiring and the records; prints nothing.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from healbot.cycle.reading import harness_at
from healbot.entry.wiring import Shop
from healbot.records.ledger import RolledBack, Spend
from healbot.records.pull import Pull
from healbot.records.record import shown
from healbot.records.settings import AgentSettings, SpanBudget
from healbot.rules.budget import spent_since
from healbot.rules.progress import CycleState, Merge, Progress

Facts = dict[str, object]


def status(shop: Shop) -> Facts:
    """Return where everything stands."""
    pulls = shop.forge.pulls()
    return {
        "stopped_by": shop.stopped_by(),
        "mode": str(shop.settings.mode),
        "base": shop.base_ref,
        "sandboxed": shop.processes.sandboxed,
        "agents": [_agent(shop, agent, pulls) for agent in shop.settings.agents],
    }


def _agent(shop: Shop, agent: AgentSettings, pulls: Sequence[Pull]) -> Facts:
    progress = shop.progress(agent)
    harness = harness_at(
        shop.repo,
        shop.base_sha,
        agent,
        open_skills=shop.settings.limits.open_skills_with_files,
    )
    now = shop.clock.now()
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    holder = shop.permit.holder(agent.name)
    budget = shop.settings.budget
    last = progress.cycles[-1] if progress.cycles else None
    return {
        "agent": agent.name,
        "revision": harness.revision,
        "open_pulls": [
            one.number for one in pulls if one.agent == agent.name and one.state == "open"
        ],
        "cycle": progress.current.id if progress.current else None,
        "last": _last(last, progress),
        "cooldown_until": _cooldown(progress, shop.settings.watch.cooldown_hours, now),
        "lease": f"{holder.holder} until {holder.until:%H:%M} UTC" if holder else None,
        "today": _budget(spent_since(progress.spent, day), budget.day),
        "month": _budget(spent_since(progress.spent, day.replace(day=1)), budget.month),
    }


def _cooldown(progress: Progress, hours: float, now: datetime) -> str | None:
    last = progress.last_rollback()
    until = last + timedelta(hours=hours) if last else now
    return until.isoformat(timespec="seconds") if until > now else None


def _last(cycle: CycleState | None, progress: Progress) -> Facts | None:
    if cycle is None:
        return None
    closed = cycle.closed
    merge = next((one for one in progress.merges if one.cycle == cycle.id), None)
    undone = bool(merge and merge.rolled_back)
    return {
        "cycle": cycle.id,
        "at": cycle.opened_at.isoformat(timespec="seconds"),
        "outcome": "rolled-back" if undone else _what(cycle, merge),
        "note": closed.note if closed else "",
    }


def _budget(spent: Spend, limit: SpanBudget) -> Facts:
    limits = limit.model_dump(exclude_none=True)
    gone = {**spent.model_dump(), "minutes": spent.seconds / 60}
    left = {name: round(max(0.0, most - gone[name]), 6) for name, most in limits.items()}
    return {**spent.model_dump(), "limits": limits, "left": left}


def history(shop: Shop, agent: AgentSettings) -> list[Facts]:
    """Return what happened to an agent's harness, newest first."""
    progress = shop.progress(agent)
    rows = [_cycle_row(cycle, progress) for cycle in progress.cycles]
    rows += [_rollback_row(at, body) for at, body in progress.rollbacks]
    newest_first = sorted(
        rows, key=lambda row: (row[0], row[1]["what"] == "rolled-back"), reverse=True
    )
    return [{"at": at.isoformat(timespec="seconds"), **row} for at, row in newest_first]


def _rollback_row(at: datetime, body: RolledBack) -> tuple[datetime, Facts]:
    return at, {
        "what": "rolled-back",
        "cycle": None,
        "pull": body.number,
        "revision": shown(body.after),
        "sha": body.sha,
        "why": f"{body.by}: {body.why}",
    }


def _cycle_row(cycle: CycleState, progress: Progress) -> tuple[datetime, Facts]:
    closed = cycle.closed
    merge = next((one for one in progress.merges if one.cycle == cycle.id), None)
    return merge.at if merge else cycle.opened_at, {
        "what": _what(cycle, merge),
        "cycle": cycle.id,
        "verdict": closed.verdict if closed else None,
        "pull": cycle.pull.number if cycle.pull else None,
        "revision": shown(cycle.applied.after if cycle.applied else cycle.opened.baseline),
        "sha": cycle.applied.sha if cycle.applied else "",
        "why": closed.note if closed else "",
    }


def _what(cycle: CycleState, merge: Merge | None) -> str:
    if merge:
        return "merged"
    if cycle.declined:
        return "declined"
    return cycle.closed.outcome if cycle.closed else "under way"


def pull_row(pull: Pull) -> Facts:
    """Return a pull request as one row."""
    return {
        "number": pull.number,
        "state": "draft" if pull.state == "open" and pull.draft else pull.state,
        "agent": pull.agent,
        "title": pull.title,
        "branch": pull.branch,
        "opened_at": pull.opened_at.isoformat(timespec="seconds"),
        "merged_sha": pull.merged_sha,
    }


def segments_of(shop: Shop, agent: AgentSettings) -> dict[str, bytes]:
    """Return the bytes of an agent's ledger, by path."""
    state = shop.store.load()
    prefix = f"agents/{agent.name}/audit/"
    return {
        path: shop.store.read(state, path) or b"" for path in state.files if path.startswith(prefix)
    }
