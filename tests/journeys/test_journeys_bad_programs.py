"""Agents and checks that misbehave: never a wrong outcome, and nothing is left of them."""

import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from sandbox import make_repository
from spoiling import Spoil, call, checking, copy, running

SLEEP = f"604.{os.getpid()}"
"""Seconds that no other program of this machine sleeps."""
HELLO = "print('Hello', flush=True)\n"


class Program(NamedTuple):
    """What a program does, the exit code of ``cases run``, and words of the reason."""

    text: str
    code: int
    says: str = ""
    seconds: float = 20


AGENTS = {
    "prints binary": Program(
        "import os, sys\nsys.stdout.buffer.write(bytes(range(256)) * 9)\n", 1, "should contain"
    ),
    "prints 100 MB": Program(
        "import sys\nfor _ in range(100):\n    sys.stdout.write('x' * 1_000_000)\n", 4, "was cut"
    ),
    "never ends": Program(
        "import signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(99)\n",
        4, "ran into its timeout", 0.5,
    ),
    "leaves children": Program(
        f"{HELLO}import subprocess\nfor new in (True, False):\n"
        f"    subprocess.Popen(['sleep', '{SLEEP}'], start_new_session=new)\n",
        0,
    ),
    "dies of a signal": Program(f"{HELLO}import os\nos.kill(os.getpid(), 9)\n", 4, "exit code 137"),
    "writes many files": Program(
        f"{HELLO}for at in range(12_000):\n    open(f'{{at}}', 'w').close()\n", 0
    ),
    "nests folders": Program(
        f"{HELLO}import os\nfor _ in range(2_000):\n    os.mkdir('d')\n    os.chdir('d')\n", 0
    ),
    "closes its folder": Program(f"{HELLO}import os\nos.mkdir('d', 0)\nos.chmod('.', 0)\n", 0),
    "has no room": Program(
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (999, 999))\n"
        "open('big', 'wb').write(b'x' * 9_999)\n",
        4, "exit code 1",
    ),
    "replaces its folder": Program(
        f"{HELLO}import os\ntry:\n    os.rename('../s', '../t')\n    os.symlink('/etc', '../s')\n"
        "except OSError:\n    pass\n",
        0,
    ),
}  # fmt: skip

CHECKS = {
    "prints binary": Program(
        "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 9)\nsys.exit(1)\n", 1
    ),
    "prints 100 MB": Program("print('x' * 100_000_000)\nraise SystemExit(1)\n", 1, "xxx"),
    "never ends": Program("import time\ntime.sleep(99)\n", 4, "ran longer than 0.5 s", 0.5),
    "leaves children": Program(
        f"import subprocess\nsubprocess.Popen(['sleep', '{SLEEP}'], start_new_session=True)\n", 0
    ),
    "dies of a signal": Program("import os\nos.kill(os.getpid(), 9)\n", 4, "ended by a signal"),
    "is no Python": Program("(\n", 4, "the check crashed (SyntaxError)"),
    "raises": Program("1 / 0\n", 4, "the check crashed (ZeroDivisionError)"),
    "has a code of its own": Program("raise SystemExit(7)\n", 4, "exit code 7"),
    "has no room": Program(
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (999, 999))\n"
        "open('big', 'wb').write(b'x' * 9_999)\n",
        4, "the check crashed (OSError)",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the repository that every program is put into."""
    return make_repository(tmp_path_factory.mktemp("programs") / "template")


def _judge(template: Path, place: Path, spoil: Spoil, program: Program) -> None:
    folder = copy(template, place, spoil)
    done = call(folder, "cases", "run", "--json", "-k", "hello")
    assert done.code == program.code, done
    (row,) = json.loads(done.out)
    assert program.says in row["why"]
    assert [row[word] for word in ("pass", "fail", "none")] == [
        int(program.code == code) for code in (0, 1, 4)
    ]
    assert "Traceback" not in done.err
    assert "\x1b" not in done.out
    alive = subprocess.run(("pgrep", "-f", f"sleep {SLEEP}"), check=False, capture_output=True)
    assert alive.stdout == b""
    homes = folder / ".git/healbot/homes"
    assert [one.name for one in homes.glob("*/*") if one.name != "alive"] == []


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_that_misbehaves_costs_its_run_and_nothing_else(
    name: str, template: Path, tmp_path: Path
) -> None:
    program = AGENTS[name]
    spoil = running(program.text, seconds=program.seconds)
    _judge(template, tmp_path / "repo", spoil, program)


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_that_misbehaves_is_never_a_pass_and_rarely_a_fail(
    name: str, template: Path, tmp_path: Path
) -> None:
    program = CHECKS[name]
    spoil = checking(program.text, seconds=program.seconds)
    _judge(template, tmp_path / "repo", spoil, program)
