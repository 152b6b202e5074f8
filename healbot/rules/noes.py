"""Every no in a ledger: which edit it was said to, by whom, and which cases were known then.

Pure: what such an edit said, and what those cases asked, is read from git and the journal by
``cycle/memory.py``.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from healbot.records.case import Case
from healbot.records.ledger import ProposalNote, Used
from healbot.records.record import Record
from healbot.rules.matching import clusters
from healbot.rules.progress import CycleState, Merge, Progress, uses

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
        cases, case_ids: Digests and ids of all cases that ran in its cycle, passed or failed.
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
    cases: frozenset[str] = frozenset()
    case_ids: frozenset[str] = frozenset()


def noes(progress: Progress) -> tuple[No, ...]:
    """Return every no that still holds, oldest cycle first.

    A reopened pull request and a merge that was brought back are none any more. Too little
    evidence is none either: the same edit may be judged again once there is more. Nor is a verdict
    on a person's own edit (``healbot check``): a trial of theirs binds no editor.
    """
    merges = {merge.cycle: merge for merge in progress.merges if merge.rolled_back}
    return tuple(no for cycle in progress.cycles for no in _of(cycle, merges.get(cycle.id)))


def refused_edits(progress: Progress) -> tuple[str, ...]:
    """Return the digests of the edits to which a no was said, each once."""
    return tuple(dict.fromkeys(no.edit for no in noes(progress)))


def new_among(
    cases: Sequence[Case], said_no: Sequence[No], then: Sequence[Case]
) -> tuple[Case, ...]:
    """Return the cases that nobody knew when a no was said.

    Known is a case that ran in a refused cycle, by digest or id, and every near-duplicate of one:
    an old case in other words, or one that fails today and passed then, is no new evidence.

    Args:
        cases: Those that fail now.
        said_no: The noes to an edit.
        then: The cases of their cycles, as far as they can be read.
    """
    ran = frozenset[str]().union(*(no.cases for no in said_no))
    named = frozenset[str]().union(*(no.case_ids for no in said_no))
    every = (*then, *cases)
    seen = {
        place
        for place, case in enumerate(every)
        if place < len(then) or case.digest in ran or case.id in named
    }
    known = {place for group in clusters(every) if seen & set(group) for place in group}
    return tuple(case for place, case in enumerate(every) if place not in known)


def _of(cycle: CycleState, undone: Merge | None) -> Iterator[No]:
    pull = cycle.pull
    tried = _tried(cycle)
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


def _tried(cycle: CycleState) -> set[str]:
    """Return the proposals that gate or canary rejected; none in a person's trial."""
    if cycle.opened.checked:
        return set()
    tried = {one.proposal for one in cycle.gated if one.verdict.word == "rejected"}
    if cycle.canaried and cycle.canaried.verdict.word == "rejected" and cycle.gated:
        tried.add(cycle.gated[-1].proposal)
    return tried


def _ran(cycle: CycleState) -> tuple[Used, ...]:
    """Return the runs of every decision of a cycle."""
    parts = (cycle.measured, cycle.diagnosed, cycle.probed, cycle.earned, cycle.canaried)
    bodies = [one for one in (*parts, *cycle.gated) if one]
    return tuple(used for body in bodies for used in uses(body))


def _notes(cycle: CycleState) -> tuple[ProposalNote, ...]:
    notes = cycle.proposed.proposals if cycle.proposed else ()
    return (*notes, *(cycle.probed.composed if cycle.probed else ()))


def _no(cycle: CycleState, note: ProposalNote, rule: str, *, by: str, at: datetime) -> No:
    pull = cycle.pull if cycle.pull and cycle.pull.proposal == note.proposal else None
    ran = _ran(cycle)
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
        cases=frozenset(used.case for used in ran),
        case_ids=frozenset(used.case_id for used in ran),
    )
