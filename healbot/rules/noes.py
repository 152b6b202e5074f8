"""Every no in a ledger: which edit it was said to, by whom, and what was failing then.

Pure, and digests only: what such an edit said is read from git and the journal by
``cycle/memory.py``.
"""

from collections.abc import Iterator
from datetime import datetime

from healbot.records.ledger import ProposalNote
from healbot.records.record import Record
from healbot.rules.progress import CycleState, Merge, Progress

CLOSED, ROLLED_BACK, TRIED = "closed-before", "rolled-back-before", "tried-before"
"""The rules by which an edit is refused unspent; ``OPEN`` is no no, but enough."""
OPEN = "open-already"
WHAT = {CLOSED: "closed", ROLLED_BACK: "rolled back", TRIED: "refused"}


class No(Record):
    """One refused edit.

    Attributes:
        rule: ``CLOSED`` and ``ROLLED_BACK`` are a person's no, ``TRIED`` is gate's or canary's.
        edit, proposal: Digests of the edit and of the proposal around it.
        base_sha, head_sha: The commits between which it lies; no head where none was pushed.
        failing: Digests of the cases that failed in its cycle.
    """

    rule: str
    number: int | None
    by: str
    at: datetime
    edit: str
    proposal: str
    candidate: str
    base_sha: str
    head_sha: str
    failing: frozenset[str]


def noes(progress: Progress) -> tuple[No, ...]:
    """Return every no that still holds, oldest cycle first.

    A reopened pull request and a merge that was brought back are none any more. Too little
    evidence is none either: the same edit may be judged again once there is more.
    """
    merges = {merge.cycle: merge for merge in progress.merges if merge.rolled_back}
    return tuple(no for cycle in progress.cycles for no in _of(cycle, merges.get(cycle.id)))


def failing_in(cycle: CycleState) -> frozenset[str]:
    """Return the digests of the cases that failed when a cycle measured its baseline."""
    measured = cycle.measured
    if measured is None:
        return frozenset()
    return frozenset(used.case for used in measured.used if used.case_id in measured.failing)


def _of(cycle: CycleState, undone: Merge | None) -> Iterator[No]:
    pull = cycle.pull
    tried = {one.proposal for one in cycle.gated if one.verdict.word == "rejected"}
    if cycle.canaried and cycle.canaried.verdict.word == "rejected" and cycle.gated:
        tried.add(cycle.gated[-1].proposal)
    for note in _notes(cycle):
        mine = bool(pull and pull.proposal == note.proposal)
        if mine and undone and undone.rolled_back:
            back = undone.rolled_back
            yield _no(cycle, note, ROLLED_BACK, by=back.by, at=back.made_at or cycle.opened_at)
        elif mine and cycle.declined:
            at = cycle.declined_at or cycle.opened_at
            yield _no(cycle, note, CLOSED, by=cycle.declined.by, at=at)
        elif note.proposal in tried:
            yield _no(cycle, note, TRIED, by="healbot", at=cycle.opened_at)


def _notes(cycle: CycleState) -> tuple[ProposalNote, ...]:
    notes = cycle.proposed.proposals if cycle.proposed else ()
    return (*notes, *(cycle.probed.composed if cycle.probed else ()))


def _no(cycle: CycleState, note: ProposalNote, rule: str, *, by: str, at: datetime) -> No:
    pull = cycle.pull if cycle.pull and cycle.pull.proposal == note.proposal else None
    return No(
        rule=rule,
        number=pull.number if pull else None,
        by=by,
        at=at,
        edit=note.edit,
        proposal=note.proposal,
        candidate=note.candidate,
        base_sha=cycle.opened.base_sha,
        head_sha=pull.head_sha if pull else "",
        failing=failing_in(cycle),
    )
