"""Replay: a ledger's entries, folded into where things stand."""

from datetime import UTC, datetime, timedelta

import pytest

from healbot.records.case import Standing
from healbot.records.ledger import (
    Applied,
    Body,
    Closed,
    Declined,
    Earned,
    Entry,
    Gated,
    Measured,
    Opened,
    ProposalNote,
    Proposed,
    PullOpened,
    Queued,
    RolledBack,
    Spend,
    Switched,
    Used,
)
from healbot.records.run import Outcome, RunKey
from healbot.records.settings import Mode
from healbot.records.verdict import Verdict, Word
from healbot.rules.chain import Chain, extend
from healbot.rules.progress import Progress, replay

AT = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
OPENED = Opened(
    mode=Mode.AUTO, base_ref="main", base_sha="s", baseline="b", settings="d", cases="c",
    forecast=Spend(),
)  # fmt: skip
PROPOSED = Proposed(
    proposals=(
        ProposalNote(proposal="p", edit="edit-p", editor="e", candidate="cp"),
        ProposalNote(proposal="q", edit="edit-q", editor="e", candidate="cq", refused="too-long"),
    )
)
PULL = PullOpened(number=1, branch="b", head_sha="h", proposal="p", candidate="cp")
CLOSED = Closed(outcome="queued")


def used(case: str = "k", repeats: tuple[int, ...] = (0, 1, 2), revision: str = "b") -> Used:
    return Used(
        case_id="x", case=case, revision=revision, runner="w", repeats=repeats,
        outcomes=(Outcome.PASS,) * len(repeats), tokens=(None,) * len(repeats),
    )  # fmt: skip


def gated(word: Word, *uses: Used) -> Gated:
    return Gated(proposal="p", candidate="cp", used=uses, verdict=Verdict(word=word))


def applied(sha: str = "m1", before: str = "b", after: str = "cp", fixed: str = "k") -> Applied:
    return Applied(
        number=1, by="healbot", before=before, after=after, sha=sha, base_before_sha="s",
        proposal="p", fixed=(fixed,),
    )  # fmt: skip


def back(sha: str = "m1", before: str = "cp", after: str = "b", **more: object) -> RolledBack:
    return RolledBack.model_validate(
        {"number": 1, "by": "Ada", "why": "w", "before": before, "after": after,
         "reverted_sha": sha, "sha": "r", **more}
    )  # fmt: skip


def ledger(*bodies: tuple[str | None, Body], spent: Spend = Spend(runs=2)) -> tuple[Entry, ...]:  # noqa: B008
    chain = Chain()
    for hour, (cycle, body) in enumerate(bodies):
        entry = extend(chain, body, agent="s", cycle=cycle, at=AT + hour * HOUR, spent=spent)
        chain = Chain(entries=(*chain.entries, entry), head=entry.digest)
    return chain.entries


def story(*bodies: Body, cycle: str = "c1") -> Progress:
    return replay(ledger(*((cycle, body) for body in (OPENED, *bodies))))


def test_nothing_happened_is_an_empty_progress() -> None:
    assert replay(()) == Progress()
    assert replay(()).current is None


def test_a_cycle_is_under_way_until_it_is_closed() -> None:
    begun = story(Measured(used=(), failing=("x",)))
    assert begun.current is not None
    assert begun.current.measured is not None
    assert story(Closed(outcome="healthy")).current is None


def test_what_a_cycle_spent_is_counted_with_it_and_in_all() -> None:
    done = replay(ledger(("c1", OPENED), ("c1", CLOSED), (None, Switched(stopped=True, by="A"))))
    assert done.cycles[0].spent.runs == 2
    assert [spend.runs for _, spend in done.spent] == [2, 2, 2]
    assert [at for at, _ in done.spent] == [AT, AT + HOUR, AT + 2 * HOUR]


def test_no_repeat_number_is_given_twice() -> None:
    progress = story(
        Measured(used=(used(repeats=(0, 1, 2)),), failing=()),
        gated(Word.REJECTED, used(repeats=(5, 3)), used(revision="cp", repeats=(0,))),
    )
    key = RunKey(revision="b", case="k", runner="w", repeat=0)
    assert progress.first_repeat(key) == 6
    assert progress.first_repeat(key.model_copy(update={"revision": "cp"})) == 1
    assert progress.first_repeat(key.model_copy(update={"runner": "other"})) == 6
    assert progress.first_repeat(key.model_copy(update={"case": "other"})) == 0


def test_a_pull_request_waits_until_it_is_merged_or_closed_by_whichever_door() -> None:
    waiting = (PROPOSED, gated(Word.ADMITTED), PULL, Queued(number=1, because="m"), CLOSED)
    assert [one.id for one in story(*waiting).waiting()] == ["c1"]
    assert story(*waiting, applied()).waiting() == ()
    assert story(*waiting, Declined(number=1, by="A", candidate="cp")).waiting() == ()


def test_a_rollback_undoes_the_merge_that_it_names_once() -> None:
    done = replay(
        ledger(("c1", OPENED), ("c1", applied()), (None, back()), (None, back(why="again")))
    )
    (merge,) = done.merges
    assert merge.rolled_back is not None
    assert merge.rolled_back.why == "w"
    assert [at for at, _ in done.rollbacks] == [AT + 2 * HOUR, AT + 3 * HOUR]


def test_a_rollback_past_several_merges_undoes_them_all() -> None:
    first, second = applied(), applied("m2", before="cp", after="d", fixed="k2")
    done = replay(
        ledger(
            ("c1", OPENED), ("c1", first), ("c2", OPENED), ("c2", second),
            (None, back("m1", before="d", after="b")),
        )
    )  # fmt: skip
    assert all(merge.rolled_back for merge in done.merges)
    assert done.standings == {}


def test_a_person_s_revert_of_an_earlier_merge_leaves_the_later_one() -> None:
    first, second = applied(), applied("m2", before="cp", after="d", fixed="k2")
    done = replay(
        ledger(
            ("c1", OPENED), ("c1", first), ("c2", OPENED), ("c2", second),
            (None, back("m1", before="cp", after="b")),
        )
    )  # fmt: skip
    assert [bool(merge.rolled_back) for merge in done.merges] == [True, False]


def test_standings_are_earned_fixed_and_lost_with_the_fix() -> None:
    earned = Earned(used=(), standings={"h": Standing.PROTECTED})
    merged = story(earned, applied())
    assert merged.standings == {"h": Standing.PROTECTED, "k": Standing.FIXED}
    undone = replay(ledger(("c1", OPENED), ("c1", earned), ("c1", applied()), (None, back())))
    assert undone.standings == {"h": Standing.PROTECTED}


def test_an_entry_of_a_cycle_that_was_never_opened_is_a_fault_of_the_ledger() -> None:
    with pytest.raises(ValueError, match="never opened"):
        replay(ledger(("c9", CLOSED)))
