"""A card knows when its numbers do not add up."""

import sys
from pathlib import Path

from healbot.records.card import Card, Tally
from healbot.records.run import Outcome

sys.path.insert(0, str(Path(__file__).parents[1] / "views"))
from card_samples import admitted, refused


def changed(card: Card, **values: object) -> Card:
    return card.model_copy(update=values)


def test_the_samples_add_up() -> None:
    assert admitted().mismatches() == ()
    assert refused().mismatches() == ()


def test_what_could_not_be_scored_is_neither_a_pass_nor_a_fail() -> None:
    tally = Tally.of([Outcome.PASS, Outcome.NONE, Outcome.FAIL])
    assert (tally.passes, tally.scored, tally.runs) == (1, 2, 3)


def test_a_run_that_the_table_does_not_count_is_found() -> None:
    card = admitted()
    assert changed(card, runs=card.runs[:-1]).mismatches()


def test_a_first_line_that_differs_from_the_table_is_found() -> None:
    card = admitted()
    lucky = card.triggers[0].model_copy(update={"candidate": Tally(passes=6)})
    assert changed(card, triggers=(lucky,)).mismatches()
    assert changed(card, protected=card.protected.model_copy(update={"cases": 9})).mismatches()
    assert card.canary
    assert changed(card, canary=card.canary.model_copy(update={"cases": 8})).mismatches()


def test_more_runs_listed_than_spent_is_found() -> None:
    card = admitted()
    assert changed(card, cost=card.cost.model_copy(update={"runs": 5})).mismatches()


def test_a_diff_count_that_the_lines_do_not_bear_out_is_found() -> None:
    card = admitted()
    change = card.changes[0].model_copy(update={"added": 2})
    assert changed(card, changes=(change,)).mismatches()


def test_a_card_whose_details_were_left_out_is_not_blamed() -> None:
    card = admitted()
    assert changed(card, runs=(), complete=False).mismatches() == ()
