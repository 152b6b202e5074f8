"""Hidden tests judge what the agent left, and the agent can't get in their way."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from healbot.checks.table import Means, checks_of
from healbot.records.case import Case
from healbot.records.run import CheckResult, Outcome, Trace

Judge = Callable[..., CheckResult]
HIDDEN = "agents/support/cases/hidden/"
TEST = b"from shop import limit\n\n\ndef test_limit():\n    assert limit() == 60\n"


@pytest.fixture
def folder(workspace: Path) -> Path:
    folder = workspace / "agents" / "support"
    (folder / "tests").mkdir()
    (folder / "shop.py").write_text("def limit():\n    return 60\n")
    (folder / "tests" / "test_open.py").write_text("def test_open():\n    assert True\n")
    return folder


@pytest.fixture
def judge(
    folder: Path,
    case: Callable[..., Case],
    trace: Callable[..., Trace],
    means: Means,
    commit: dict[str, bytes],
) -> Judge:
    commit[HIDDEN + "tests/test_hidden.py"] = TEST

    def judged(*changed: str, spec: Any = None, **rest: Any) -> CheckResult:
        words = {"add": "hidden/", "run": "python -m pytest -q", "protect": ["tests/**"]}
        one = case({"tests": {**words, **(spec or {})}})
        (check,) = checks_of(one, means)
        return check.score(one, trace(changed=changed, **rest))

    return judged


def test_hidden_tests_pass_where_the_work_is_right_and_fail_where_it_is_not(
    judge: Judge, folder: Path
) -> None:
    result = judge("agents/support/shop.py")
    assert result.outcome is Outcome.PASS, result.reason
    (folder / "shop.py").write_text("def limit():\n    return 61\n")
    result = judge("agents/support/shop.py")
    assert (result.outcome, result.missed) == (Outcome.FAIL, "hidden tests")


@pytest.mark.parametrize("path", ["agents/support/tests/test_open.py", "tests/new.py", "tests"])
@pytest.mark.parametrize("ended", ["exited", "timed-out"])
def test_an_edit_to_a_protected_path_fails_the_run_before_anything_is_run(
    judge: Judge, processes: Any, path: str, ended: str
) -> None:
    result = judge(path, ended=ended)
    assert (result.outcome, result.missed) == (Outcome.FAIL, f"edited protected path {path}")
    assert processes.seen == []


def test_hidden_files_overwrite_what_the_agent_wrote_there(judge: Judge, folder: Path) -> None:
    (folder / "tests" / "test_hidden.py").write_text("def test_limit():\n    assert True\n")
    (folder / "shop.py").write_text("def limit():\n    return 61\n")
    assert judge("agents/support/shop.py", spec={"protect": []}).outcome is Outcome.FAIL


def test_a_folder_exchanged_for_a_link_fails_the_run_and_nothing_is_written_through_it(
    judge: Judge, folder: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / "tests" / "test_open.py").unlink()
    (folder / "tests").rmdir()
    (folder / "tests").symlink_to(outside)
    result = judge("agents/support/tests", spec={"protect": []})
    assert result.outcome is Outcome.FAIL
    assert result.missed
    assert list(outside.iterdir()) == []
    # The repository's own link is nobody's fault.
    assert judge(spec={"protect": []}).outcome is Outcome.NONE


def test_a_linked_file_is_replaced_and_its_target_stays(
    judge: Judge, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target.txt"
    target.write_text("mine")
    (folder / "tests" / "test_hidden.py").symlink_to(target)
    assert judge("agents/support/shop.py").outcome is Outcome.PASS
    assert target.read_text() == "mine"
    (folder / "tests" / "test_hidden.py").unlink()
    os.link(target, folder / "tests" / "test_hidden.py")
    assert judge("agents/support/shop.py").outcome is Outcome.PASS
    assert target.read_text() == "mine"


def test_a_pipe_or_a_folder_in_a_files_place_does_not_hang(judge: Judge, folder: Path) -> None:
    os.mkfifo(folder / "tests" / "test_hidden.py")
    assert judge(spec={"protect": []}).outcome is Outcome.PASS
    (folder / "tests" / "test_hidden.py").unlink()
    (folder / "tests" / "test_hidden.py").mkdir()
    changed = "agents/support/tests/test_hidden.py/x"
    assert judge(changed, spec={"protect": []}).outcome is Outcome.FAIL


def test_a_closed_folder_is_opened_again(judge: Judge, folder: Path) -> None:
    (folder / "tests").chmod(0)
    assert judge().outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("conftest.py", "def pytest_sessionfinish(session): session.exitstatus = 0"),
        ("pytest.ini", "[pytest]\naddopts = --collect-only"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--collect-only'"),
        ("setup.cfg", "[tool:pytest]\naddopts = --collect-only"),
        ("sitecustomize.py", "import os; os._exit(0)"),
        ("x.pth", "import os; os._exit(0)"),
        ("tests/json.py", "import os; os._exit(0)"),
        ("tests/pytest/__init__.py", "import os; os._exit(0)"),
    ],
)
def test_a_planted_file_that_steers_the_tests_cannot_score(
    judge: Judge, folder: Path, path: str, content: str
) -> None:
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text(content)
    (folder / "shop.py").write_text("def limit():\n    return 61\n")
    result = judge(f"agents/support/{path}", spec={"protect": []})
    assert result.outcome is Outcome.NONE
    assert path in result.reason


def test_a_changed_project_file_that_says_nothing_of_pytest_is_no_plant(
    judge: Judge, folder: Path
) -> None:
    (folder / "pyproject.toml").write_text("[project]\nname = 'shop'\n")
    assert judge("agents/support/pyproject.toml").outcome is Outcome.PASS


@pytest.mark.parametrize("name", ["pytest.py", "json.py", "sitecustomize.py", "usercustomize.py"])
def test_a_module_in_the_agents_folder_does_not_stand_in_for_a_real_one(
    judge: Judge, folder: Path, name: str
) -> None:
    (folder / name).write_text("import os; os._exit(0)")
    (folder / "shop.py").write_text("def limit():\n    return 61\n")
    assert judge("agents/support/shop.py").outcome is Outcome.FAIL


def test_the_environment_of_the_tests_is_scrubbed(
    judge: Judge, means: Means, processes: Any, case: Callable[..., Case], trace: Any
) -> None:
    env = {**means.env, "PYTEST_ADDOPTS": "--collect-only", "HOME": "/agent", "LD_PRELOAD": "x"}
    one = case({"tests": {"add": "hidden/", "run": "python -m pytest -q"}})
    (check,) = checks_of(one, means._replace(env=env, hide=[Path("/secret")]))
    assert check.score(one, trace()).outcome is Outcome.PASS
    (command,) = processes.seen
    assert "PYTEST_ADDOPTS" not in command.env
    assert "LD_PRELOAD" not in command.env
    assert command.env["HOME"] != "/agent"
    assert command.hide == (Path("/secret"),)


@pytest.mark.parametrize(
    "run",
    [
        "python -m pytest -q no_such_file.py",
        "python -m pytest -q -k nothing_like_this",
        "python -m pytest --no-such-option",
        "python -m no_such_test_runner",
        "no-such-program",
        "'unclosed",
        "python -c 'import os; os.abort()'",
    ],
)
def test_tests_that_could_not_be_run_cannot_score(judge: Judge, run: str) -> None:
    result = judge(spec={"run": run})
    assert result.outcome is Outcome.NONE
    assert result.reason


def test_tests_that_hang_cannot_score(judge: Judge) -> None:
    run = "python -c 'import time; time.sleep(60)'"
    assert judge(spec={"run": run, "timeout_seconds": 0.5}).outcome is Outcome.NONE


@pytest.mark.parametrize("add", ["absent/", "../../../..", "/etc"])
def test_hidden_files_that_are_not_there_cannot_score(judge: Judge, add: str) -> None:
    assert judge(spec={"add": add}).outcome is Outcome.NONE


def test_a_list_of_changes_that_may_be_cut_cannot_score(judge: Judge) -> None:
    assert judge(*(f"junk/{n}" for n in range(10_000))).outcome is Outcome.NONE
