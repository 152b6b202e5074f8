"""Dating a run: by its commit, else by place and time, else not at all."""

from datetime import UTC, datetime, timedelta

import pytest

from healbot.records.observed import UNKNOWN_REVISION, ObservedRun
from healbot.rules.dating import Live, dated, timeline

T = datetime(2026, 3, 1, tzinfo=UTC)
FIRST, SECOND, OTHER = "a" * 64, "b" * 64, "c" * 64
HISTORY = (Live(T, FIRST), Live(T + timedelta(days=2), SECOND))


def revision(**fields: object) -> str:
    plain = {"session": "s", "at": T + timedelta(days=1), "cwd": "/r/agents", "branch": "main"}
    run = ObservedRun.model_validate({**plain, **fields})
    return dated(run, HISTORY, base="main", roots=["/r"], at_commit={"abc1234": OTHER}.get).revision


def test_place_and_time_name_the_revision_that_was_live() -> None:
    assert revision() == FIRST
    assert revision(at=T + timedelta(days=2)) == SECOND
    assert revision(branch=None) == FIRST


@pytest.mark.parametrize(
    "fields",
    [
        {"at": T - timedelta(days=1)},
        {"branch": "other"},
        {"cwd": "/rest"},
        {"cwd": None},
        {"commit": "fffffff"},
    ],
)
def test_where_it_can_t_be_told_it_stays_unknown(fields: dict[str, object]) -> None:
    assert revision(**fields) == UNKNOWN_REVISION


def test_a_commit_settles_it_and_a_known_revision_is_left_alone() -> None:
    assert revision(commit="abc1234") == OTHER
    assert revision(revision=SECOND, commit="abc1234") == SECOND


def test_a_timeline_names_each_change_once_and_never_goes_back_in_time() -> None:
    day = timedelta(days=1)
    commits = [(T, FIRST), (T + day, FIRST), (T + 2 * day, None), (T - day, SECOND)]
    assert timeline(commits) == (Live(T, FIRST), Live(T, SECOND))
