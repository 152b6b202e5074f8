"""A no that stays a no: closed, reverted by hand, reverted and brought back."""

from pathlib import Path

import pytest
from fakes import FakeRunner, hire
from sandbox import INSTRUCTIONS, commit_all, git, make_repository
from telling import CASES, EDITS, answered, call, change, kinds, lines_of, script

AGAIN = """\
proposals:
  - summary: hand refunds over
    reason: again
    hunks: [{path: instructions.md, op: insert-before, anchor: "- Answer politely.",
             text: "* Refunds must always be escalated!\\n"}]
"""
LATE = """\
- id: refund-late
  split: train
  tags: [refund]
  input: refund an order of last year
  assert: [{type: contains, value: escalate, metric: escalation}]
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose scripted editor has one edit, and pull requests wait for a person."""
    folder = make_repository(
        tmp_path / "repo", mode="manual", more="watch: {cooldown_hours: 0}\npulls: {per_week: 9}\n"
    )
    script(folder)
    return folder


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> FakeRunner:
    """An agent as a function."""
    return hire(monkeypatch)


def _last(folder: Path) -> dict[str, str]:
    bodies = [line["body"] for line in lines_of(folder, "audit")]
    return next(body for body in reversed(bodies) if body["kind"] == "closed")


@pytest.mark.usefixtures("agent")
def test_a_closed_edit_comes_back_in_no_words_until_a_new_case_fails(repo: Path) -> None:
    assert call(repo, "cycle").code == 0
    assert call(repo, "pulls", "close", "1", "--why", "no").code == 0
    change(repo, EDITS, "", AGAIN)
    assert call(repo, "cycle").code == 0
    last = _last(repo)
    assert (last["verdict"], last["outcome"]) == ("invalid", "refused")
    assert last["note"] == "refused unspent: closed-before, pull request 1"
    edited = "refund-two\n  split: train\n  tags: [refund]\n  input: Please refund, order"
    change(
        repo,
        CASES,
        edited.replace("two", "over").replace("Please refund,", "please refund"),
        edited,
    )
    assert call(repo, "cycle").code == 0
    assert _last(repo)["note"] == last["note"]  # an edited case is no new one
    change(repo, CASES, "- id: hello", LATE + "- id: hello")
    assert call(repo, "cycle").code == 0
    body = answered(repo, "pulls", "show", "2")["body"]
    assert "Earlier: pull request 1 (#1), closed by" in body
    assert "new since: case refund-late" in body


@pytest.mark.parametrize("how", ["git revert", "a branch", "by hand", "a squash"])
@pytest.mark.usefixtures("agent")
def test_a_persons_own_revert_is_a_rollback_and_a_no(repo: Path, how: str) -> None:
    assert call(repo, "cycle").code == 0
    before = (repo / INSTRUCTIONS).read_bytes()
    if how == "a squash":
        branch = answered(repo, "pulls", "show", "1")["branch"]
        git(repo, "merge", "--squash", branch)
        git(repo, "commit", "--quiet", "--message", "Take it (#1)")
        git(repo, "revert", "--no-edit", "HEAD")
    else:
        assert call(repo, "pulls", "merge", "1").code == 0
        if how == "by hand":
            (repo / INSTRUCTIONS).write_bytes(before)
            commit_all(repo, "As it was")
        else:
            if how == "a branch":
                git(repo, "switch", "--quiet", "--create", "back")
            git(repo, "revert", "--no-edit", "-m", "1", "main")
            if how == "a branch":
                git(repo, "switch", "--quiet", "main")
                git(repo, "merge", "--quiet", "--no-ff", "--no-edit", "back")
    assert call(repo, "cycle").code == 0
    back = [
        line["body"] for line in lines_of(repo, "audit") if line["body"]["kind"] == "rolled-back"
    ]
    assert [(one["number"], one["by"]) for one in back] == [(1, "Ada")]
    assert _last(repo)["note"] == "refused unspent: rolled-back-before, pull request 1"
    assert answered(repo, "status")["agents"][0]["last"]["outcome"] == "refused"


@pytest.mark.usefixtures("agent")
def test_a_quoted_revert_is_none_and_a_revert_of_a_revert_brings_the_merge_back(repo: Path) -> None:
    assert call(repo, "cycle").code == 0
    assert call(repo, "pulls", "merge", "1").code == 0
    merged = git(repo, "rev-parse", "HEAD")
    (repo / "notes.txt").write_text("said\n")
    commit_all(repo, f"Talk\n\nThis reverts commit {merged}.\n")
    assert call(repo, "cycle").code == 0
    assert "rolled-back" not in kinds(repo)
    git(repo, "revert", "--no-edit", "-m", "1", merged)
    call(repo, "cycle")
    assert kinds(repo).count("rolled-back") == 1
    git(repo, "revert", "--no-edit", "HEAD")
    call(repo, "cycle")
    assert kinds(repo).count("taken-back") == 1
    assert kinds(repo).count("rolled-back") == 1
    assert answered(repo, "history")[0]["what"] != "rolled-back"
