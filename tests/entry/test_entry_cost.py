"""``healbot cost``: before the first cycle and after, with unknown prices said and not guessed."""

from pathlib import Path

import pytest
from fakes import Said, hire
from sandbox import make_repository
from telling import SETTINGS, answered, call, change

from healbot.records.run import Usage


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo")


def test_before_the_first_cycle_it_forecasts_and_guesses_no_price(repo: Path) -> None:
    (agent,) = answered(repo, "cost")["agents"]
    following = agent["next_cycle"]
    assert following["most"]["runs"] == sum(one["most_runs"] for one in following["parts"]) > 0
    assert following["expected"] is None
    assert not following["most"]["usd_known"]
    assert agent["month"]["cycles"] == 30
    told = call(repo, "cost")
    assert "the price is not known" in told.err
    assert "not run yet" in told.err
    assert "$10.00 counted" in told.out


def test_the_forecast_is_the_one_that_the_next_cycle_is_opened_with_and_actuals_follow(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hire(monkeypatch, lambda *_: Said("escalate hello", usage=Usage(tokens=10, usd=0.01)))
    before = answered(repo, "cost")["agents"][0]["next_cycle"]["most"]
    done = answered(repo, "cycle")
    kinds = ("runs", "tokens", "usd")
    assert [before[kind] for kind in kinds] == [done["forecast"][kind] for kind in kinds]
    facts = answered(repo, "cost", "--cycles-per-month", "4")
    (agent,) = facts["agents"]
    runs = done["spent"]["runs"]
    assert agent["actual"]["last"]["runs"] == agent["actual"]["mean"]["runs"] == runs
    assert agent["month"]["cycles"] == 4
    assert agent["month"]["expected"]["runs"] == 4 * runs
    assert agent["forecasts"]["above"] == []
    assert agent["reported"] == {"runs": 3, "with_tokens": 3, "money": True}
    assert facts["budget"]["day"]["spent"]["runs"] == runs
    assert facts["budget"]["day"]["left"]["usd"] == 15 - done["spent"]["usd"]


def test_where_a_cycle_would_not_begin_it_says_so(repo: Path) -> None:
    change(repo, SETTINGS, "version: 1", "version: 1\nbudget: {cycle: {runs: 3}}")
    (agent,) = answered(repo, "cost")["agents"]
    assert not agent["next_cycle"]["fits"]
    assert "would not begin" in call(repo, "cost").err
