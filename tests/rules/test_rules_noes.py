"""Every no in a ledger, what takes one back, and what is new since."""

from datetime import timedelta

import pytest
from test_rules_progress import AT, CLOSED, OPENED, PROPOSED, PULL, applied, back, gated, used

from healbot.records.case import Case
from healbot.records.ledger import Body, Canaried, Declined, Measured, Queued, Spend, TakenBack
from healbot.records.verdict import Verdict, Word
from healbot.rules.chain import Chain, extend
from healbot.rules.noes import CLOSED as CLOSED_BEFORE
from healbot.rules.noes import ROLLED_BACK, TRIED, new_among, noes, refused_edits
from healbot.rules.progress import Progress, replay

MEASURED = Measured(used=(), failing=())
DECLINED = Declined(number=1, by="Ada", candidate="cp")
QUEUED = Queued(number=1, because="manual mode")


def _after(*bodies: Body) -> Progress:
    chain = Chain()
    for place, body in enumerate(bodies):
        entry = extend(
            chain, body, agent="s", cycle="c", at=AT + timedelta(hours=place), spent=Spend()
        )
        chain = Chain(entries=(*chain.entries, entry), head=entry.digest)
    return replay(chain.entries)


def test_a_closing_a_rollback_and_a_verdict_are_noes_of_three_kinds() -> None:
    start = (OPENED, MEASURED, PROPOSED, gated(Word.ADMITTED), PULL, QUEUED, CLOSED)
    said = [
        _after(*start, DECLINED),
        _after(*start, applied(), back()),
        _after(OPENED, PROPOSED, gated(Word.REJECTED)),
    ]
    assert [[no.rule for no in noes(one)] for one in said] == [
        [CLOSED_BEFORE], [ROLLED_BACK], [TRIED]
    ]  # fmt: skip
    assert noes(said[0])[0].at == AT + timedelta(hours=7)


def test_what_a_person_takes_back_is_no_no_any_more() -> None:
    start = (OPENED, PROPOSED, gated(Word.ADMITTED), PULL, QUEUED, CLOSED)
    reopened = _after(*start, DECLINED, TakenBack(number=1, by="Ada", after="cp"))
    assert not noes(reopened)
    assert [one.id for one in reopened.waiting()] == ["c"]
    assert len(reopened.pulls_since(AT)) == 2
    rolled = back()
    again = TakenBack(number=1, by="Ada", after="cp", sha="z", reverted_sha=rolled.sha)
    stands = _after(*start, applied(), rolled, again)
    assert not noes(stands)
    assert stands.merges[0].rolled_back is None
    assert stands.last_rollback() is None
    assert stands.standings


DOUBTED = Canaried(number=1, candidate="cp", used=(), verdict=Verdict(word=Word.REJECTED))


@pytest.mark.parametrize(
    ("bodies", "refused"),
    [
        ((gated(Word.ADMITTED), PULL), ()),
        ((gated(Word.REJECTED),), ("edit-p",)),
        ((gated(Word.ADMITTED), PULL, DECLINED), ("edit-p",)),
        ((gated(Word.ADMITTED), PULL, DOUBTED), ("edit-p",)),
        ((gated(Word.ADMITTED), DOUBTED), ("edit-p",)),
        ((gated(Word.ADMITTED), PULL, applied()), ()),
        ((gated(Word.ADMITTED), PULL, applied(), back()), ("edit-p",)),
    ],
)
def test_a_no_is_remembered_by_the_edit(bodies: tuple[Body, ...], refused: tuple[str, ...]) -> None:
    assert refused_edits(_after(OPENED, PROPOSED, *bodies)) == refused


@pytest.mark.parametrize("verdict", [(gated(Word.REJECTED),), (gated(Word.ADMITTED), DOUBTED)])
def test_a_verdict_on_a_persons_own_edit_is_no_no_of_the_bots(verdict: tuple[Body, ...]) -> None:
    trial = OPENED.model_copy(update={"checked": "c0ffee"})
    assert not noes(_after(trial, PROPOSED, *verdict))


def test_only_a_case_that_nobody_knew_is_new_whatever_its_old_outcome_was() -> None:
    asked = "please refund order 1001 of 61.20"
    old = Case(id="refund", input=asked)
    passed_then = Measured(used=(used(case=old.digest),), failing=())
    said = noes(_after(OPENED, passed_then, PROPOSED, gated(Word.REJECTED)))

    def new(case: Case, *then: Case) -> bool:
        return bool(new_among((case,), said, then))

    assert not new(old)
    assert not new(Case(id="x", input=asked))  # the id that the ledger knows, in other words
    comma = Case(id="refund-again", input=asked.replace("refund ", "refund, "))
    assert not new(comma, old)
    assert new(Case(id="late", input="refund an order of last year"), old)
