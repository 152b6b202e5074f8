"""Replay: what a ledger's entries add up to. "Where are we" is this, and nothing else is kept.

Pure: entries in, one Progress out. A first run, a resume, the next job of a workflow and the audit
read the same Progress.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from pydantic import Field

from healbot.records.case import Standing
from healbot.records.ledger import (
    Applied,
    Body,
    Canaried,
    Closed,
    Declined,
    Diagnosed,
    Earned,
    Entry,
    Gated,
    Measured,
    Opened,
    Probed,
    Proposed,
    PullOpened,
    Queued,
    RolledBack,
    Spend,
    TakenBack,
    Used,
)
from healbot.records.record import Record
from healbot.records.run import RunKey


class CycleState(Record):
    """One cycle as far as it has come; an absent part has not happened yet."""

    id: str
    opened: Opened
    opened_at: datetime
    spent: Spend = Spend()
    measured: Measured | None = None
    diagnosed: Diagnosed | None = None
    proposed: Proposed | None = None
    probed: Probed | None = None
    earned: Earned | None = None
    gated: tuple[Gated, ...] = ()
    pull: PullOpened | None = None
    pull_at: datetime | None = None
    canaried: Canaried | None = None
    queued: Queued | None = None
    applied: Applied | None = None
    declined: Declined | None = None
    declined_at: datetime | None = None
    reopened_at: tuple[datetime, ...] = ()
    closed: Closed | None = None


class Merge(Record):
    """A merged proposal, and whether it still stands."""

    applied: Applied
    cycle: str | None
    at: datetime
    rolled_back: RolledBack | None = None


class Progress(Record):
    """What the chain adds up to.

    Attributes:
        cycles: All cycles, oldest first; at most the last one is without ``closed``.
        next_repeat: Per (revision, case digest) the first repeat number not yet used, however it
            was run: HEALBOT_SEED does not know the way of running, so a number is drawn once.
        standings: Per case digest, what it has earned.
        spent: Each entry's instant and spending.
    """

    cycles: tuple[CycleState, ...] = ()
    merges: tuple[Merge, ...] = ()
    rollbacks: tuple[tuple[datetime, RolledBack], ...] = ()
    taken_back: tuple[TakenBack, ...] = ()
    next_repeat: dict[tuple[str, str], int] = Field(default_factory=dict)
    standings: dict[str, Standing] = Field(default_factory=dict)
    spent: tuple[tuple[datetime, Spend], ...] = ()

    @property
    def current(self) -> CycleState | None:
        """The cycle under way, or None."""
        return self.cycles[-1] if self.cycles and self.cycles[-1].closed is None else None

    def waiting(self) -> tuple[CycleState, ...]:
        """Cycles whose pull request waits for a person."""
        return tuple(
            cycle
            for cycle in self.cycles
            if (cycle.queued or cycle.reopened_at) and not cycle.applied and not cycle.declined
        )

    def pulls_since(self, since: datetime) -> tuple[datetime, ...]:
        """Return when pull requests were opened or reopened after an instant, oldest first.

        Whatever became of them: one that was closed or rolled back counts too.
        """
        opened = [one.pull_at or one.opened_at for one in self.cycles if one.pull]
        again = [at for one in self.cycles for at in one.reopened_at]
        return tuple(sorted(at for at in (*opened, *again) if at > since))

    def last_rollback(self) -> datetime | None:
        """Return when the last rollback was made that a person did not take back, or None."""
        again = {body.reverted_sha for body in self.taken_back if body.sha}
        stands = [at for at, body in self.rollbacks if body.sha not in again]
        return stands[-1] if stands else None

    def first_repeat(self, key: RunKey) -> int:
        """Return the first repeat number of a revision and case that is not yet used."""
        return self.next_repeat.get((key.revision, key.case), 0)


def replay(entries: Iterable[Entry]) -> Progress:
    """Fold entries, oldest first, into what they add up to."""
    cycles: dict[str, CycleState] = {}
    merges: list[Merge] = []
    rollbacks: list[tuple[datetime, RolledBack]] = []
    taken_back: list[TakenBack] = []
    repeats: dict[tuple[str, str], int] = {}
    standings: dict[str, Standing] = {}
    spent: list[tuple[datetime, Spend]] = []
    for entry in entries:
        body = entry.body
        spent.append((entry.at, entry.spent))
        for used in uses(body):
            place = (used.revision, used.case)
            repeats[place] = max([repeats.get(place, 0), *(one + 1 for one in used.repeats)])
        if isinstance(body, Earned):
            standings.update(body.standings)
        if isinstance(body, Applied):
            merges.append(Merge(applied=body, cycle=entry.cycle, at=entry.at))
            standings.update(dict.fromkeys(body.fixed, Standing.FIXED))
        if isinstance(body, RolledBack):
            undone_at = [one.at for one in merges if one.applied.sha == body.reverted_sha]
            rollbacks.append((max([body.made_at or entry.at, *undone_at]), body))
            merges = _undone(merges, body)
            for digest in _unfixed(merges, body):
                standings.pop(digest, None)
        if isinstance(body, TakenBack):
            taken_back.append(body)
            merges, fixed = _redone(merges, body)
            standings.update(dict.fromkeys(fixed, Standing.FIXED))
        if entry.cycle:
            cycles[entry.cycle] = _advance(cycles.get(entry.cycle), entry, body)
    return Progress(
        cycles=tuple(cycles.values()),
        merges=tuple(merges),
        rollbacks=tuple(rollbacks),
        taken_back=tuple(taken_back),
        next_repeat=repeats,
        standings=standings,
        spent=tuple(spent),
    )


def uses(body: Body) -> tuple[Used, ...]:
    """Return the runs that an entry's decision used; none where it decided nothing."""
    match body:
        case Measured() | Diagnosed() | Probed() | Earned() | Gated() | Canaried():
            return body.used
        case _:
            return ()


