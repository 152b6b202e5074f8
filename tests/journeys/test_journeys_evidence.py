"""What brings a closed edit back: failures in use, and a person who takes the no back."""

import json
from pathlib import Path

import pytest
from fakes import FakeRunner, hire
from sandbox import git, make_repository
from telling import EDITS, answered, call, change, kinds, lines_of, script

OTHER = """\
proposals:
  - summary: hand angry customers over
    reason: they asked for a person
    hunks: [{path: instructions.md, op: append, text: "- Do escalate complaints about money.\\n"}]
"""
CLOSED = "closed-before, pull request 1"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose one edit waits for a person."""
    folder = make_repository(tmp_path / "repo", mode="manual", more="pulls: {per_week: 9}\n")
    script(folder)
    return folder


@pytest.fixture(autouse=True)
def agent(monkeypatch: pytest.MonkeyPatch) -> FakeRunner:
    """An agent as a function."""
    return hire(monkeypatch)


def _use(folder: Path, revision: str, *sessions: str) -> None:
    lines = [
        json.dumps({
            "session": one, "at": "2126-01-01T00:00:00Z", "revision": revision, "verdict": "fail",
            "check": "reviewer", "missed": "escalation",
        })
        for one in sessions
    ]  # fmt: skip
    file = folder.parent / "runs.jsonl"
    file.write_text("\n".join(lines) + "\n")
    assert call(folder, "runs", "add", str(file)).code == 0


def _note(folder: Path) -> str:
    bodies = [line["body"] for line in lines_of(folder, "audit")]
    return str(next(one["note"] for one in reversed(bodies) if one["kind"] == "closed"))


def test_two_sessions_that_failed_alike_since_the_no_bring_the_edit_back(repo: Path) -> None:
    assert call(repo, "cycle").code == 0
    assert call(repo, "pulls", "close", "1", "--why", "no").code == 0
    live = answered(repo, "status")["agents"][0]["revision"]
    _use(repo, "0" * 64, "old-1", "old-2")
    _use(repo, live, "one")
    call(repo, "cycle")
    assert CLOSED in _note(repo)
    _use(repo, live, "one", "two")
    assert call(repo, "cycle").code == 0
    shown = answered(repo, "pulls", "show", "2")
    new = "missed:escalation:refund seen in use, in 2 sessions"
    assert "Earlier: pull request 1 (#1), closed by" in shown["body"]
    assert f"new since: {new}" in shown["body"].replace("`", "")
    assert "Earlier: pull request 1" in call(repo, "pulls", "show", "2").out


def test_a_person_takes_a_no_back(repo: Path) -> None:
    assert call(repo, "cycle").code == 0
    head = answered(repo, "pulls", "show", "1")["head_sha"]
    assert answered(repo, "pulls", "reopen", "1")["found"]
    assert answered(repo, "pulls", "close", "1")["deleted"]
    assert answered(repo, "pulls", "reopen", "1")["sha"] == head
    assert kinds(repo)[-1] == "taken-back"
    shown = answered(repo, "pulls", "show", "1")
    assert (shown["state"], shown["head_sha"], shown["closed_by"]) == ("open", head, "")
    assert call(repo, "cycle").code == 5
    assert call(repo, "pulls", "merge", "1").code == 0
    last = answered(repo, "status")["agents"][0]["last"]
    assert last["outcome"] == "merged"


def test_nothing_is_reopened_that_cannot_be_had_or_has_no_room(repo: Path) -> None:
    assert call(repo, "cycle").code == 0
    branch = answered(repo, "pulls", "show", "1")["branch"]
    assert call(repo, "pulls", "close", "1").code == 0
    git(repo, "branch", branch, "main")
    done = call(repo, "pulls", "reopen", "1")
    assert "with other commits" in done.err
    git(repo, "branch", "-D", branch)
    change(repo, EDITS, "", OTHER)
    assert call(repo, "cycle").code == 0
    done = call(repo, "pulls", "reopen", "1")
    assert "Pull request 2 waits already, and pulls.open is 1." in done.err
    assert "taken-back" not in kinds(repo)


def test_the_switch_and_a_comment_answer_with_a_document(repo: Path) -> None:
    assert answered(repo, "stop") == {"stopped_by": "healbot stop"}
    assert answered(repo, "start") == {"stopped_by": None}
    assert call(repo, "cycle").code == 0
    assert answered(repo, "pulls", "comment", "1", "hello")["number"] == 1
