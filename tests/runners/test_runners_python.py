"""The python runner with real functions, in a real folder and a process of its own."""

import sys
from pathlib import Path
from typing import Any

import pytest
import rig

from healbot.errors import InputError
from healbot.records.case import Message
from healbot.records.run import Trace
from healbot.records.settings import RunSettings
from healbot.runners.process import LocalProcesses
from healbot.runners.program import Means
from healbot.runners.python import PythonRunner


class Bench:
    """A workspace with a module, and a runner for a function of it."""

    def __init__(self, place: Path) -> None:
        self.place, self.root = place, place / "workspace"
        self.root.mkdir()

    def runner(self, target: str = "agent:answer", **settings: Any) -> PythonRunner:
        means = Means(
            LocalProcesses(bubblewrap=False),
            rig.environment(MY_KEY="key", OTHER="no"),
            self.place / "temp",
        )
        return PythonRunner(RunSettings(python=target, **settings), means)

    def run(self, program: str, target: str = "agent:answer", **settings: Any) -> Trace:
        (self.root / "agent.py").write_text(program)
        case = settings.pop("case", None)
        return self.runner(target, **settings).attempt(rig.job(self.root, case))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_returned_text_is_the_output_and_what_is_printed_goes_to_stderr(bench: Bench) -> None:
    program = """
import os, subprocess, sys
print("loading")
def answer(task):
    print("thinking")
    subprocess.run([sys.executable, "-S", "-c", "print('a child')"])
    return task.upper() + " ünï"
"""
    trace = bench.run(program)
    assert (trace.ended, trace.exit_code, trace.stdout) == ("exited", 0, "HELLO ünï")
    assert trace.stderr.split() == ["loading", "thinking", "a", "child"] or all(
        word in trace.stderr for word in ("loading", "thinking", "a child")
    )
    assert trace.changed == ()


def test_a_function_gets_by_keyword_what_its_signature_names(bench: Bench) -> None:
    program = """
import os
def answer(task, *, seed, case_id, messages, other=1):
    return repr((task, seed, case_id, messages, os.environ["HEALBOT_SEED"]))
"""
    words = (Message(user="one"), Message(user="two"))
    trace = bench.run(program, case=rig.case(input=None, messages=words))
    chat = [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]
    assert trace.stdout == repr(("one\n\ntwo", 7, "secret-case-id", chat, "7"))
    assert bench.run("def answer(messages): return messages").stdout == "hello"


def test_an_async_function_and_a_dictionary_with_a_report_are_read(bench: Bench) -> None:
    program = """
async def answer(task):
    return {"output": {"a": 1}, "tokens": 5, "usd": 0.5, "tool_calls": [{"name": "x"}],
            "skills_read": ["refund"]}
"""
    trace = bench.run(program)
    assert (trace.stdout, trace.usage.tokens, trace.usage.usd) == ('{"a": 1}', 5, 0.5)
    assert trace.tool_calls is not None
    assert (trace.tool_calls[0].name, trace.skills_read) == ("x", ("refund",))
    assert trace.rules_read is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
        ("return None", "returned NoneType"),
        ("return {'tokens': 1}", "'output'"),
    ],
)
def test_an_exception_is_a_run_that_ended_badly_with_its_traceback(
    bench: Bench, body: str, said: str
) -> None:
    trace = bench.run(f"def answer(task): {body}")
    assert (trace.ended, trace.exit_code, trace.stdout) == ("exited", 1, "")
    assert "Traceback" in trace.stderr
    assert said in trace.stderr


def test_a_missing_dependency_of_the_agent_is_its_own_failure(bench: Bench) -> None:
    trace = bench.run("import not_installed_here")
    assert (trace.ended, trace.exit_code) == ("exited", 1)
    assert "not_installed_here" in trace.stderr


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("agnet:answer", "no module 'agnet'"),
        ("agent.inner:answer", "no module 'agent.inner'"),
        ("agent:anwser", "has no 'anwser'"),
        ("agent:NUMBER", "can't be called"),
    ],
)
def test_a_function_that_is_not_there_is_no_run_and_says_so(
    bench: Bench, target: str, why: str
) -> None:
    trace = bench.run("NUMBER = 1\ndef answer(task): return task", target)
    assert trace.ended == "not-started"
    assert why in trace.notes[0]


def test_only_named_variables_reach_it_and_written_files_are_seen(bench: Bench) -> None:
    program = """
import os
def answer(task):
    open("written", "w").close()
    return str([os.environ.get("MY_KEY"), os.environ.get("OTHER")])
"""
    trace = bench.run(program, env=("MY_KEY",))
    assert (trace.stdout, trace.changed) == ("['key', None]", ("written",))


def test_a_function_out_of_time_is_told(bench: Bench) -> None:
    trace = bench.run("import time\ndef answer(task): time.sleep(60)", timeout_seconds=0.7)
    assert (trace.ended, trace.stdout) == ("timed-out", "")


def test_the_interpreter_that_setup_made_is_the_one_used(bench: Bench) -> None:
    python = bench.root / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nMINE=1 exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    assert bench.run("import os\ndef answer(task): return os.environ['MINE']").stdout == "1"


def test_a_target_of_another_form_is_bad_input(bench: Bench) -> None:
    for target in ("", "agent", "agent:", "a b:c", "agent.py:answer()"):
        with pytest.raises(InputError, match="module:function"):
            bench.runner(target)


def test_the_digest_names_function_and_settings(bench: Bench) -> None:
    runners = [
        bench.runner(),
        bench.runner("a:b"),
        bench.runner(setup="x"),
        bench.runner(env=("A",)),
    ]
    assert len({runner.digest for runner in runners}) == 4
