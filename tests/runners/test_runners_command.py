"""The command runner with real programs, in a real folder."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import rig

from healbot.errors import InputError
from healbot.records.case import Message
from healbot.records.run import Trace
from healbot.records.settings import RunSettings
from healbot.runners.command import CommandRunner
from healbot.runners.process import LocalProcesses

PROCESSES = LocalProcesses(bubblewrap=False)
AGENT = "{python} agent.py"


class Bench:
    """A workspace with an agent program, and a runner for it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.root = place / "workspace"
        self.root.mkdir()
        self.processes = PROCESSES
        self.environment = rig.environment(MY_KEY="key", OTHER_SECRET="no", LC_ALL="C.UTF-8")
        self.hide: tuple[Path, ...] = ()

    def runner(self, command: str = AGENT, **settings: Any) -> CommandRunner:
        line = command.replace("{python}", sys.executable)
        return CommandRunner(
            RunSettings(command=line, **settings),
            processes=self.processes,
            environment=self.environment,
            temp=self.place / "temp",
            hide=self.hide,
        )

    def run(self, program: str, command: str = AGENT, **settings: Any) -> Trace:
        (self.root / "agent.py").write_text(program)
        case = settings.pop("case", None)
        return self.runner(command, **settings).attempt(rig.job(self.root, case))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize(
    "way",
    [
        ("stdin", AGENT, "import sys; print(sys.stdin.read(), end='')"),
        ("argument", AGENT, "import sys; print(sys.argv[1], end='')"),
        ("argument", AGENT + " --say={input} x", "import sys; print(sys.argv[1][6:], end='')"),
        ("file", AGENT, "import sys; print(open(sys.argv[1]).read(), end='')"),
        ("file", AGENT + " {input} y", "import sys; print(open(sys.argv[1]).read(), end='')"),
    ],
)
def test_the_input_arrives_as_the_settings_say(bench: Bench, way: tuple[str, str, str]) -> None:
    how, command, program = way
    text = "Order 1001 'asks' for $HOME;\nünïcode {x}"
    trace = bench.run(program, command, input=how, case=rig.case(input=text))
    assert (trace.ended, trace.exit_code, trace.stderr) == ("exited", 0, "")
    assert trace.stdout == text
    assert trace.changed == ()


def test_a_conversation_of_words_is_one_input_and_a_simulated_user_is_not_run(
    bench: Bench,
) -> None:
    words = (Message(user="one"), Message(user="two"))
    echo = "import sys; print(sys.stdin.read())"
    trace = bench.run(echo, case=rig.case(input=None, messages=words))
    assert trace.stdout == "one\n\ntwo\n"
    simulated = (Message(user="one"), Message(simulate="You want more."))
    trace = bench.run(echo, case=rig.case(input=None, messages=simulated))
    assert trace.ended == "not-started"
    assert "simulated user" in trace.notes[0]


def test_only_harmless_and_named_variables_and_a_home_of_its_own_reach_the_agent(
    bench: Bench,
) -> None:
    program = (
        "import json, os; e = dict(os.environ); open(e['HOME'] + '/x', 'w').close();"
        "open(e['TMPDIR'] + '/x', 'w').close(); print(json.dumps(e))"
    )
    env = json.loads(bench.run(program, env=("MY_KEY", "NOT_SET")).stdout)
    assert "OTHER_SECRET" not in env
    assert (env["MY_KEY"], env["LC_ALL"], env["TERM"]) == ("key", "C.UTF-8", "dumb")
    assert env["HEALBOT_SEED"] == "7"
    assert env["HOME"] != os.environ.get("HOME")
    again = json.loads(bench.run(program).stdout)
    assert "MY_KEY" not in again
    assert again["HOME"] != env["HOME"]
    for name in ("HOME", "TMPDIR", "HEALBOT_RUN_REPORT", "XDG_CACHE_HOME"):
        assert not Path(env[name]).exists()
    assert "secret-case-id" not in json.dumps(env)


def test_changed_files_are_found_without_git(bench: Bench) -> None:
    for name in ("same", "same-size", "mode", "gone", "sub/inner"):
        (bench.root / name).parent.mkdir(exist_ok=True)
        (bench.root / name).write_text("1234")
    (bench.root / "link").symlink_to("same")
    (bench.root / "out").symlink_to("/etc")
    program = """
import os, shutil
before = os.stat("same-size")
open("same-size", "w").write("4321")
os.utime("same-size", ns=(before.st_atime_ns, before.st_mtime_ns))
os.chmod("mode", 0o755); os.unlink("gone"); shutil.rmtree("sub")
os.unlink("link"); os.symlink("mode", "link")
os.makedirs("new/deep"); open("new/deep/file", "w").close(); open(b"odd-\\xff", "w").close()
os.mkfifo("pipe"); os.makedirs(".git"); open(".git/config", "w").close()
"""
    trace = bench.run(program)
    assert trace.stderr == ""
    assert set(trace.changed) == {
        ".git/config",
        "gone",
        "link",
        "mode",
        "new/deep/file",
        "odd-\\xff",
        "pipe",
        "same-size",
        "sub/inner",
    }


def test_a_removed_or_replaced_workspace_counts_as_changed(bench: Bench) -> None:
    (bench.root / "file").write_text("x")
    trace = bench.run("import os, shutil; r = os.getcwd(); shutil.rmtree(r); os.symlink('/etc', r)")
    assert set(trace.changed) == {"agent.py", "file"}


