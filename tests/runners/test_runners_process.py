"""Real programs that behave badly, started and ended by LocalProcesses."""

import gc
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from healbot.ports import Command, Finished
from healbot.runners.process import LocalProcesses

PYTHON = sys.executable
ENV = {"PATH": os.environ["PATH"]}


@pytest.fixture(params=["plain", "bwrap"])
def processes(request: pytest.FixtureRequest) -> Iterator[LocalProcesses]:
    made = LocalProcesses(path=ENV["PATH"], bubblewrap=request.param == "bwrap")
    if request.param == "bwrap" and not made.sandboxed:
        pytest.skip("bubblewrap is not installed here, or the kernel forbids it")
    yield made
    made.close()


def go(
    processes: LocalProcesses, cwd: Path, *argv: str, timeout: float = 20, stdin: bytes = b""
) -> Finished:
    return processes.run(Command(argv, cwd, ENV, timeout, stdin=stdin, cap_bytes=10_000))


def script(cwd: Path, text: str) -> str:
    path = cwd / "program.py"
    path.write_text(text)
    return str(path)


def numbers(place: str) -> list[str]:
    return [path.name for path in Path(place).iterdir()]


def nap() -> str:
    """A number of seconds that no other program sleeps."""
    return f"60.{secrets.randbelow(10**9):09}"


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def gone(word: str, *, within: float = 5.0) -> bool:
    """No process has this word in its command line."""
    until = time.monotonic() + within
    while True:
        left = [
            pid
            for pid in numbers("/proc")
            if pid.isdigit() and alive(int(pid)) and word.encode() in _cmdline(pid)
        ]
        if not left:
            return True
        if time.monotonic() > until:
            return False
        time.sleep(0.05)


