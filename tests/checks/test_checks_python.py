"""A python check says yes, no, what was missed, or nothing; a fault of it can't score."""

from collections.abc import Callable
from typing import Any

import pytest

from healbot.checks.table import Means, checks_of
from healbot.records.case import Case
from healbot.records.run import CheckResult, Outcome, Trace

Judge = Callable[..., CheckResult]


@pytest.fixture
def judge(
    case: Callable[..., Case],
    trace: Callable[..., Trace],
    means: Means,
    commit: dict[str, bytes],
) -> Judge:
    def judged(body: str, stdout: str = "", *, spec: Any = None, **rest: Any) -> CheckResult:
        commit["agents/support/cases/checks/words.py"] = b"WORD = 'escalate'\n"
        source = f"from checks.words import WORD\n\n\ndef escalated(run):\n    {body}\n"
        commit["agents/support/cases/checks/refund.py"] = source.encode()
        words = {"python": "checks.refund:escalated", **(spec or {})}
        one = case(words, tags=["refund"])
        (check,) = checks_of(one, means)
        return check.score(one, trace(stdout, **rest))

    return judged


@pytest.mark.parametrize(
    ("body", "outcome", "missed", "reason"),
    [
        ("return True", Outcome.PASS, None, ""),
        ("print('noise')\n    return WORD in run['output']", Outcome.PASS, None, ""),
        ("return False", Outcome.FAIL, None, "said no"),
        ("return 'the limit'", Outcome.FAIL, "the limit", "said no"),
        ("return (False, 'the limit')", Outcome.FAIL, "the limit", "said no"),
        ("return (True, 'fine')", Outcome.PASS, None, ""),
        ("return None", Outcome.NONE, None, "could not tell"),
        ("return (None, 'no ticket')", Outcome.NONE, None, "no ticket"),
        ("return ''", Outcome.NONE, None, "empty"),
        ("return 1", Outcome.NONE, None, "returned int"),
        ("return object()", Outcome.NONE, None, "returned object"),
        ("return (1, 'x')", Outcome.NONE, None, "returned tuple"),
        ("raise ValueError('a\\nb')", Outcome.NONE, None, "ValueError: a b"),
        ("assert False", Outcome.NONE, None, "AssertionError"),
        ("raise SystemExit(0)", Outcome.NONE, None, "SystemExit"),
        ("raise KeyboardInterrupt", Outcome.NONE, None, "KeyboardInterrupt"),
        ("import os; os._exit(0)", Outcome.NONE, None, "ended its own process"),
        ("import os; os._exit(1)", Outcome.NONE, None, "ended its own process"),
        ("import os; os.kill(os.getpid(), 11)", Outcome.NONE, None, "signal"),
        ("return escalated(run)", Outcome.NONE, None, "RecursionError"),
        ("async def later(): pass\n    return iter(())", Outcome.NONE, None, "tuple_iterator"),
    ],
)
def test_what_a_function_returns_is_what_the_check_says(
    judge: Judge, body: str, outcome: Outcome, missed: str | None, reason: str
) -> None:
    result = judge(body, "please escalate")
    assert (result.outcome, result.missed) == (outcome, missed), result.reason
    assert reason in result.reason
    assert result.check == "escalated"


def test_the_function_gets_the_run_as_data(judge: Judge) -> None:
    body = (
        "assert run['output'] == 'said'\n"
        "    assert run['exit_code'] == 0 and run['changed'] == ['a']\n"
        "    assert run['tool_calls'] == [{'name': 't', 'args': {'n': 1}, 'error': None}]\n"
        "    assert run['case'] == {'id': 'refund', 'input': '61.20', 'tags': ['refund']}\n"
        "    import os; assert os.path.isdir(run['workspace']) and os.path.isdir(run['folder'])\n"
        "    return True"
    )
    result = judge(body, "said", changed=("a",), tool_calls=[{"name": "t", "args": {"n": 1}}])
    assert result.outcome is Outcome.PASS, result.reason
    assert judge("return run['tool_calls'] is None").outcome is Outcome.PASS


def test_a_function_that_hangs_cannot_score(judge: Judge) -> None:
    result = judge("import time; time.sleep(60)", spec={"timeout_seconds": 0.5})
    assert result.outcome is Outcome.NONE
    assert "longer than" in result.reason


@pytest.mark.parametrize(
    "name", ["checks.refund", "checks.refund:absent", "no.such:thing", "../x:y", "a b:c", "os;x:y"]
)
def test_a_function_that_is_not_there_cannot_score(judge: Judge, name: str) -> None:
    assert judge("return True", spec={"python": name}).outcome is Outcome.NONE


def test_nothing_is_imported_from_the_workspace(judge: Judge, trace: Callable[..., Trace]) -> None:
    for name in ("json.py", "sitecustomize.py", "checks.py", "words.py"):
        (trace().folder / name).write_text("import os; os._exit(0)")
    assert judge("import json, words\n    return True").outcome is Outcome.NONE
    assert judge("import json\n    return True").outcome is Outcome.PASS
