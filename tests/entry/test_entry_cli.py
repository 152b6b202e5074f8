"""The command line's door: help, wrong usage, unusable repositories, exit codes, clean stdout."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import door
from sandbox import CASES, ROOT, git, make_repository, plain_environment

from healbot.errors import EXIT_MEANINGS

COMMANDS = (
    (), ("init",), ("cost",), ("report",),
    ("cycle",), ("status",), ("rollback",), ("history",), ("stop",), ("start",),
    ("audit",), ("judge",), ("schema",), ("demo",), ("cases",), ("cases", "list"),
    ("cases", "lint"), ("cases", "run"), ("pulls",), ("pulls", "list"), ("pulls", "show"),
    ("pulls", "merge"), ("pulls", "close"), ("pulls", "comment"), ("pulls", "checks"),
)  # fmt: skip
READING = (
    ("status",), ("history",), ("audit",), ("cases", "list"), ("cases", "lint"),
    ("pulls", "list"),
)  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository that these tests only read."""
    return make_repository(tmp_path_factory.mktemp("cli") / "repo")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(words: tuple[str, ...]) -> None:
    done = door(*words, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: healbot")


def test_the_first_help_lists_every_command_and_every_exit_code() -> None:
    text = " ".join(door("--help").out.split())
    for words in COMMANDS:
        assert all(word in text for word in words[:1])
    for code, meaning in EXIT_MEANINGS.items():
        assert f"{code.value} {meaning}" in text


@pytest.mark.parametrize(
    "words",
    [
        ("--nothing",), ("nothing",), ("cycle", "--mode", "loud"), ("cycle", "a", "b"),
        ("judge",), ("pulls", "show"), ("pulls", "show", "0"), ("pulls", "show", "x"),
        ("cases", "run", "--repeats", "0"), ("judge", "--outcomes", "-", "--policy", "none"),
    ],
)  # fmt: skip
def test_wrong_usage_is_told_in_one_sentence_and_exits_with_2(words: tuple[str, ...]) -> None:
    done = door(*words, stdin="{}")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("healbot: ")
    assert "Traceback" not in done.err


@pytest.mark.parametrize("words", [(), ("cases",), ("pulls",)])
def test_a_group_alone_shows_its_help(words: tuple[str, ...]) -> None:
    done = door(*words)
    assert (done.code, done.err) == (0, "")
    assert "Usage: healbot" in done.out


def test_a_module_start_and_a_version_need_no_repository(tmp_path: Path) -> None:
    done = subprocess.run(
        (sys.executable, "-m", "healbot", "--version"),
        capture_output=True, text=True, check=True, cwd=ROOT, env=plain_environment(),
    )  # fmt: skip
    assert (done.stdout.split()[0], done.stderr) == ("healbot", "")
    assert door("--version").out == done.stdout


def test_what_is_no_repository_exits_with_3_and_says_what_to_do(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        done = door("status", "--repo", str(folder))
        assert (done.code, done.out) == (3, "")
        assert "is no git repository" in done.err
        assert "next: Run git init" in done.err


def test_a_branch_without_a_commit_and_one_without_settings_are_named(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=trunk")
    unborn = door("cycle", "--repo", str(tmp_path))
    assert unborn.code == 3
    assert "'trunk' has no commit yet" in unborn.err
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    bare = door("cycle", "--repo", str(tmp_path))
    assert bare.code == 3
    assert ".github/healbot.yml is not committed" in bare.err
    assert "healbot init" in bare.err


def test_a_detached_head_needs_a_branch_named_in_the_settings(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "one")
    git(folder, "checkout", "--quiet", "--detach")
    done = door("status", "--repo", str(folder))
    assert done.code == 3
    assert "HEAD is detached" in done.err
    named = make_repository(tmp_path / "two", more="forge: {base: main}\n")
    git(named, "checkout", "--quiet", "--detach")
    assert json.loads(door("status", "--json", "--repo", str(named)).out)["base"] == "main"


def test_wrong_settings_are_named_by_file_and_line(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo", more="budgets: {}\n")
    done = door("status", "--repo", str(folder))
    assert done.code == 3
    assert ".github/healbot.yml:9: " in done.err
    assert "did you mean" in done.err.lower()
    assert "budget" in done.err


def test_an_agent_that_is_not_there_is_answered_with_those_that_are(repository: Path) -> None:
    done = door("cycle", "nobody", "--repo", str(repository))
    assert done.code == 3
    assert "There is no agent 'nobody'; the settings name s." in done.err


def test_any_folder_of_the_repository_will_do(repository: Path) -> None:
    done = door("cases", "list", "--json", "--repo", str(repository / "agents/s"))
    assert [case["id"] for case in json.loads(done.out)] == ["hello", "refund-big", "refund-over"]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_listing_is_one_document_on_stdout_and_nothing_else(
    words: tuple[str, ...], repository: Path
) -> None:
    before = git(repository, "for-each-ref")
    done = door(*words, "--json", "--repo", str(repository))
    assert (done.code, done.err) == (0, "")
    json.loads(done.out)
    assert git(repository, "for-each-ref") == before


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_listing_in_a_pipe_has_no_colour_and_says_what_is_empty_on_stderr(
    words: tuple[str, ...], repository: Path
) -> None:
    done = door(*words, "--repo", str(repository))
    assert done.code == 0
    assert "\x1b" not in done.out + done.err


def test_a_fault_of_ours_is_a_block_to_paste_and_exits_with_70(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("healbot.entry.looping.status_facts", break_)
    done = door("status", "--repo", str(repository))
    assert (done.code, done.out) == (70, "")
    assert "fault of ours" in done.err
    assert "RuntimeError: a bug" in done.err


def test_running_cases_answers_yes_no_or_could_not_tell(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    cases = folder / "agents/s/cases/c.yml"
    cases.write_text(CASES + "- id: broken\n  input: hello\n  checks: [{command: exit 7}]\n")
    git(folder, "commit", "--quiet", "--all", "--message", "More")
    words = ("cases", "run", "--json", "--repo", str(folder))
    before = git(folder, "for-each-ref")
    passed, failed, unclear = (door(*words, "-k", name) for name in ("hello", "over", "broken"))
    assert (passed.code, failed.code, unclear.code) == (0, 1, 4)
    assert json.loads(failed.out)[0]["fail"] == 1
    assert json.loads(unclear.out)[0] | {"seconds": 0, "why": ""} == {
        "id": "broken", "pass": 0, "fail": 0, "none": 1, "seconds": 0, "why": "",
    }  # fmt: skip
    last = door(*words, "--lf")
    assert [row["id"] for row in json.loads(last.out)] == ["broken"]
    assert door(*words, "-k", "no such case").code == 3
    assert git(folder, "for-each-ref") == before