def test_a_run_report_is_read_and_an_unusable_one_leaves_a_note(bench: Bench) -> None:
    write = "import os; open(os.environ['HEALBOT_RUN_REPORT'], 'w').write({!r})"
    trace = bench.run(write.format('{"tokens": 5, "skills_read": ["refund"]}'))
    assert (trace.usage.tokens, trace.usage.usd) == (5, None)
    assert (trace.skills_read, trace.rules_read, trace.notes) == (("refund",), None, ())
    trace = bench.run(write.format('{"tokens": -5}'))
    assert trace.usage.tokens is None
    assert "tokens" in trace.notes[0]


def test_output_of_any_kind_is_text_in_the_end(bench: Bench) -> None:
    trace = bench.run("import os; os.write(1, bytes(range(256))); os.write(2, b'\\xff\\xfe')")
    trace.model_dump_json().encode()
    assert trace.stderr == "��"


def test_a_run_out_of_time_keeps_what_it_said_and_did(bench: Bench) -> None:
    program = "import time; open('x','w').close(); print('so far', flush=True); time.sleep(60)"
    trace = bench.run(program, timeout_seconds=0.7)
    assert (trace.ended, trace.exit_code, trace.stdout) == ("timed-out", None, "so far\n")
    assert trace.changed == ("x",)


def test_what_can_not_start_is_no_run_and_says_why(bench: Bench) -> None:
    trace = bench.run("", "no-such-program --x")
    assert trace.ended == "not-started"
    assert "no-such-program" in trace.notes[0]
    long = bench.run("", input="argument", case=rig.case(input="x" * 3_000_000))
    assert long.ended == "not-started"
    half = bench.run("print(1)", case=rig.case(input="half \ud800"))
    assert half.ended == "exited"


def test_a_relative_program_is_found_in_the_agent_s_folder(bench: Bench) -> None:
    folder = bench.root / "agents" / "one"
    folder.mkdir(parents=True)
    (folder / "run.sh").write_text("#!/bin/sh\npwd\n")
    (folder / "run.sh").chmod(0o755)
    trace = bench.runner("./run.sh").attempt(rig.job(bench.root, folder="agents/one"))
    assert trace.stdout.strip() == str(folder.resolve())


@pytest.mark.parametrize("line", ["", "  ", "say 'unclosed"])
def test_a_command_line_that_can_not_be_split_is_bad_input(bench: Bench, line: str) -> None:
    with pytest.raises(InputError, match="can't be split"):
        bench.runner(line)


def test_the_digest_names_the_way_of_running_and_nothing_of_the_machine(
    bench: Bench, tmp_path: Path
) -> None:
    one = bench.runner("run it", env=("B", "A"))
    bench.environment = rig.environment(A="else")
    bench.place = tmp_path / "elsewhere"
    assert bench.runner("run it", env=("A", "B")).digest == one.digest
    others = [
        bench.runner("run that", env=("A", "B")),
        bench.runner("run it", env=("A",)),
        bench.runner("run it", env=("A", "B"), input="file"),
        bench.runner("run it", env=("A", "B"), setup="make"),
        bench.runner("run it", env=("A", "B"), timeout_seconds=1),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 6


def test_sixteen_runs_at_once_do_not_meet(bench: Bench) -> None:
    (bench.root / "agent.py").write_text("import os; print(os.environ['HEALBOT_SEED'])")
    runner = bench.runner()
    with ThreadPoolExecutor(16) as pool:
        jobs = [rig.job(bench.root, seed=seed) for seed in range(32)]
        traces = list(pool.map(runner.attempt, jobs))
    assert [trace.stdout for trace in traces] == [f"{seed}\n" for seed in range(32)]


def test_a_sandboxed_agent_sees_its_workspace_and_not_what_is_hidden(bench: Bench) -> None:
    bench.processes = LocalProcesses(path=os.environ["PATH"])
    if not bench.processes.sandboxed:
        pytest.skip("bubblewrap is not installed here, or the kernel forbids it")
    hidden = bench.place / "hidden"
    (hidden / "tests").mkdir(parents=True)
    (hidden / "tests" / "answer").write_text("42")
    file = bench.place / "settings.yml"
    file.write_text("secret")
    (bench.place / "open").write_text("seen")
    bench.hide = (hidden, file, bench.place / "not-there")
    program = f"""
import os, pathlib, socket
def reading(path):
    try: return path.read_text()
    except OSError: return ""
place = pathlib.Path({str(bench.place)!r})
print(sorted(os.listdir(place / "hidden")), "secret" in reading(place / "settings.yml"))
print((place / "open").read_text(), os.listdir(place / "temp")[0] in os.environ["HOME"])
open("written", "w").close(); open(os.environ["HOME"] + "/x", "w").close()
try: open(os.path.expanduser("/usr/healbot-was-here"), "w")
except OSError: print("read-only")
print(len([p for p in os.listdir("/proc") if p.isdigit()]))
print([n for _, n in socket.if_nameindex()])
"""
    trace = bench.run(program)
    lines = trace.stdout.splitlines()
    assert trace.stderr == ""
    assert lines[:3] == ["[] False", "seen True", "read-only"]
    assert int(lines[3]) <= 3
    assert trace.changed == ("written",)


def test_a_hidden_folder_around_the_workspace_leaves_the_workspace(bench: Bench) -> None:
    bench.processes = LocalProcesses(path=os.environ["PATH"])
    if not bench.processes.sandboxed:
        pytest.skip("bubblewrap is not installed here, or the kernel forbids it")
    (bench.place / "sibling").write_text("secret")
    bench.hide = (bench.place,)
    program = "import os; print(os.listdir('..')); open('written', 'w').close()"
    trace = bench.run(program)
    assert "sibling" not in trace.stdout
    assert trace.changed == ("written",)
