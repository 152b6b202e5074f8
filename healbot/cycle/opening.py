"""Opening a cycle: may one begin, what does it stand on, and what could it cost at most.

Knows settings, budgets and the queue; appends the one entry that opens the cycle.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from healbot.cycle.book import Book
from healbot.cycle.reading import Ground
from healbot.cycle.undone import LOOK_BACK, Branch, undone
from healbot.errors import BudgetError, NotNowError
from healbot.ports import ForgeReader, Repo
from healbot.records.case import Split
from healbot.records.ledger import (
    Applied,
    Body,
    Declined,
    Opened,
    RolledBack,
    Spend,
    TakenBack,
    Used,
)
from healbot.records.pull import Pull
from healbot.records.record import digest_of
from healbot.records.run import Outcome
from healbot.records.settings import AgentSettings, Mode, Settings
from healbot.records.trailers import Trailers
from healbot.rules.budget import (
    Left,
    editors_aside,
    forecast,
    left_of,
    less,
    runs_that_fit,
    seen_worst,
    within,
)
from healbot.rules.plan import plan_cycle
from healbot.rules.progress import CycleState, Progress

WEEK = timedelta(days=7)
FIXED_OF = 5
"""Of six canary runs, how many a case must pass to count as fixed."""


def require_may_open(progress: Progress, settings: Settings, *, mode: Mode, now: datetime) -> None:
    """Refuse where a cooldown, an open pull request or the weekly cap stands in the way.

    Raises:
        NotNowError: Says which, and until when.
    """
    if mode == Mode.OBSERVE:
        return
    last = progress.last_rollback()
    until = last + timedelta(hours=settings.watch.cooldown_hours) if last else now
    if now < until:
        raise NotNowError(
            f"A rollback was made; no cycle begins before {until:%Y-%m-%d %H:%M} UTC.",
            "Wait, or run with --mode observe, which writes nothing.",
        )
    waiting = progress.waiting()
    if len(waiting) >= settings.pulls.open:
        numbers = ", ".join(str(one.pull.number) for one in waiting if one.pull)
        raise NotNowError(
            f"Pull request {numbers} still waits for a person, until it is merged or closed.",
            "Look at healbot pulls show, then merge or close it; or raise pulls.open.",
        )
    _require_under_cap(progress, settings.pulls.per_week, now)


def _require_under_cap(progress: Progress, most: int, now: datetime) -> None:
    if most == 0:
        raise NotNowError(
            "pulls.per_week is 0, so no pull request is ever opened.",
            "Raise pulls.per_week, or run with --mode observe.",
        )
    week = progress.pulls_since(now - WEEK)
    if len(week) >= most:
        until = week[-most] + WEEK
        raise NotNowError(
            f"{len(week)} pull requests were opened within a week, and pulls.per_week is {most}; "
            f"no cycle begins before {until:%Y-%m-%d %H:%M} UTC.",
            "Wait, raise pulls.per_week, or run with --mode observe.",
        )


def opened(
    ground: Ground, progress: Progress, *, cycle: str, mode: Mode, settings: Settings, left: Left
) -> Opened:
    """Return the entry that opens a cycle, with its forecast.

    Raises:
        BudgetError: Not even the least plan fits into what the budgets leave.
    """
    worst = seen_worst(settings.budget.unreported_run, progress.spent)
    aside = editors_aside(settings)
    fit = runs_that_fit(less(left, aside), worst)
    plan = plan_cycle(
        ground.of(Split.TRAIN, Split.HELDOUT),
        progress.standings,
        numbers=settings.gate,
        editors=len(settings.editors),
        fit=fit,
        salt=cycle,
    )
    if plan.runs > fit:
        raise BudgetError(
            f"A cycle over these cases needs up to {plan.least} runs, and the budgets leave "
            f"{max(0, fit)} (a run counts up to {worst.tokens} tokens and ${worst.usd:g}"
            f"{_with_editors(aside)}).",
            "Raise budget.cycle, budget.day or budget.month, or lower budget.unreported_run.",
        )
    return Opened(
        mode=mode,
        base_ref=ground.base_ref,
        base_sha=ground.base_sha,
        baseline=ground.harness.revision,
        settings=digest_of(settings),
        cases=ground.cases_digest,
        forecast=forecast(plan.runs, left, worst, aside=aside),
        left_out=plan.left_out,
        earn=plan.earn,
        fallbacks=plan.fallbacks,
        probes=plan.probes,
    )


def _with_editors(aside: Spend) -> str:
    return f"; {aside.tokens} tokens are set aside for editors" if aside.tokens else ""


def left_for(
    spent: Sequence[tuple[datetime, Spend]],
    settings: Settings,
    *,
    now: datetime,
    state: CycleState | None,
) -> Left:
    """Return what cycle, day and month leave; ``spent`` is what all agents spent together."""
    gone = state.spent if state else Spend()
    left = left_of(settings.budget, spent, now=now, cycle=gone)
    return within(left, state.opened.forecast, gone) if state else left


def settled(
    book: Book, reader: ForgeReader, *, repo: Repo, tip: str, agent: AgentSettings
) -> tuple[tuple[str | None, Body], ...]:
    """Return the entries, with their cycles, for what was decided outside a cycle since.

    The forge and the branch are the facts: a pull request that somebody merged, closed or reopened,
    by whichever door, a merge that somebody reverted, by the forge's button or by git, a revert
    that was itself undone, and a rollback of ours that was cut off between its commit and its
    entry.
    """
    progress = book.progress
    found: list[tuple[str | None, Body]] = []
    for state in progress.cycles:
        body = _told(state, progress, reader)
        found += [(state.id, body)] if body else []
    branch = Branch(repo, agent, tip, repo.log(tip, limit=LOOK_BACK))
    merged = [body.sha for _, body in found if isinstance(body, Applied)]
    heads = [one.pull.head_sha for one in progress.cycles if one.pull]
    passed_over = {*merged, *heads, *(one.applied.sha for one in progress.merges)}
    found += [(None, body) for body in undone(progress, branch, passed_over=passed_over)]
    found += [(None, body) for body in _cut_off(book, branch, found)]
    return tuple(found)


def _told(state: CycleState, progress: Progress, reader: ForgeReader) -> Body | None:
    """Return what became of a cycle's pull request at a person's hands, if that is news."""
    opened = state.pull
    waits = state in progress.waiting()
    if not opened or not (waits or state.declined):
        return None
    pull = reader.pull(opened.number)
    if pull and waits and pull.state == "closed":
        by, at = pull.closed_by, pull.closed_at
        return Declined(number=pull.number, by=by, candidate=opened.candidate, made_at=at)
    if pull and waits and pull.state == "merged":
        return merged_body(state, pull)
    if pull and state.closed and state.declined and pull.state == "open":
        return TakenBack(number=pull.number, by="a person", after=opened.candidate)
    return None


def _cut_off(
    book: Book, branch: Branch, found: Sequence[tuple[str | None, Body]]
) -> Iterable[RolledBack]:
    """Find rollbacks made by us onto a head of this chain that no entry tells of, oldest first."""
    told = {body.sha for _, body in found if isinstance(body, RolledBack)}
    known = told | {body.sha for _, body in book.progress.rollbacks}
    for commit in reversed(branch.commits):
        ours = Trailers.parse(commit.message)
        mine = ours.reverts and ours.agent == book.agent and book.has(ours.ledger)
        if commit.sha in known or not mine or branch.revision(commit.sha) != ours.revision:
            continue
        yield RolledBack(
            number=None,
            by=commit.author,
            why=commit.message.split("\n\n")[1].strip(),
            before=ours.baseline,
            after=ours.revision,
            reverted_sha="",
            sha=commit.sha,
            made_at=commit.at,
        )


def _mostly_passed(used: Used) -> bool:
    """A case counts as fixed only if the canary saw it pass as a protected case must: 5 of 6."""
    passed = used.outcomes.count(Outcome.PASS)
    return passed * (FIXED_OF + 1) >= len(used.outcomes) * FIXED_OF


def merged_body(state: CycleState, pull: Pull) -> Applied:
    """Return the entry of a merge that was found on the forge."""
    assert state.pull  # noqa: S101 - asked only of cycles with a pull request
    held = state.canaried.used if state.canaried else ()
    digests = {
        one.case_id: one.case
        for one in held
        if one.revision == state.pull.candidate and _mostly_passed(one)
    }
    gained = state.gated[-1].verdict.gained
    return Applied(
        number=pull.number,
        by=pull.closed_by,
        before=state.opened.baseline,
        after=state.pull.candidate,
        sha=pull.merged_sha,
        base_before_sha=pull.base_before_sha,
        proposal=state.pull.proposal,
        fixed=tuple(digests[one] for one in gained if one in digests),
    )
