"""A rollback as its users live it: what it restores, what it stops, and what it counts as."""

import json
from pathlib import Path

import pytest
from fakes import Answer, door, hire
from sandbox import INSTRUCTIONS, commit_all, git, make_repository

from healbot.errors import Exit


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo")


def ask(repo: Path, *words: str) -> Answer:
    return door(*words, "--repo", str(repo))


def told(repo: Path, *words: str) -> dict[str, object]:
    answer = ask(repo, *words, "--json")
    assert answer.code == 0, answer.err
    read: dict[str, object] = json.loads(answer.out)
    return read


def test_after_a_rollback_no_cycle_begins_for_a_day_and_the_edit_is_not_tried_again(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hire(monkeypatch)
    assert told(repo, "cycle")["outcome"] == "merged"
    assert ask(repo, "rollback", "--to", "1", "--why", "no").code == 0
    cooling = ask(repo, "cycle")
    assert cooling.code == Exit.NOT_NOW
    assert "A rollback was made" in cooling.err
    path = repo / ".github/healbot.yml"
    path.write_text(path.read_text() + "watch: {cooldown_hours: 0}\n")
    commit_all(repo, "Cool down at once")
    facts = told(repo, "cycle")
    assert facts["refused_unspent"] == [{"editor": "lessons", "rule": "rolled-back-before"}]


def test_a_revert_that_a_person_makes_with_git_counts_as_a_rollback(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hire(monkeypatch)
    assert told(repo, "cycle")["outcome"] == "merged"
    git(repo, "revert", "--no-edit", "-m", "1", "HEAD")
    cooling = ask(repo, "cycle")
    assert cooling.code == Exit.NOT_NOW
    rows = json.loads(ask(repo, "history", "--json").out)
    assert rows[0]["what"] == "rolled-back"
    assert rows[0]["why"].startswith("Ada")


def test_a_rollback_may_name_a_revision(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hire(monkeypatch)
    first = str(told(repo, "cycle")["baseline"])
    before = (repo / INSTRUCTIONS).read_bytes()
    assert ask(repo, "rollback", "--to", first[:10], "--why", "back").code == 0
    assert (repo / INSTRUCTIONS).read_bytes() != before
    again = ask(repo, "rollback", "--to", first[:10], "--why", "back")
    assert again.code == Exit.INPUT
    assert "already" in again.err
    nowhere = ask(repo, "rollback", "--to", "ffffffffff", "--why", "back")
    assert nowhere.code == Exit.INPUT
    assert "names 0 saved revisions" in nowhere.err


def test_a_merge_under_later_edits_restores_the_saved_files_and_says_so(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hire(monkeypatch)
    before = (repo / INSTRUCTIONS).read_bytes()
    assert told(repo, "cycle")["outcome"] == "merged"
    path = repo / INSTRUCTIONS
    path.write_text(path.read_text().replace("escalate above it", "escalate well above it"))
    commit_all(repo, "Edit the learned rule by hand")
    assert ask(repo, "rollback", "--to", "1", "--why", "all of it").code == 0
    assert path.read_bytes() == before
