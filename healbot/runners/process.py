"""Starting a program in its own session, feeding and draining it, and ending all of it.

Knows processes only: no settings, no harness, no case. Output is kept up to a cap, so a program
that never stops talking costs bounded memory; what a program leaves behind is killed, so a daemon
that holds the pipe can't keep us waiting.
"""

import errno
import os
import secrets
import signal
import subprocess
import threading
import time
from pathlib import Path

from healbot.ports import Command, Finished
from healbot.runners import descendants, sandbox
from healbot.runners.watch import Watch

GRACE_SECONDS = 1.0
"""Between the polite signal at the timeout and the one that can't be refused."""
DRAIN_SECONDS = 1.0
"""How long pipes are read once everything that could be found is dead."""
MARK_NAME = "HEALBOT_PROCESS"
SIGNALLED = 128
"""Added to a signal's number, as shells do, for a program that a signal ended."""


class _StartError(Exception):
    """The program could not be started; the text says why, for a person."""


def locate(program: str, path: str, cwd: Path) -> Path:
    """Return the absolute path of a program.

    A name without a slash is looked for on ``path`` (relative entries don't count); any other is
    taken from ``cwd``.

    Raises:
        FileNotFoundError, PermissionError: There is none, or it may not be executed; the message
            is a sentence for people.
    """
    if "/" in program:
        places = [str(cwd / program)]
    else:
        places = [f"{part}/{program}" for part in path.split(os.pathsep) if part.startswith("/")]
    there = False
    for place in places:
        if os.path.isfile(place):  # noqa: PTH113 - a closed folder is a no
            there = True
            if os.access(place, os.X_OK):
                return Path(os.path.abspath(place))  # noqa: PTH100 - resolve() would follow a link
    if there:
        raise PermissionError(f"the program {program!r} is not executable")
    where = "in the working directory" if "/" in program else "on PATH"
    raise FileNotFoundError(f"there is no program {program!r} {where}")


def _why(error: OSError | ValueError, command: Command) -> str:
    """Turn what the system said about a failed start into a sentence."""
    program = command.argv[0]
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.E2BIG:
        size = sum(len(os.fsencode(word)) for word in command.argv)
        return f"the arguments of {program!r} are too long for this system ({size} bytes)"
    if number == errno.ENOEXEC:
        return f"{program!r} is no program for this machine (a script needs a #! line)"
    if number == errno.ENOENT:
        return f"the interpreter that {program!r} names in its first line is not there"
    if isinstance(error, ValueError):
        return f"{program!r} can't be given these arguments or variables: {error}"
    return f"{program!r} could not be started: {error.strerror or error}"