def _cmdline(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_program_s_output_and_exit_code_come_back(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    text = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = go(processes, tmp_path, PYTHON, "-c", text)
    assert (done.ended, done.exit_code) == ("exited", 3)
    assert (done.stdout, done.stderr, done.truncated) == (b"out\n", b"err\n", False)
    assert 0 < done.duration_seconds < 20


def test_a_program_ended_by_a_signal_has_the_shell_s_exit_code(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    done = go(processes, tmp_path, "sh", "-c", "kill -9 $$")
    assert (done.ended, done.exit_code) == ("exited", 128 + signal.SIGKILL)


def test_only_the_given_environment_arrives(processes: LocalProcesses, tmp_path: Path) -> None:
    done = go(processes, tmp_path, "env")
    names = {line.partition("=")[0] for line in done.stdout.decode().splitlines()}
    assert names - {"PWD"} == {"PATH", "HEALBOT_PROCESS"}


def test_a_large_input_and_a_large_output_do_not_wait_for_each_other(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    text = "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d); print(len(d))"
    done = go(processes, tmp_path, PYTHON, "-c", text, stdin=b"x" * 5_000_000)
    assert done.stdout.endswith(b"x5000000\n")


def test_a_program_that_never_reads_its_input_is_no_trouble(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    done = go(processes, tmp_path, "true", stdin=b"x" * 5_000_000)
    assert (done.ended, done.exit_code) == ("exited", 0)


def test_a_hundred_megabytes_keep_head_and_tail_in_bounded_memory(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    text = (
        "import os\nos.write(1, b'first')\nfor _ in range(1600): os.write(1, bytes(65536))\n"
        "os.write(1, b'last')"
    )
    done = go(processes, tmp_path, PYTHON, "-c", text)
    assert done.truncated
    assert done.stdout.startswith(b"first\0")
    assert done.stdout.endswith(b"\0last")
    assert b"bytes left out here" in done.stdout
    assert len(done.stdout) < 10_100


def test_endless_output_ends_at_the_timeout(processes: LocalProcesses, tmp_path: Path) -> None:
    done = go(processes, tmp_path, "yes", timeout=0.5)
    assert (done.ended, done.exit_code, done.truncated) == ("timed-out", None, True)
    assert done.duration_seconds < 4


def test_a_program_that_ignores_the_polite_signal_is_killed(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    text = (
        "import signal, time, sys\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('deaf', flush=True)\ntime.sleep(60)"
    )
    done = go(processes, tmp_path, PYTHON, "-c", text, "deaf-marker-1", timeout=0.5)
    assert (done.ended, done.stdout) == ("timed-out", b"deaf\n")
    assert done.duration_seconds < 5
    assert gone("deaf-marker-1")


def test_children_of_the_group_die_with_a_timeout(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    seconds = nap()
    text = f"sleep {seconds} & sleep {seconds} & wait"
    assert go(processes, tmp_path, "sh", "-c", text, timeout=0.4).ended == "timed-out"
    assert gone(seconds)


def test_a_child_left_behind_that_holds_the_pipe_is_ended(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    seconds = nap()
    done = go(processes, tmp_path, "sh", "-c", f"sleep {seconds} & echo done")
    assert (done.ended, done.exit_code, done.stdout) == ("exited", 0, b"done\n")
    assert done.duration_seconds < 3
    assert gone(seconds)


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(63)
    os._exit(0)
os.wait()
print("left", flush=True)
"""


def test_a_daemon_that_left_the_session_is_found_and_ended(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    done = go(processes, tmp_path, PYTHON, script(tmp_path, DAEMON), "daemon-marker-1")
    assert (done.ended, done.stdout) == ("exited", b"left\n")
    assert done.duration_seconds < 3
    assert gone("daemon-marker-1")


def test_a_child_in_another_session_with_an_empty_environment_dies_with_a_timeout(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    seconds = nap()
    text = f"env -i setsid sleep {seconds} & wait; sleep {seconds}"
    assert go(processes, tmp_path, "sh", "-c", text, timeout=0.5).ended == "timed-out"
    assert gone(seconds)


def test_a_daemon_nobody_can_find_does_not_keep_us_waiting(tmp_path: Path) -> None:
    seconds = nap()
    nap_there = f"os.execve('/bin/sleep', ['sleep', '{seconds}'], {{}})"
    text = DAEMON.replace("time.sleep(63)", nap_there)
    processes = LocalProcesses(bubblewrap=False)
    done = go(processes, tmp_path, PYTHON, script(tmp_path, text))
    assert (done.ended, done.stdout) == ("exited", b"left\n")
    assert done.duration_seconds < 4
    for pid in numbers("/proc"):
        if seconds.encode() in _cmdline(pid):
            os.kill(int(pid), signal.SIGKILL)


def test_closed_outputs_do_not_end_a_run_early(processes: LocalProcesses, tmp_path: Path) -> None:
    text = "import os, time, sys; os.close(1); os.close(2); time.sleep(.3); os._exit(4)"
    done = go(processes, tmp_path, PYTHON, "-c", text)
    assert (done.exit_code, done.duration_seconds > 0.3) == (4, True)


@pytest.mark.parametrize(
    "start",
    [
        ("missing-program", None, 0, "no program 'missing-program' on PATH"),
        ("./missing", None, 0, "no program './missing' in the working directory"),
        ("./plain", "#!/bin/sh\n", 0o644, "not executable"),
        ("./lost", "#!/no/such/interpreter\n", 0o755, "lost"),
    ],
)
def test_what_can_not_start_says_why(
    processes: LocalProcesses, tmp_path: Path, start: tuple[str, str | None, int, str]
) -> None:
    name, content, mode, why = start
    if content is not None:
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(mode)
    done = go(processes, tmp_path, name)
    assert (done.ended, done.exit_code) == ("not-started", None)
    assert why in done.why


def test_arguments_that_are_too_long_or_hold_a_null_do_not_start(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    long = go(processes, tmp_path, "echo", "x" * 3_000_000)
    assert (long.ended, "too long" in long.why) == ("not-started", True)
    null = go(processes, tmp_path, "echo", "a\0b")
    assert (null.ended, "null" in null.why) == ("not-started", True)
    nowhere = go(processes, tmp_path / "nowhere", "echo")
    assert (nowhere.ended, "no folder" in nowhere.why) == ("not-started", True)


def test_sixteen_at_once_all_finish_and_no_descriptor_is_lost(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    def one(number: int) -> Finished:
        text = f"import sys; sys.stdout.write(sys.stdin.read() + '{number}')"
        return go(processes, tmp_path, PYTHON, "-S", "-c", text, stdin=b"n")

    one(0)
    gc.collect()  # what earlier tests left to be collected is not ours to count
    before = len(numbers("/proc/self/fd"))
    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(one, range(64)))
    assert [item.stdout for item in done] == [b"n%d" % number for number in range(64)]
    assert len(numbers("/proc/self/fd")) == before


def test_sixteen_sleepers_take_the_time_of_one(processes: LocalProcesses, tmp_path: Path) -> None:
    begun = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda _: go(processes, tmp_path, "sleep", "1"), range(16)))
    assert {item.exit_code for item in done} == {0}
    assert time.monotonic() - begun < 5


def test_closing_ends_what_runs_and_refuses_what_comes(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    seconds = nap()
    found: list[Finished] = []
    thread = threading.Thread(
        target=lambda: found.append(go(processes, tmp_path, "sleep", seconds))
    )
    thread.start()
    time.sleep(0.4)
    processes.close()
    thread.join(5)
    assert [item.ended for item in found] == ["interrupted"]
    assert gone(seconds)
    assert go(processes, tmp_path, "sleep", seconds).ended == "interrupted"


def test_an_interrupt_leaves_no_child(tmp_path: Path) -> None:
    seconds = nap()
    import subprocess

    text = (
        "import sys\nfrom pathlib import Path\nfrom healbot.ports import Command\n"
        "from healbot.runners.process import LocalProcesses\n"
        "print('ready', flush=True)\n"
        f"LocalProcesses(bubblewrap=False).run(Command(['sh', '-c', 'sleep {seconds} & sleep 60'],"
        " Path('.'), {'PATH': '/usr/bin:/bin'}, 60))\n"
    )
    with subprocess.Popen(
        [PYTHON, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as popen:
        assert popen.stdout is not None
        popen.stdout.readline()
        time.sleep(0.4)
        popen.send_signal(signal.SIGINT)
        popen.communicate(timeout=10)
    assert gone(seconds)


@pytest.mark.skipif(os.geteuid() == 0, reason="every folder is open to root")
def test_a_folder_on_path_that_may_not_be_entered_is_passed_over(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    env = {"PATH": f"{closed}:{ENV['PATH']}"}
    done = LocalProcesses(bubblewrap=False).run(Command(["true"], tmp_path, env, 10))
    assert done.exit_code == 0
