"""Opening a cycle: may one begin, what does it stand on, and what could it cost at most.

Knows settings, budgets and the queue; appends the one entry that opens the cycle.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from healbot.cycle.book import Book
from healbot.cycle.reading import Ground
from healbot.errors import BudgetError, NotNowError
from healbot.ports import CommitInfo, ForgeReader, Repo
from healbot.records.case import Split
from healbot.records.ledger import Applied, Body, Declined, Opened, RolledBack, Spend, Used
from healbot.records.pull import Pull
from healbot.records.record import digest_of
from healbot.records.run import Outcome
from healbot.records.settings import Mode, Settings
from healbot.records.trailers import Trailers
from healbot.rules.budget import Left, forecast, left_of, runs_that_fit, within
from healbot.rules.plan import plan_cycle
from healbot.rules.progress import CycleState, Progress

WEEK = timedelta(days=7)
FIXED_OF = 5
"""Of six canary runs, how many a case must pass to count as fixed."""
LOOK_BACK = 500
"""How many commits back a revert is looked for."""


def require_may_open(progress: Progress, settings: Settings, *, mode: Mode, now: datetime) -> None:
    """Refuse where a cooldown, an open pull request or the weekly cap stands in the way.

    Raises:
        NotNowError: Says which, and until when.
    """
    if mode == Mode.OBSERVE:
        return
    if progress.rollbacks:
        until = progress.rollbacks[-1][0] + timedelta(hours=settings.watch.cooldown_hours)
        if now < until:
            raise NotNowError(
                f"A rollback was made; no cycle begins before {until:%Y-%m-%d %H:%M} UTC.",
                "Wait, or run with --mode observe, which writes nothing.",
            )
    waiting = progress.waiting()
    if len(waiting) >= settings.pulls.open:
        numbers = ", ".join(str(one.pull.number) for one in waiting if one.pull)
        raise NotNowError(
            f"Pull request {numbers} still waits for a person.",
            "Look at healbot pulls show, then merge or close it; or raise pulls.open.",
        )
    week = [one for one in progress.cycles if one.pull and one.opened_at > now - WEEK]
    if len(week) >= settings.pulls.per_week:
        raise NotNowError(
            f"{len(week)} pull requests were opened within a week, and pulls.per_week is "
            f"{settings.pulls.per_week}.",
            "Wait, raise pulls.per_week, or run with --mode observe.",
        )


def opened(
    ground: Ground, progress: Progress, *, cycle: str, mode: Mode, settings: Settings, left: Left
) -> Opened:
    """Return the entry that opens a cycle, with its forecast.

    Raises:
        BudgetError: Not even the least plan fits into what the budgets leave.
    """
    worst = settings.budget.unreported_run
    fit = runs_that_fit(left, worst)
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
            f"{max(0, fit)} (an unreported run counts {worst.tokens} tokens and ${worst.usd}).",
            "Raise budget.cycle, budget.day or budget.month, or lower budget.unreported_run.",
        )
    return Opened(
        mode=mode,
        base_ref=ground.base_ref,
        base_sha=ground.base_sha,
        baseline=ground.harness.revision,
        settings=digest_of(settings),
        cases=ground.cases_digest,
        forecast=forecast(plan.runs, left, worst),
        left_out=plan.left_out,
        earn=plan.earn,
        fallbacks=plan.fallbacks,
        probes=plan.probes,
    )


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
    book: Book, reader: ForgeReader, *, repo: Repo, tip: str
) -> tuple[tuple[str | None, Body], ...]:
    """Return the entries, with their cycles, for what was decided outside a cycle since.

    The forge and the branch are the facts: a pull request that somebody merged or closed, by
    whichever door, a merge that somebody reverted, by the forge's button or by git, and a rollback
    of ours that was cut off between its commit and its entry.
    """
    found: list[tuple[str | None, Body]] = []
    for state in book.progress.waiting():
        pull = reader.pull(state.pull.number) if state.pull else None
        if pull and state.pull and pull.state == "closed":
            declined = Declined(
                number=pull.number, by=pull.closed_by, candidate=state.pull.candidate
            )
            found.append((state.id, declined))
        if pull and pull.state == "merged":
            found.append((state.id, merged_body(state, pull)))
    found += [(None, body) for body in _reverted(book, repo.log(tip, limit=LOOK_BACK))]
    return tuple(found)


def _reverted(book: Book, commits: Sequence[CommitInfo]) -> Iterable[RolledBack]:
    """Find reverts that the ledger does not know, oldest first.

    Either of a merge that it still counts as standing, or made by us onto a head of this chain.
    """
    standing = [merge.applied for merge in book.progress.merges if merge.rolled_back is None]
    recorded = {body.sha for _, body in book.progress.rollbacks}
    for commit in reversed(commits):
        if commit.sha in recorded:
            continue
        ours = Trailers.parse(commit.message)
        words = "\nThis reverts commit "  # a line of its own, as git writes it; no quotation
        merge = next((one for one in standing if words + one.sha in commit.message), None)
        if merge is None and not (
            ours.reverts and ours.agent == book.agent and book.has(ours.ledger)
        ):
            continue
        standing = [one for one in standing if one is not merge]
        said = commit.message.split("\n\n")[1].strip() if ours.reverts else ""
        yield RolledBack(
            number=merge.number if merge else None,
            by=commit.author,
            why=said or f"reverted by {commit.sha[:12]}",
            before=merge.after if merge else ours.baseline,
            after=merge.before if merge else ours.revision,
            reverted_sha=merge.sha if merge else "",
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
