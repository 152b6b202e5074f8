"""The forge of a dry run: tells each Intent, remembers what it would have left, changes nothing."""

from pathlib import Path

from queueing import forge, merging, opening
from sandbox import git

from healbot.cycle.execute import execute
from healbot.forges.dry import DryForge
from healbot.records.intent import ClosePull, Intent, UpdatePull


def test_intents_are_told_in_order_and_no_ref_moves(desk: Path) -> None:
    before = git(desk, "for-each-ref")
    told: list[Intent] = []
    dry = DryForge(forge(desk), told.append)
    intents: list[Intent] = [
        opening(desk),
        UpdatePull(key="u", number=1, body="new", draft=False),
        merging(1, "0" * 40),
    ]
    effects = execute(intents, dry, lambda: None)
    assert told == intents
    assert effects[0].number == 1
    pull = dry.pull(1)
    assert pull is not None
    assert (pull.state, pull.body, pull.draft) == ("merged", "new", False)
    assert git(desk, "for-each-ref") == before
    assert forge(desk).pulls() == ()


def test_numbers_go_on_from_the_real_queue(desk: Path) -> None:
    execute([opening(desk)], forge(desk), lambda: None)
    dry = DryForge(forge(desk), lambda _: None)
    execute([opening(desk, "open:2", "b2")], dry, lambda: None)
    dry.perform(ClosePull(key="c", number=1, by="Ada", at=opening(desk).at))
    assert [(one.number, one.state) for one in dry.pulls()] == [(1, "closed"), (2, "open")]
    assert [one.state for one in forge(desk).pulls()] == ["open"]
