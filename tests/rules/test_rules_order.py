"""The cycle's order: what comes next follows from what has happened, in every mode."""

from datetime import UTC, datetime

import pytest

from healbot.records.ledger import (
    GENESIS,
    Applied,
    Body,
    Canaried,
    Declined,
    Diagnosed,
    Earned,
    Finding,
    Gated,
    Measured,
    Opened,
    Probed,
    ProposalNote,
    Proposed,
    PullOpened,
    Queued,
    Spend,
)
from healbot.records.settings import Mode
from healbot.records.verdict import Verdict, Word
from healbot.rules.chain import Chain, extend
from healbot.rules.order import Phase, next_candidate, next_phase
from healbot.rules.progress import CycleState, replay

AT = datetime(2026, 1, 1, tzinfo=UTC)


def opened(mode: Mode = Mode.AUTO) -> Opened:
    return Opened(
        mode=mode, base_ref="main", base_sha="s", baseline="b", settings="d", cases="c",
        forecast=Spend(),
    )  # fmt: skip


def note(name: str = "p", refused: str | None = None) -> ProposalNote:
    return ProposalNote(proposal=name, edit=name, editor="e", candidate=name, refused=refused)


def real(was_real: bool | None = True) -> Diagnosed:
    one = Finding(case_id="x", signature="s", distinct_runs=4, was_real=was_real)
    return Diagnosed(used=(), findings=(one,))


def gated(word: Word, name: str = "p") -> Gated:
    return Gated(proposal=name, candidate=name, used=(), verdict=Verdict(word=word))


def canaried(word: Word) -> Canaried:
    return Canaried(number=1, candidate="p", used=(), verdict=Verdict(word=word))


MEASURED = Measured(used=(), failing=("x",))
PROPOSED = Proposed(proposals=(note(),))
PROBED = Probed(used=(), order=("p", "q", "r"))
EARNED = Earned(used=(), standings={})
PULL = PullOpened(number=1, branch="b", head_sha="h", proposal="p", candidate="p")
QUEUED = Queued(number=1, because="manual mode")
APPLIED = Applied(
    number=1, by="a", before="b", after="p", sha="m", base_before_sha="s", proposal="p"
)
DECLINED = Declined(number=1, by="Ada", candidate="p")
TO_GATE = (MEASURED, real(), PROPOSED, PROBED, EARNED)


def state(*bodies: Body, mode: Mode = Mode.AUTO) -> CycleState:
    chain = Chain(head=GENESIS)
    for body in (opened(mode), *bodies):
        entry = extend(chain, body, agent="s", cycle="c", at=AT, spent=Spend())
        chain = Chain(entries=(*chain.entries, entry), head=entry.digest)
    return replay(chain.entries).cycles[-1]


STORY: tuple[tuple[tuple[Body, ...], Phase], ...] = (
    ((), Phase.MEASURE),
    ((MEASURED,), Phase.DIAGNOSE),
    ((MEASURED, real()), Phase.EDIT),
    ((MEASURED, real(), PROPOSED), Phase.PROBE),
    ((MEASURED, real(), PROPOSED, PROBED), Phase.EARN),
    (TO_GATE, Phase.GATE),
    ((*TO_GATE, gated(Word.ADMITTED)), Phase.OPEN),
    ((*TO_GATE, gated(Word.ADMITTED), PULL), Phase.CANARY),
    ((*TO_GATE, gated(Word.ADMITTED), PULL, canaried(Word.ADMITTED)), Phase.DECIDE),
    ((*TO_GATE, gated(Word.ADMITTED), PULL, canaried(Word.ADMITTED), QUEUED), Phase.CLOSE),
    ((*TO_GATE, gated(Word.ADMITTED), PULL, canaried(Word.ADMITTED), APPLIED), Phase.CLOSE),
    ((*TO_GATE, gated(Word.ADMITTED), PULL, canaried(Word.ADMITTED), DECLINED), Phase.CLOSE),
)
ENDS: tuple[tuple[Body, ...], ...] = (
    (Measured(used=(), failing=()),),
    (MEASURED, real(False)),
    (MEASURED, real(None)),
    (MEASURED, real(), Proposed(proposals=())),
    (MEASURED, real(), Proposed(proposals=(note(refused="protected"),))),
    (MEASURED, real(), PROPOSED, Probed(used=(), order=())),
    (*TO_GATE, gated(Word.UNDERPOWERED)),
    (*TO_GATE, gated(Word.NOT_EXERCISED)),
    (*TO_GATE, gated(Word.REJECTED), gated(Word.REJECTED, "q")),
    (*TO_GATE, gated(Word.ADMITTED), PULL, canaried(Word.REJECTED)),
    (*TO_GATE, gated(Word.ADMITTED), PULL, canaried(Word.UNDERPOWERED)),
)


@pytest.mark.parametrize(("bodies", "phase"), STORY)
def test_each_entry_leads_to_the_next_phase(bodies: tuple[Body, ...], phase: Phase) -> None:
    assert next_phase(state(*bodies), fallbacks=1) == phase


@pytest.mark.parametrize("bodies", ENDS)
def test_a_cycle_ends_where_there_is_nothing_to_do(bodies: tuple[Body, ...]) -> None:
    assert next_phase(state(*bodies), fallbacks=1) == Phase.CLOSE


def test_a_refused_edit_among_others_does_not_end_it() -> None:
    mixed = Proposed(proposals=(note(refused="too-long"), note("q")))
    assert next_phase(state(MEASURED, real(), mixed), fallbacks=0) == Phase.PROBE


def test_observe_mode_opens_nothing_and_decides_nothing() -> None:
    bodies = (*TO_GATE, gated(Word.ADMITTED))
    assert next_phase(state(*bodies, mode=Mode.OBSERVE), fallbacks=1) == Phase.CANARY
    done = (*bodies, canaried(Word.ADMITTED))
    assert next_phase(state(*done, mode=Mode.OBSERVE), fallbacks=1) == Phase.CLOSE


def test_after_a_refusal_so_many_further_candidates_are_tried_as_are_allowed() -> None:
    once = state(*TO_GATE, gated(Word.REJECTED))
    assert next_candidate(state(*TO_GATE), fallbacks=0) == "p"
    assert next_candidate(once, fallbacks=0) is None
    assert next_candidate(once, fallbacks=1) == "q"
    assert next_phase(once, fallbacks=1) == Phase.GATE
    twice = state(*TO_GATE, gated(Word.REJECTED), gated(Word.ADMITTED, "q"))
    assert next_phase(twice, fallbacks=1) == Phase.OPEN


def test_where_too_little_could_be_told_another_candidate_is_not_tried() -> None:
    assert next_candidate(state(*TO_GATE, gated(Word.UNDERPOWERED)), fallbacks=5) is None


def test_before_anything_was_probed_there_is_no_candidate() -> None:
    assert next_candidate(state(MEASURED), fallbacks=5) is None
