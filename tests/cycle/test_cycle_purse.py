"""The one owner of money and runs: what was not reserved is not spent."""

import pytest
from fakes import FakeClock

from healbot.cycle.purse import Purse
from healbot.errors import BudgetError
from healbot.records.ledger import Spend
from healbot.records.run import Usage
from healbot.records.settings import RunWorstCase
from healbot.rules.budget import UNLIMITED, Left

WORST = RunWorstCase(tokens=100, usd=0.5)


def purse(clock: FakeClock | None = None, **left: float) -> Purse:
    whole = Left(UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED)
    return Purse(whole._replace(**left), WORST, clock or FakeClock())


@pytest.mark.parametrize("left", [{"runs": 2}, {"tokens": 299}, {"usd": 1.2}])
def test_no_more_is_set_aside_than_fits_at_the_worst_case(left: dict[str, float]) -> None:
    mine = purse(None, **left)
    mine.reserve()
    mine.reserve()
    with pytest.raises(BudgetError, match="after 0 runs"):
        mine.reserve()
    mine.give_back()
    mine.reserve()


def test_a_run_that_was_cheaper_leaves_room_for_more() -> None:
    mine = purse(tokens=200)
    for _ in range(10):
        mine.reserve()
        mine.give_back()
        mine.count(Usage(tokens=10))
    assert mine.take() == Spend(runs=10, tokens=100, usd=5)


def test_a_run_that_was_dearer_raises_what_later_ones_set_aside() -> None:
    mine = purse(tokens=1300)
    mine.count(Usage(tokens=400))
    mine.reserve()
    with pytest.raises(BudgetError, match="after 1 runs"):
        mine.reserve()


def test_one_that_was_dearer_does_not_change_what_an_unreported_run_counts() -> None:
    mine = purse()
    mine.count(Usage(tokens=400, usd=2))
    mine.count(Usage())
    assert mine.take() == Spend(runs=2, tokens=500, usd=2.5)


def test_when_the_time_is_up_nothing_more_begins() -> None:
    clock = FakeClock()
    mine = purse(clock, seconds=60)
    clock.pass_(59)
    mine.reserve()
    clock.pass_(1)
    with pytest.raises(BudgetError):
        mine.reserve()


def test_what_is_told_once_is_not_told_again() -> None:
    clock = FakeClock()
    mine = purse(clock)
    mine.count(Usage())
    clock.pass_(2)
    assert mine.take() == Spend(runs=1, tokens=100, usd=0.5, seconds=2)
    mine.count(Usage(tokens=1, usd=0))
    assert mine.take() == Spend(runs=1, tokens=1)
    assert mine.take() == Spend()


def test_a_question_to_a_model_is_held_and_then_counted_without_a_run() -> None:
    mine = purse(tokens=1000, usd=10)
    mine.hold(600)
    with pytest.raises(BudgetError, match="no room for another question"):
        mine.hold(600)
    mine.pay(600, 250, 0.125)
    mine.hold(600)
    mine.pay(600, 100, None)
    assert mine.take() == Spend(tokens=350, usd=0.625)


def test_what_is_held_for_a_question_is_not_left_for_runs() -> None:
    mine = purse(tokens=1000)
    mine.hold(950)
    with pytest.raises(BudgetError):
        mine.reserve()
    mine.pay(950, 10, None)
    mine.reserve()


@pytest.mark.parametrize("left", [{"tokens": 99}, {"usd": 0.49}, {"seconds": 0}])
def test_a_question_that_does_not_fit_is_not_held(left: dict[str, float]) -> None:
    with pytest.raises(BudgetError):
        purse(None, **left).hold(100)
