"""The doors to the observe store: runs in, cases out, nothing overwritten."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from fakes import Answer, door
from sandbox import INSTRUCTIONS, git, make_repository

from healbot.entry.page_file import require_ours
from healbot.errors import Exit, InputError


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


def commit_at(repo: Path, when: str, *words: str) -> None:
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    subprocess.run(
        ["git", "-C", str(repo), *words],
        check=True, capture_output=True, env={**os.environ, **dates},
    )  # fmt: skip


def test_a_run_is_dated_to_what_the_branch_stood_at_not_to_a_topic_merged_later(
    repo: Path,
) -> None:
    place = repo / INSTRUCTIONS
    first, topic = f"{place.read_text()}\nBe brief.\n", f"{place.read_text()}\nBe long.\n"
    place.write_text(first)
    commit_at(repo, "2090-11-20T12:00:00Z", "commit", "-qam", "first")
    git(repo, "switch", "-q", "-c", "topic")
    place.write_text(topic)
    commit_at(repo, "2090-11-21T12:00:00Z", "commit", "-qam", "topic")
    git(repo, "switch", "-q", "main")
    commit_at(repo, "2090-11-25T12:00:00Z", "merge", "-q", "--no-ff", "-m", "merge", "topic")
    days = {"early": 22, "late": 26}
    plain = {"cwd": str(repo), "branch": "main"}
    by_time = [{**plain, "session": k, "at": f"2090-11-{d}T00:00:00Z"} for k, d in days.items()]
    known = (("early", "main~1"), ("late", "main"))
    by_commit = [
        {"session": f"{k}-commit", "commit": git(repo, "rev-parse", sha).strip()}
        for k, sha in known
    ]
    ask(repo, "runs", "add", str(seen(repo, *by_time, *by_commit)))
    rows = json.loads(ask(repo, "runs", "list", "--json").out)
    revisions = {row["session"]: row["revision"] for row in rows}
    assert revisions["early"] == revisions["early-commit"] != revisions["late"]
    assert revisions["late"] == revisions["late-commit"]


def test_a_step_published_as_unknown_is_told_again_once_it_is_dated(repo: Path) -> None:
    one = {"session": "a", "commit": "0" * 40, "verdict": "fail"}
    ask(repo, "runs", "add", str(seen(repo, one)))
    (session,) = (repo / ".git/healbot/observed").glob("??/*")
    step = json.loads(session.read_text())["steps"][0]
    dated = {**step, "revision": "a" * 64}
    for published in (1, 0):
        done = json.loads(ask(repo, "runs", "add", str(seen(repo, dated)), "--json").out)
        assert done["published"]["lines"] == published
    lines = git(repo, "show", "healbot/state:agents/s/runs/2126-03.jsonl").splitlines()
    assert [json.loads(line)["revision"] for line in lines] == ["unknown", "a" * 64]


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


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (".git/x.yml", ()),
        ("elsewhere/x.yml", ()),
        ("agents/s/cases/[x].yml", ()),
        ("agents/s/cases/a-file.yml/x.yml", ()),
        ("agents/s/cases/latin.yml", ()),
        ("agents/s/cases/pipe.yml", ()),
        ("agents/s/cases/x.yml", ("--input", "")),
        ("agents/s/cases/x.yml", ("--assert", "contians=x")),
        ("agents/s/cases/x.yml", ("--assert", "regex=(")),
    ],
)
def test_a_case_that_no_reader_would_find_or_judge_is_not_written(
    repo: Path, file: str, words: tuple[str, ...]
) -> None:
    folder = repo / "agents/s/cases"
    (folder / "a-file.yml").write_text("")
    (folder / "latin.yml").write_bytes(b"# caf\xe9\n")
    os.mkfifo(folder / "pipe.yml")
    before = sorted(repo.rglob("*.yml"))
    answer = ask(repo, "cases", "add", "n", "--input", "a new task", "--file", file, *words)
    assert answer.code == Exit.INPUT
    assert sorted(repo.rglob("*.yml")) == before


def test_damaged_instants_and_half_characters_never_end_an_addition(repo: Path) -> None:
    path = seen(
        repo,
        {"session": "a", "at": "9999-12-31T23:59:59-14:00"},
        {"session": "b", "input": "\ud800", "tool_calls": [{"name": "t", "args": "\ud800"}]},
        {"session": "c", "input": "plain"},
    )
    answer = ask(repo, "runs", "add", str(path))
    assert answer.code == 0, answer.err
    assert answer.out.startswith("2 new")
    assert "line 1" in answer.err


def test_what_runs_list_shows_can_be_forgotten(repo: Path) -> None:
    ask(repo, "runs", "add", str(seen(repo, {"session": "a", "input": "x"})))
    id_ = json.loads(ask(repo, "runs", "list", "--json").out)[0]["id"]
    done = ask(repo, "forget", "--session", id_, "--yes")
    assert done.code == 0, done.err
    assert json.loads(ask(repo, "runs", "list", "--json").out) == []


def test_a_branch_whose_name_is_not_utf8_is_bad_input(repo: Path) -> None:
    subprocess.run([b"git", b"-C", os.fsencode(repo), b"checkout", b"-qb", b"x\xffy"], check=True)
    answer = ask(repo, "status")
    assert answer.code == Exit.INPUT, answer.err
    assert "not UTF-8" in answer.err


def test_a_page_is_never_written_over_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for force in (False, True):
        with pytest.raises(InputError, match="no regular file"):
            require_ours(tmp_path / "pipe", force=force)