def _advance(state: CycleState | None, entry: Entry, body: Body) -> CycleState:
    if isinstance(body, Opened):
        return CycleState(id=entry.cycle or "", opened=body, opened_at=entry.at)
    if state is None:
        raise ValueError(f"entry {entry.number} belongs to a cycle that was never opened")
    update: dict[str, object] = {"spent": state.spent.plus(entry.spent)}
    match body:
        case Gated():
            update["gated"] = (*state.gated, body)
        case PullOpened():
            update |= {"pull": body, "pull_at": entry.at}
        case Declined():
            update |= {"declined": body, "declined_at": body.made_at or entry.at}
        case TakenBack() if not body.sha:
            again = (*state.reopened_at, body.made_at or entry.at)
            update |= {"declined": None, "declined_at": None, "reopened_at": again}
        case RolledBack() | TakenBack():
            pass
        case _:
            update[body.kind] = body
    return state.model_copy(update=update)


def _undone(merges: Sequence[Merge], body: RolledBack) -> list[Merge]:
    """Mark the merge that was reverted, and the later ones whose text went with it.

    A restore that began at a later revision passed over every merge up to that one; a person's
    revert of an earlier merge begins at what that merge itself made, and leaves later ones alone.
    """
    standing = [place for place, merge in enumerate(merges) if merge.rolled_back is None]
    named = [place for place in standing if merges[place].applied.sha == body.reverted_sha]
    if not named:
        return list(merges)
    began = [place for place in standing if merges[place].applied.after == body.before]
    gone = range(named[0], max(began or standing) + 1)
    return [
        merge.model_copy(update={"rolled_back": body})
        if place in gone and merge.rolled_back is None
        else merge
        for place, merge in enumerate(merges)
    ]


def _redone(merges: Sequence[Merge], body: TakenBack) -> tuple[list[Merge], tuple[str, ...]]:
    """Let merges stand again whose rollback a person undid; returns them and what they fixed."""
    if not body.sha:
        return list(merges), ()
    again = [
        bool(merge.rolled_back and merge.rolled_back.sha == body.reverted_sha) for merge in merges
    ]
    stand = [
        merge.model_copy(update={"rolled_back": None}) if back else merge
        for merge, back in zip(merges, again, strict=True)
    ]
    fixed = [one.applied.fixed for one, back in zip(merges, again, strict=True) if back]
    return stand, tuple(case for cases in fixed for case in cases)


def _unfixed(merges: Iterable[Merge], body: RolledBack) -> tuple[str, ...]:
    """Cases that only the undone merge had fixed are fixed no more."""
    return tuple(
        digest for merge in merges if merge.rolled_back == body for digest in merge.applied.fixed
    )
