"""The cycle's order: what comes next is a rule of what has happened.

Pure. One code path for a first run, a resume after a crash, and a later job of a workflow.
"""

from enum import StrEnum

from healbot.records.settings import Mode
from healbot.records.verdict import Word
from healbot.rules.progress import CycleState


class Phase(StrEnum):
    """What a cycle does next; each ends by appending one entry."""

    MEASURE = "measure"
    DIAGNOSE = "diagnose"
    EDIT = "edit"
    PROBE = "probe"
    EARN = "earn"
    GATE = "gate"
    OPEN = "open"
    CANARY = "canary"
    DECIDE = "decide"
    CLOSE = "close"


GUARDED_BY_STOP = frozenset({Phase.MEASURE, Phase.EDIT, Phase.OPEN, Phase.CANARY, Phase.DECIDE})
"""Phases before which the kill switch is looked at again (the spec: editors, canary, write)."""


def next_phase(cycle: CycleState, *, fallbacks: int) -> Phase:
    """Return what a cycle that is not closed does next."""
    early = _given(cycle) if cycle.opened.checked else _finding(cycle) or _editing(cycle)
    if early:
        return early
    if not admitted(cycle):
        return Phase.GATE if next_candidate(cycle, fallbacks=fallbacks) else Phase.CLOSE
    if not cycle.pull and cycle.opened.mode != Mode.OBSERVE:
        return Phase.OPEN
    if not cycle.canaried:
        return Phase.CANARY
    if cycle.opened.mode == Mode.OBSERVE or cycle.queued or cycle.applied:
        return Phase.CLOSE
    return Phase.DECIDE if cycle.canaried.verdict.word == Word.ADMITTED else Phase.CLOSE


def _finding(cycle: CycleState) -> Phase | None:
    """From the first run to failures known to be real; a person's no ends it wherever it stood."""
    if cycle.declined:
        return Phase.CLOSE
    if not cycle.measured:
        return Phase.MEASURE
    if not cycle.measured.failing:
        return Phase.CLOSE
    if not cycle.diagnosed:
        return Phase.DIAGNOSE
    real = any(finding.was_real for finding in cycle.diagnosed.findings)
    return None if real else Phase.CLOSE


def _given(cycle: CycleState) -> Phase | None:
    """A person's edit is judged as it is; no standing is paid for before the gate admits it."""
    if not (cycle.proposed and cycle.probed):
        return Phase.CLOSE
    return Phase.EARN if admitted(cycle) and not cycle.earned else None


def _editing(cycle: CycleState) -> Phase | None:
    """From failures to candidates in the gate's order."""
    if not cycle.proposed:
        return Phase.EDIT
    if all(note.refused for note in cycle.proposed.proposals):
        return Phase.CLOSE
    if not cycle.probed:
        return Phase.PROBE
    if not cycle.probed.order:
        return Phase.CLOSE
    return None if cycle.earned else Phase.EARN


def admitted(cycle: CycleState) -> bool:
    """Whether the gate admitted the candidate that it judged last."""
    return bool(cycle.gated) and cycle.gated[-1].verdict.word == Word.ADMITTED


def next_candidate(cycle: CycleState, *, fallbacks: int) -> str | None:
    """Return the digest of the proposal that the gate judges next, or None.

    Each further candidate is another chance for noise, so only ``fallbacks`` of them are tried,
    and only after a plain refusal: where too little could be told, another candidate tells no more.
    """
    if not cycle.probed:
        return None
    tried = len(cycle.gated)
    if tried and cycle.gated[-1].verdict.word != Word.REJECTED:
        return None
    return next(iter(cycle.probed.order[tried : 1 + fallbacks][:1]), None)
