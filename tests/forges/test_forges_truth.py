"""A pull request's record is only a claim: what git and the ledger know is believed before it."""

import json
from pathlib import Path

import pytest
from queueing import AT, BRANCH, PATH, forge, merging, opening, tip
from sandbox import git, make_repository

from healbot.errors import RefusedError
from healbot.forges.git import GitRepo
from healbot.records.intent import ClosePull
from healbot.stores.state import StateBranch


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = make_repository(tmp_path / "desk")
    (folder / PATH).write_bytes(b"- Answer politely.\n")
    git(folder, "commit", "--quiet", "--all", "--message", "Plain")
    forge(folder).perform(opening(folder))
    return folder


def _forge_record(folder: Path, **fields: object) -> None:
    repo = GitRepo(folder)
    store = StateBranch(repo, repo)
    state = store.load()
    record = json.loads(store.read(state, "pulls/1.json") or b"{}") | fields
    store.save(state, {"pulls/1.json": json.dumps(record).encode()}, message="forged", at=AT)


def _close() -> ClosePull:
    return ClosePull(key="close:1", number=1, by="Ada", at=AT)


def test_a_record_that_says_merged_is_believed_only_where_the_branch_holds_it(desk: Path) -> None:
    _forge_record(desk, state="merged", merged_sha=tip(desk))
    pull = forge(desk).pull(1)
    assert pull
    assert (pull.state, pull.merged_sha) == ("open", "")
    forge(desk).perform(merging(1, pull.head_sha))
    merged = forge(desk).pull(1)
    assert merged
    assert (merged.state, merged.merged_sha) == ("merged", tip(desk))


def test_a_record_that_names_another_branch_moves_and_deletes_none(desk: Path) -> None:
    git(desk, "branch", "precious")
    _forge_record(desk, branch="precious", base_ref="precious", head_sha=tip(desk))
    effect = forge(desk).perform(_close())
    assert effect.deleted == BRANCH
    assert tip(desk, "precious") == tip(desk)


def test_a_branch_that_is_checked_out_elsewhere_is_left_and_said(desk: Path) -> None:
    git(desk, "worktree", "add", "--quiet", str(desk.parent / "beside"), BRANCH)
    pull = forge(desk).pull(1)
    effect = forge(desk).perform(merging(1, pull.head_sha if pull else ""))
    assert (effect.base_ref, effect.deleted) == ("main", "")
    assert "is checked out in" in effect.note
    assert git(desk, "branch", "--list", BRANCH)


def test_a_number_is_not_used_again_after_its_record_was_deleted(desk: Path) -> None:
    repo = GitRepo(desk)
    store = StateBranch(repo, repo)
    store.save(store.load(), {"pulls/1.json": None}, message="gone", at=AT)
    assert forge(desk).perform(opening(desk, "open:2", "healbot/s/other")).number == 2


def test_histories_that_have_nothing_in_common_get_a_clear_sentence(desk: Path) -> None:
    pull = forge(desk).pull(1)
    git(desk, "checkout", "--quiet", "--orphan", "fresh")
    git(desk, "commit", "--quiet", "--message", "Another beginning")
    git(desk, "branch", "--force", "main", "fresh")
    with pytest.raises(RefusedError, match="no common history"):
        forge(desk).perform(merging(1, pull.head_sha if pull else ""))
