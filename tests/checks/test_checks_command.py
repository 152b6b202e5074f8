"""A command check passes on 0 and fails on 1; every other end can't score."""

import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from healbot.checks.table import Means, checks_of
from healbot.records.case import Case
from healbot.records.run import CheckResult, Outcome, Trace

SCRIPT = "agents/support/cases/checks/refund.py"
Judge = Callable[..., CheckResult]


@pytest.fixture
def judge(
    case: Callable[..., Case],
    trace: Callable[..., Trace],
    means: Means,
    commit: dict[str, bytes],
) -> Judge:
    def judged(script: str, stdout: str = "", *, spec: Any = None, **rest: Any) -> CheckResult:
        commit[SCRIPT] = script.encode()
        words = {"command": "python checks/refund.py", **(spec or {})}
        (check,) = checks_of(case(words), means)
        return check.score(case(words), trace(stdout, **rest))

    return judged


def test_exit_code_0_passes_and_1_fails_with_the_last_line_as_what_was_missed(judge: Judge) -> None:
    script = "import sys\nif 'escalate' in sys.stdin.read(): sys.exit(0)\n"
    script += "print('note')\nprint('escalation\\x07 to a person')\nprint()\nsys.exit(1)"
    assert judge(script, "please escalate").outcome is Outcome.PASS
    result = judge(script, "refunded")
    assert (result.outcome, result.missed) == (Outcome.FAIL, "escalation to a person")


def test_a_fail_without_a_word_is_called_by_the_checks_name(judge: Judge) -> None:
    result = judge("raise SystemExit(1)", spec={"name": "escalation"})
    assert (result.check, result.outcome, result.missed) == (
        "escalation",
        Outcome.FAIL,
        "escalation",
    )


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "signal"),
        ("import os; os.abort()", "signal"),
        ("1/0", "ZeroDivisionError"),
        ("import nothing_like_this", "ModuleNotFoundError"),
        ("def broken(:", "SyntaxError"),
        ("assert 'x' == 'y'", "AssertionError"),
        ("import sys\nsys.excepthook = sys.__excepthook__\n1/0", "ZeroDivisionError"),
    ],
)
def test_a_check_that_breaks_cannot_score(judge: Judge, script: str, reason: str) -> None:
    result = judge(script, "anything")
    assert result.outcome is Outcome.NONE
    assert reason in result.reason


def test_a_traceback_cannot_score_where_python_ignores_its_environment(judge: Judge) -> None:
    spec = {"command": f"{sys.executable} -I checks/refund.py"}
    result = judge("print('half')\n1/0", spec=spec)
    assert result.outcome is Outcome.NONE
    assert "ZeroDivisionError" in result.reason
    fail = (
        "import sys\nsys.stderr.write('Traceback (most recent call last):\\n done\\n')\nsys.exit(1)"
    )
    assert judge(fail, spec=spec).outcome is Outcome.FAIL


def test_a_traceback_below_a_shell_script_cannot_score(judge: Judge, commit: Any) -> None:
    commit["agents/support/cases/check.sh"] = b"#!/bin/sh\npython -I checks/refund.py\n"
    assert judge("1/0", spec={"command": "./check.sh"}).outcome is Outcome.NONE
    assert judge("exit(1)", spec={"command": "./check.sh"}).outcome is Outcome.FAIL


def test_a_check_that_hangs_with_its_children_cannot_score(judge: Judge) -> None:
    script = "import subprocess, time\nsubprocess.Popen(['sleep', '60'])\ntime.sleep(60)"
    began = time.monotonic()
    result = judge(script, spec={"timeout_seconds": 0.5})
    assert result.outcome is Outcome.NONE
    assert "longer than 0.5 s" in result.reason
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    "command",
    ["no-such-program-here", "'unclosed", "", "python -m no_such_module", "python absent.py"],
)
def test_a_command_that_cannot_be_run_cannot_score(judge: Judge, command: str) -> None:
    result = judge("", spec={"command": command})
    assert result.outcome is Outcome.NONE
    assert result.reason


def test_a_missing_folder_of_checks_cannot_score(
    case: Callable[..., Case], trace: Callable[..., Trace], means: Means
) -> None:
    (check,) = checks_of(case({"command": "true"}), means)
    assert check.score(case({"command": "true"}), trace()).outcome is Outcome.NONE


def test_the_check_sees_what_the_agent_left(judge: Judge, trace: Callable[..., Trace]) -> None:
    (trace().folder / "note.txt").write_text("left")
    script = (
        "import json, os, pathlib\n"
        "e = os.environ\n"
        "assert pathlib.Path(e['HEALBOT_OUTPUT']).read_text() == 'said'\n"
        "assert json.load(open(e['HEALBOT_CHANGED'])) == ['a b', 'agents/support/note.txt']\n"
        "assert (pathlib.Path(e['HEALBOT_FOLDER']) / 'note.txt').read_text() == 'left'\n"
        "assert pathlib.Path(e['HEALBOT_WORKSPACE'], 'agents').is_dir()\n"
        "assert (e['HEALBOT_EXIT_CODE'], e['HEALBOT_CASE']) == ('4', 'refund')\n"
        "assert not pathlib.Path.cwd().is_relative_to(e['HEALBOT_WORKSPACE'])\n"
        "assert 'HOME' not in e\n"
    )
    result = judge(script, "said", exit_code=4, changed=("a b", "agents/support/note.txt"))
    assert result.outcome is Outcome.PASS, result.reason


def test_the_agents_own_copy_of_the_check_is_never_run(
    judge: Judge, trace: Callable[..., Trace]
) -> None:
    planted = trace().folder / "checks"
    planted.mkdir()
    (planted / "refund.py").write_text("raise SystemExit(0)")
    (trace().folder / "json.py").write_text("raise SystemExit(0)")
    assert judge("import json\nraise SystemExit(1)").outcome is Outcome.FAIL


@pytest.mark.parametrize("ended", ["timed-out", "not-started", "interrupted"])
def test_a_run_that_did_not_end_by_itself_cannot_score(judge: Judge, ended: str) -> None:
    assert judge("exit(0)", ended=ended, exit_code=None).outcome is Outcome.NONE


def test_huge_output_on_both_sides_is_no_trouble(judge: Judge) -> None:
    script = "import sys\nprint('x' * 3_000_000)\nsys.stderr.write('e' * 3_000_000)\nsys.exit(1)"
    result = judge(script, "\udcff" + "o" * 1_000_000)
    assert result.outcome is Outcome.FAIL
    assert result.missed
    assert len(result.missed) <= 200


def test_a_check_may_fill_its_own_folder_and_the_next_one_sees_nothing_of_it(judge: Judge) -> None:
    script = "import os\nnew = not os.path.exists('mark')\nopen('mark', 'w')\nexit(0 if new else 1)"
    assert judge(script).outcome is Outcome.PASS
    assert judge(script).outcome is Outcome.PASS
