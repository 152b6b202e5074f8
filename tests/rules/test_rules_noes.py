"""Every no in a ledger, and what takes one back."""

from datetime import timedelta

from test_rules_progress import AT, CLOSED, OPENED, PROPOSED, PULL, applied, back, gated

from healbot.records.ledger import Body, Declined, Measured, Queued, Spend, TakenBack
from healbot.records.verdict import Word
from healbot.rules.chain import Chain, extend
from healbot.rules.noes import CLOSED as CLOSED_BEFORE
from healbot.rules.noes import ROLLED_BACK, TRIED, noes
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
