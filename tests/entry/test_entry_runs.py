"""The doors to the observe store: runs in, cases out, nothing overwritten."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from fakes import Answer, door
from sandbox import git, make_repository

from healbot.errors import Exit


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo")


def ask(repo: Path, *words: str, stdin: str = "") -> Answer:
    return door(*words, "--repo", str(repo), stdin=stdin)


def seen(repo: Path, *runs: Mapping[str, object]) -> Path:
    path = repo.parent / "runs.jsonl"
    plain = {"at": "2126-03-01T00:00:00Z", "verdict": "fail", "check": "escalation"}
    path.write_text("".join(json.dumps({**plain, **one}) + "\n" for one in runs))
    return path


def test_runs_are_kept_once_dated_and_counted_by_signature(repo: Path) -> None:
    one = {"session": "a", "input": "refund 9 to a@x.org", "cwd": str(repo), "branch": "main"}
    path = seen(repo, one, {**one, "session": "b", "cwd": "/elsewhere"})
    first = json.loads(ask(repo, "runs", "add", str(path), "--json").out)
    assert first["runs"] == {"new": 2, "extended": 0, "known": 0}
    assert first["unknown_revision"] == 1
    tip = git(repo, "rev-parse", "healbot/state")
    again = json.loads(ask(repo, "runs", "add", str(path), "--json").out)
    assert again["runs"] == {"new": 0, "extended": 0, "known": 2}
    assert git(repo, "rev-parse", "healbot/state") == tip
    rows = json.loads(ask(repo, "runs", "list", "--failed", "--json").out)
    assert [(row["signature"], row["seen"]) for row in rows] == [("failed:-:escalation", 2)] * 2
    assert sorted(row["revision"] == "unknown" for row in rows) == [False, True]
    assert "a@x.org" not in ask(repo, "runs", "show", "a").out


def test_damaged_lines_and_our_own_runs_are_skipped_and_named(repo: Path) -> None:
    path = seen(repo, {"session": "a", "HEALBOT_SEED": "1"}, {"session": ""})
    answer = ask(repo, "runs", "add", str(path))
    assert answer.code == 0
    assert "line 1" in answer.err
    assert "line 2" in answer.err
    assert ask(repo, "runs", "show", "a").code == Exit.INPUT


def test_a_failed_run_becomes_a_case_once_with_the_check_that_failed(repo: Path) -> None:
    ask(repo, "runs", "add", str(seen(repo, {"session": "a", "input": "send 12 lamps back"})))
    file = "agents/s/cases/new.yml"
    done = ask(repo, "cases", "from-runs", "--write", file)
    assert done.code == 0, done.err
    assert "revision is unknown" in done.err
    text = (repo / file).read_text()
    assert "born: failure" in text
    assert "metric: escalation" in text
    again = ask(repo, "cases", "from-runs", "--session", "a", "--write", file)
    assert again.code == Exit.INPUT
    assert "stands already" in again.err
    assert (repo / file).read_text() == text


def test_a_case_without_an_assert_is_an_error_to_lint_until_one_is_written(repo: Path) -> None:
    done = ask(repo, "cases", "add", "rain", "--input", "tell me of the weather up north")
    assert done.code == 0, done.err
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "A case")
    assert "can't be scored" in ask(repo, "cases", "lint").out
    near = ask(repo, "cases", "add", "again", "--input", "hello there!")
    assert near.code == Exit.INPUT
    assert "near-duplicate of the case 'hello'" in near.err


def test_held_out_cases_are_exported_only_when_they_are_named(repo: Path) -> None:
    said = ask(repo, "cases", "export", "--format", "promptfoo", "--json").out
    config = json.loads(said)
    assert [one["description"] for one in config["tests"]] == ["refund-over"]
    assert config["tests"][0]["assert"][0]["type"] == "contains"
    held = json.loads(ask(repo, "cases", "export", "--split", "heldout", "--json").out)
    assert {one["id"] for one in held} == {"refund-big", "hello"}
