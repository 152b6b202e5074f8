"""How much reaches a person: caps, open edits, two clones of one remote; and in whose name."""

from pathlib import Path

import pytest
from fakes import FakeRunner, hire
from sandbox import git, make_repository
from telling import EDITS, SETTINGS, answered, call, change, lines_of, script

OTHER = """\
proposals:
  - summary: hand angry customers over
    reason: they asked for a person
    hunks: [{path: instructions.md, op: append, text: "- Do escalate complaints about money.\\n"}]
"""
OPEN_TWO = "pulls: {open: 2, per_week: 9}\n"


@pytest.fixture(autouse=True)
def agent(monkeypatch: pytest.MonkeyPatch) -> FakeRunner:
    """An agent as a function."""
    return hire(monkeypatch)


def _made(folder: Path, more: str = "") -> Path:
    repo = make_repository(folder, mode="manual", more=more)
    script(repo)
    return repo


def _note(folder: Path) -> str:
    bodies = [line["body"] for line in lines_of(folder, "audit")]
    return str(next(one["note"] for one in reversed(bodies) if one["kind"] == "closed"))


def test_no_more_pull_requests_a_week_than_the_settings_allow(tmp_path: Path) -> None:
    repo = _made(tmp_path / "repo", "pulls: {per_week: 0}\n")
    never = call(repo, "cycle")
    assert never.code == 5
    assert "no pull request is ever opened" in never.err
    change(repo, SETTINGS, "per_week: 0", "per_week: 1")
    assert call(repo, "cycle").code == 0
    assert call(repo, "pulls", "close", "1").code == 0
    change(repo, EDITS, "", OTHER)
    full = call(repo, "cycle")
    assert full.code == 5
    assert "pulls.per_week is 1; no cycle begins before " in full.err
    assert " UTC." in full.err


def test_two_clones_of_one_remote_share_the_cap_and_the_memory(tmp_path: Path) -> None:
    repo = _made(tmp_path / "a", "forge: {remote: origin}\npulls: {per_week: 9}\n")
    bare, other = tmp_path / "bare.git", tmp_path / "b"
    git(repo, "clone", "--quiet", "--bare", ".", str(bare))
    git(repo, "remote", "add", "origin", str(bare))
    git(repo, "clone", "--quiet", str(bare), str(other))
    assert call(repo, "cycle").code == 0
    waits = call(other, "cycle")
    assert waits.code == 5
    assert "Pull request 1 still waits for a person" in waits.err
    assert call(repo, "pulls", "close", "1").code == 0
    assert call(other, "cycle").code == 0
    assert _note(bare) == "refused unspent: closed-before, pull request 1"


def test_an_edit_that_is_open_already_is_not_proposed_beside_itself(tmp_path: Path) -> None:
    repo = _made(tmp_path / "repo", OPEN_TWO)
    assert call(repo, "cycle").code == 0
    assert call(repo, "cycle").code == 0
    assert _note(repo) == "refused unspent: open-already, pull request 1"
    assert [one["number"] for one in answered(repo, "pulls", "list")] == [1]


def test_whoever_merges_or_rolls_back_is_the_author_and_healbot_the_committer(
    tmp_path: Path,
) -> None:
    repo = _made(tmp_path / "repo")
    git(repo, "config", "user.name", "Grace")
    git(repo, "config", "user.email", "grace@example.org")
    assert call(repo, "cycle").code == 0
    assert call(repo, "pulls", "merge", "1").code == 0
    assert git(repo, "log", "-1", "--format=%an|%cn") == "Grace|healbot"
    assert answered(repo, "status")["agents"][0]["last"]["outcome"] == "merged"
    assert call(repo, "rollback", "--why", "no").code == 0
    assert git(repo, "log", "-1", "--format=%an|%cn") == "Grace|healbot"
    row = answered(repo, "status")["agents"][0]
    assert row["last"]["outcome"] == "rolled-back"
    assert set(row["today"]["left"]) == {"usd"}
    assert row["cooldown_until"] in call(repo, "status").out


def test_what_the_budgets_leave_is_in_the_status(tmp_path: Path) -> None:
    repo = _made(tmp_path / "repo", "budget: {day: {runs: 900}}\n")
    assert call(repo, "cycle").code == 0
    today = answered(repo, "status")["agents"][0]["today"]
    assert today["left"]["runs"] == 900 - today["runs"]
    assert f"{today['left']['runs']:g} runs" in call(repo, "status").out
