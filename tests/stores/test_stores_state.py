"""The state branch, in a real repository: written as a whole or not at all, never rewritten."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sandbox import git

from healbot.errors import StaleError
from healbot.forges.git import GitRepo
from healbot.ports import Swap
from healbot.stores.state import STATE_REF, StateBranch

AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    return tmp_path


def branch(folder: Path) -> StateBranch:
    repo = GitRepo(folder)
    return StateBranch(repo, repo)


def test_before_the_first_write_there_is_no_branch_and_no_file(folder: Path) -> None:
    state = branch(folder).load()
    assert (state.sha, dict(state.files)) == (None, {})
    assert git(folder, "branch", "--list", "healbot/*") == ""


def test_the_first_write_says_what_the_branch_is(folder: Path) -> None:
    store = branch(folder)
    state = store.save(store.load(), {"a/b.txt": b"one\n"}, message="begin", at=AT)
    assert git(folder, "ls-tree", "-r", "--name-only", "healbot/state").split() == [
        "README.md",
        "a/b.txt",
    ]
    assert "healbot audit --verify" in git(folder, "show", "healbot/state:README.md")
    assert store.read(state, "a/b.txt") == b"one\n"
    assert store.read(state, "none") is None
    assert "[skip ci]" in git(folder, "log", "-1", "--format=%s", "healbot/state")


def test_every_write_is_one_commit_on_top_and_removes_what_it_says(folder: Path) -> None:
    store = branch(folder)
    first = store.save(store.load(), {"x": b"1", "y": b"2"}, message="one", at=AT)
    second = store.save(first, {"x": None, "z": b"\x00\xff"}, message="two", at=AT)
    assert set(second.files) == {"README.md", "y", "z"}
    assert git(folder, "rev-list", "healbot/state").split() == [second.sha, first.sha]
    assert store.read(first, "x") == b"1"
    assert branch(folder).load() == second


def test_a_write_onto_an_old_state_is_refused_and_changes_nothing(folder: Path) -> None:
    store = branch(folder)
    old = store.save(store.load(), {"x": b"1"}, message="one", at=AT)
    now = store.save(old, {"x": b"2"}, message="two", at=AT)
    for stale in (old, old._replace(sha=None)):
        with pytest.raises(StaleError):
            branch(folder).save(stale, {"x": b"3"}, message="late", at=AT)
    assert branch(folder).load() == now


def test_other_refs_move_with_it_or_it_does_not_move(folder: Path) -> None:
    store = branch(folder)
    head = git(folder, "rev-parse", "main")
    other = git(folder, "commit-tree", "-m", "x", git(folder, "rev-parse", "main^{tree}"))
    start = store.save(store.load(), {"x": b"1"}, message="one", at=AT)
    bad = Swap("refs/heads/side", head, other)
    with pytest.raises(StaleError):
        store.save(start, {"x": b"2"}, message="two", at=AT, also=[bad])
    assert branch(folder).load() == start
    good = Swap("refs/heads/side", None, other)
    after = store.save(start, {"x": b"2"}, message="two", at=AT, also=[good])
    assert git(folder, "rev-parse", "side") == other
    assert git(folder, "rev-parse", STATE_REF) == after.sha


def test_the_work_tree_and_the_index_are_left_alone(folder: Path) -> None:
    (folder / "draft.txt").write_text("mine")
    git(folder, "add", "draft.txt")
    before = git(folder, "status", "--porcelain")
    store = branch(folder)
    store.save(store.load(), {"draft.txt": b"theirs"}, message="one", at=AT)
    assert git(folder, "status", "--porcelain") == before
    assert (folder / "draft.txt").read_text() == "mine"
