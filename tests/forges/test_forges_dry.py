"""The forge of a dry run: tells each Intent, remembers what it would have left, changes nothing."""

from pathlib import Path

from sandbox import git
from test_forges_local import folder, forge, merging, opening

from healbot.cycle.execute import execute
from healbot.forges.dry import DryForge
from healbot.records.intent import ClosePull, Intent, UpdatePull

__all__ = ["folder"]


def test_intents_are_told_in_order_and_no_ref_moves(folder: Path) -> None:  # noqa: F811
    before = git(folder, "for-each-ref")
    told: list[Intent] = []
    dry = DryForge(forge(folder), told.append)
    intents = [
        opening(folder),
        UpdatePull(key="u", number=1, body="new", draft=False),
        merging(1, "0" * 40),
    ]
    effects = execute(intents, dry, lambda: None)
    assert told == intents
    assert effects[0].number == 1
    pull = dry.pull(1)
    assert pull is not None
    assert (pull.state, pull.body, pull.draft) == ("merged", "new", False)
    assert git(folder, "for-each-ref") == before
    assert forge(folder).pulls() == ()


def test_numbers_go_on_from_the_real_queue(folder: Path) -> None:  # noqa: F811
    execute([opening(folder)], forge(folder), lambda: None)
    dry = DryForge(forge(folder), lambda _: None)
    execute([opening(folder, "open:2", "b2")], dry, lambda: None)
    dry.perform(ClosePull(key="c", number=1, by="Ada", at=opening(folder).at))
    assert [(one.number, one.state) for one in dry.pulls()] == [(1, "closed"), (2, "open")]
    assert [one.state for one in forge(folder).pulls()] == ["open"]
