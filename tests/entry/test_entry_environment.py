"""What an agent can read of its parent's environment, seen by a real program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from healbot.entry import environment

SECRET = "a-secret-value-4711"
PEEP = (
    "import os, sys; p = '/proc/%d/environ' % os.getppid();"
    "sys.stdout.write(repr(open(p, 'rb').read()))"
)
BODY = f"""
import subprocess, sys
from healbot.entry.environment import environment, shed
full = shed()
peep = subprocess.run([sys.executable, "-c", {PEEP!r}], capture_output=True, text=True)
print("peeped", peep.stdout, peep.stderr[-300:])
print("args", sys.argv[1:])
print("full", full.get("MY_KEY"), environment().get("MY_KEY"), full.get("ODD"))
import os
print("left", sorted(os.environ))
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


def variables(**more: str) -> dict[str, str]:
    root = str(Path(environment.__file__).parents[2])
    return {"PATH": os.environ["PATH"], "PYTHONPATH": root, "LANG": "C.UTF-8", **more}


def run(*argv: str, env: dict[str, str], cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, *argv], env=env, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def as_console_script(folder: Path) -> str:
    path = folder / "healbot"
    path.write_text(BODY)
    return str(path)


@linux
def test_an_agent_finds_no_secret_in_its_parent_s_start_environment(tmp_path: Path) -> None:
    odd = "line\nbreak=and more"
    env = variables(MY_KEY=SECRET, ODD=odd, LARGE="x" * 100_000)
    out = run(as_console_script(tmp_path), "cycle", "--watch", "1 h", env=env)
    peeped = out.partition("args")[0]
    assert SECRET not in peeped
    assert "MY_KEY" not in peeped
    assert "PYTHONPATH" in peeped or "Permission denied" in peeped
    assert "args ['cycle', '--watch', '1 h']" in out
    assert f"full {SECRET} {SECRET} {odd}" in out
    assert "MY_KEY" not in out.partition("left")[2]


@linux
def test_without_the_new_start_the_same_agent_would_find_it(tmp_path: Path) -> None:
    path = tmp_path / "other_program.py"
    path.write_text(BODY)
    assert SECRET in run(str(path), env=variables(MY_KEY=SECRET)).partition("args")[0]


@linux
def test_a_module_run_by_name_keeps_its_options_and_arguments(tmp_path: Path) -> None:
    package = tmp_path / "healbot"
    package.mkdir()
    (package / "__init__.py").write_text(
        f"__path__.append({str(Path(environment.__file__).parents[1])!r})"
    )
    (package / "__main__.py").write_text(BODY + "print('flags', sys.flags.utf8_mode)")
    env = {**variables(MY_KEY=SECRET), "PYTHONPATH": str(tmp_path)}
    out = run("-X", "utf8", "-m", "healbot", "cycle", "a b", env=env, cwd=tmp_path)
    assert SECRET not in out.partition("args")[0]
    assert "args ['cycle', 'a b']" in out
    assert "flags 1" in out


@linux
def test_a_descriptor_meant_for_another_process_is_not_read(tmp_path: Path) -> None:
    env = variables(MY_KEY=SECRET, HEALBOT_ENVIRONMENT="0:1")
    out = run(as_console_script(tmp_path), env=env)
    assert SECRET not in out.partition("args")[0]
    assert f"full {SECRET} {SECRET}" in out


@linux
def test_nothing_to_hide_starts_nothing_anew(tmp_path: Path) -> None:
    path = tmp_path / "healbot"
    path.write_text(
        "import sys, healbot.entry.environment as e\n"
        "e._start_anew = lambda full: sys.exit('started anew')\ne.shed()\nprint('once')"
    )
    assert run(str(path), env=variables()) == "once\n"


def test_a_test_runner_is_never_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    assert not environment.own_program()
    assert environment.shed()["MY_KEY"] == SECRET
    assert environment.environment()["MY_KEY"] == SECRET
