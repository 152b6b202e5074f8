"""The observe store: once is once, and what is erased is gone."""

from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

import pytest

from healbot.errors import InputError
from healbot.records.observed import ObservedRun, is_session_key, keyed, session_key
from healbot.stores.observed import ObservedRuns

T = datetime(2026, 3, 1, tzinfo=UTC)


def run(session: str = "one", hour: int = 0, **fields: object) -> ObservedRun:
    plain = {"session": session, "at": T + timedelta(hours=hour), "input": "x"}
    return ObservedRun.model_validate({**plain, **fields})


def counts(store: ObservedRuns, *runs: ObservedRun) -> tuple[int, ...]:
    added = store.add(runs)
    return tuple(len(one) for one in added)


def test_steps_are_new_then_known_and_a_later_step_extends(tmp_path: Path) -> None:
    store = ObservedRuns(tmp_path)
    assert counts(store, run(), run("two")) == (2, 0, 0)
    assert counts(store, run(), run(hour=1)) == (0, 1, 1)
    found = store.named("one")
    assert found
    assert [step.at.hour for step in found.steps] == [0, 1]
    assert store.named(session_key("one")[:8]) == found


def test_a_run_that_is_dated_later_is_no_other_run(tmp_path: Path) -> None:
    store = ObservedRuns(tmp_path)
    store.add([run()])
    assert counts(store, run(revision="a" * 64)) == (0, 0, 1)
    found = store.named("one")
    assert found
    assert found.last.revision == "a" * 64


def test_a_damaged_file_counts_as_none_and_is_mended_by_the_next_addition(tmp_path: Path) -> None:
    store = ObservedRuns(tmp_path)
    store.add([run()])
    next(path for path in tmp_path.glob("*/*") if path.is_file()).write_bytes(b"{")
    assert store.all() == ()
    assert counts(store, run()) == (1, 0, 0)


def test_old_sessions_are_dropped_and_one_or_all_can_be_erased(tmp_path: Path) -> None:
    store = ObservedRuns(tmp_path)
    store.add([run("old", -48), run("one"), run("two"), run("three")])
    assert store.drop_before(T - timedelta(hours=1)) == 1
    assert [one.last.session for one in store.erase("one")] == ["one"]
    assert store.erase("one") == ()
    assert len(store.erase(None)) == 2
    assert [path for path in tmp_path.glob("*/*") if path.is_file()] == []


def add_each(folder: Path, hours: range) -> None:
    store = ObservedRuns(folder)
    for hour in hours:
        store.add([run(hour=hour)])


def test_two_processes_that_add_to_one_session_lose_nothing(tmp_path: Path) -> None:
    start = get_context("spawn").Process
    both = [start(target=add_each, args=(tmp_path, range(n, 120, 2))) for n in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    found = ObservedRuns(tmp_path).named("one")
    assert found
    assert len(found.steps) == 120


def test_a_key_s_beginning_that_several_sessions_share_is_refused(tmp_path: Path) -> None:
    store = ObservedRuns(tmp_path)
    keys = ["abcdef" + end * 58 for end in "01"]
    store.add([run(key) for key in keys])
    with pytest.raises(InputError, match="2 sessions"):
        store.named("abcdef")
    assert store.named("abcdef0")


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"])
def test_an_instant_that_utc_has_not_is_no_run(at: str) -> None:
    with pytest.raises(ValueError, match="no calendar"):
        run(at=at)


def test_half_characters_are_replaced_wherever_they_stand(tmp_path: Path) -> None:
    calls = [{"name": "t", "args": {"\ud800": ["\ud800"]}}]
    store = ObservedRuns(tmp_path)
    store.add([run("\ud800", output="\ud800", tool_calls=calls)])
    assert store.all()[0].last.output == "?"


def test_a_damaged_file_and_what_a_crash_left_go_with_their_session_alone(tmp_path: Path) -> None:
    store = ObservedRuns(tmp_path)
    store.add([run(), run("two")])
    key = session_key("one")
    (tmp_path / key[:2] / ".left").write_bytes(b'{"key":"' + key.encode())
    (tmp_path / key[:2] / key).write_bytes(b"{")
    assert store.erase(key) == ()
    assert store.files(key) == ()
    assert store.files(None) == store.files(session_key("two"))


def test_a_key_stands_for_itself_and_any_other_name_for_its_digest() -> None:
    key = session_key("one")
    assert (keyed("one"), keyed(key), keyed(key[:-1])) == (key, key, session_key(key[:-1]))
    assert not is_session_key(key.upper())