class LocalProcesses:
    """Programs on this machine, each in a session of its own; safe to use from many threads.

    ``close`` ends everything that runs and refuses what comes after; call it on the way out.
    """

    def __init__(self, *, path: str = os.defpath, bubblewrap: bool = True) -> None:
        """Look for bubblewrap on ``path`` at the first use, unless told not to."""
        self._path = path
        self._lock = threading.RLock()  # a signal handler may call close()
        self._probed = not bubblewrap
        self._bwrap: str | None = None
        self._running: dict[int, bytes] = {}
        self._closed = False

    @property
    def sandboxed(self) -> bool:
        """True where ``hide`` really hides (bubblewrap is there and works); probed once."""
        with self._lock:
            if not self._probed:
                self._bwrap = sandbox.find(self._path)
                self._probed = True
            return self._bwrap is not None

    def run(self, command: Command) -> Finished:
        """Run to the end or the timeout; nothing of the group is left alive; never raises.

        At the timeout the group is asked to end, and killed ``GRACE_SECONDS`` later. A program
        that a signal ended has the exit code 128 + its number. ``KeyboardInterrupt`` passes, after
        everything was ended.
        """
        begun = time.monotonic()
        try:
            watch, popen, mark = self._start(command)
        except _StartError as error:
            seconds = time.monotonic() - begun
            return Finished("not-started", None, b"", b"", False, seconds, str(error))
        left: descendants.Found = {}
        try:
            timed_out = self._attend(watch, begun + command.timeout_seconds)
            if timed_out:
                left = descendants.find(popen.pid, mark, quick=False)
                descendants.signal_group(popen.pid, signal.SIGTERM)
                self._attend(watch, time.monotonic() + GRACE_SECONDS)
        finally:
            seconds = time.monotonic() - begun
            descendants.end(popen.pid, mark, known=left, ran_seconds=seconds)
            self._drain(watch, popen)
        return self._finished(
            watch, popen.returncode, timed_out=timed_out, seconds=time.monotonic() - begun
        )

    def close(self) -> None:
        """End every program that runs; later calls of ``run`` answer ``interrupted``."""
        with self._lock:
            self._closed = True
            for leader, mark in self._running.items():
                descendants.end(leader, mark)

    def _start(self, command: Command) -> tuple[Watch, subprocess.Popen[bytes], bytes]:
        mark = f"{MARK_NAME}={secrets.token_hex(8)}"
        reader = writer = -1
        argv = self._argv(command)
        if self.sandboxed and self._bwrap is not None:
            reader, writer = os.pipe()
            tools = sandbox.tools_in(command.env.get("PATH", ""), command.hide)
            view = sandbox.View(command.cwd, (*command.keep, command.cwd), command.hide, tools)
            argv = sandbox.wrap(self._bwrap, view, status_fd=writer, argv=argv)
        try:
            popen = subprocess.Popen(
                argv,
                cwd=command.cwd,
                env={**command.env, MARK_NAME: mark.partition("=")[2]},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                pass_fds=(writer,) if writer >= 0 else (),
            )
        except (OSError, ValueError) as error:
            if reader >= 0:
                os.close(reader)
            raise _StartError(_why(error, command)) from None
        finally:
            if writer >= 0:
                os.close(writer)
        with self._lock:
            self._running[popen.pid] = mark.encode()
            if self._closed:
                descendants.end(popen.pid, mark.encode())
        return Watch(popen, command, reader), popen, mark.encode()

    def _argv(self, command: Command) -> list[str]:
        if not command.argv:
            raise _StartError("there is no program to start")
        if not os.path.isdir(command.cwd):  # noqa: PTH112 - a closed folder is a no
            raise _StartError(f"there is no folder {command.cwd} to start it in")
        try:
            path = command.env.get("PATH", os.defpath)
            program = locate(command.argv[0], path, command.cwd)
        except (OSError, ValueError) as error:
            raise _StartError(str(error)) from None
        return [str(program), *command.argv[1:]]

    def _attend(self, watch: Watch, deadline: float) -> bool:
        """Feed and drain until the program ends (False), or until a deadline (True)."""
        while not watch.exited:
            left = deadline - time.monotonic()
            if left <= 0:
                return True
            watch.step(left)
        return False

    def _drain(self, watch: Watch, popen: subprocess.Popen[bytes]) -> None:
        """Read what is left in the pipes of a program that was ended, and let go of it."""
        until = time.monotonic() + DRAIN_SECONDS
        while not watch.drained and time.monotonic() < until:
            watch.step(until - time.monotonic())
        with self._lock:
            del self._running[popen.pid]
        popen.wait()
        watch.close()

    def _finished(self, watch: Watch, code: int, *, timed_out: bool, seconds: float) -> Finished:
        code = SIGNALLED - code if code < 0 else code
        ended, why = "exited", ""
        if timed_out:
            ended = "timed-out"
        elif self._closed:
            ended, why = "interrupted", "healbot is stopping"
        elif self._bwrap is not None and not sandbox.started(watch.status.content()):
            ended, why = "not-started", watch.stderr.content().decode("utf-8", "replace").strip()
        return Finished(
            ended,
            code if ended == "exited" else None,
            watch.stdout.content(),
            watch.stderr.content(),
            watch.stdout.truncated or watch.stderr.truncated,
            seconds,
            why,
        )
