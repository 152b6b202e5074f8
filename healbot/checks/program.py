"""Starting a check's program: what it is told, and what its end means.

Knows the process port. Exit code 0 is a pass and 1 a fail; everything else, a timeout, a signal or
a crash can't score. Python ends with 1 on an uncaught exception too, so every Python program below
a check gets a ``sitecustomize`` that ends with its own code instead; where a program did not read
it (``python -I``, an interpreter with a ``sitecustomize`` of its own in front), a traceback at the
very end of stderr says the same.
"""

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from healbot.checks.outcome import one_line
from healbot.ports import Finished
from healbot.records.run import Trace
from healbot.rules.patterns import Unscorable

CRASHED = 113
"""The exit code of a Python program that ended by an uncaught exception."""

SIGNALLED = 128
"""An exit code above it says that a signal ended the program, as shells have it."""

_FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin"
_TRACEBACK = re.compile(
    r"(?:^|\n)Traceback \(most recent call last\):\n(?:[ \t].*\n)+(?P<last>[^\s:]+)[^\n]*\s*\Z"
)
_SYNTAX = re.compile(
    r"(?:^|\n)  File \"[^\"\n]*\", line \d+\n(?:[ \t].*\n)+"
    r"(?P<last>SyntaxError|IndentationError|TabError): [^\n]*\s*\Z"
)
"""A program that can't be compiled prints no more than this."""
_NO_MODULE = re.compile(r"\A\S+: (No module named \S+|Error while finding module [^\n]*)\s*\Z")
_TAIL = 20_000

CRASH_HOOK = f"""\
import os
import sys


def _crashed(kind, value, trace):
    try:
        sys.__excepthook__(kind, value, trace)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit({CRASHED})


sys.excepthook = _crashed
"""


class Paths(NamedTuple):
    """Where a check's program finds what the run left behind."""

    output: Path
    changed: Path


def split(command: str) -> list[str]:
    """Split a command line into program and arguments; no shell reads it.

    Raises:
        Unscorable: It is empty, or a quote is not closed.
    """
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise Unscorable(f"the command can't be read ({error})") from error
    if not argv:
        raise Unscorable("the command is empty")
    return argv


def output_bytes(trace: Trace) -> bytes:
    """Return stdout as bytes again; what can't be written as UTF-8 becomes a question mark."""
    try:
        return trace.stdout.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return trace.stdout.encode("utf-8", "replace")


def hand_over(trace: Trace, folder: Path) -> Paths:
    """Write the agent's stdout and the changed paths (a JSON list) into files of ours."""
    paths = Paths(folder / "output.txt", folder / "changed.json")
    paths.output.write_bytes(output_bytes(trace))
    paths.changed.write_text(json.dumps(list(trace.changed)), encoding="utf-8")
    return paths


def environment(env: Mapping[str, str], hook: Path, hook_text: str) -> dict[str, str]:
    """Return an environment in which every Python program reads our hook first."""
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(hook_text, encoding="utf-8")
    rest = env.get("PYTHONPATH")
    return {
        "PATH": _FALLBACK_PATH,
        **env,
        "PYTHONPATH": f"{hook}:{rest}" if rest else str(hook),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def answer(finished: Finished, timeout_seconds: float) -> bool:
    """Return True for exit code 0 and False for 1.

    Raises:
        Unscorable: The program did not start, ran too long, or ended in another way.
    """
    if finished.ended == "timed-out":
        raise Unscorable(f"the check ran longer than {timeout_seconds:g} s")
    if finished.ended != "exited":
        why = f" ({finished.why})" if finished.why else ""
        raise Unscorable(f"the check was {finished.ended.replace('-', ' ')}{why}")
    code = finished.exit_code
    if code in (0, 1):
        return code == 0
    if code == CRASHED:
        raise Unscorable(f"the check crashed ({last_line(finished.stderr) or 'no message'})")
    if code is None or code < 0 or code > SIGNALLED:
        raise Unscorable("the check was ended by a signal")
    tail = last_line(finished.stderr)
    raise Unscorable(f"the check ended with exit code {code}{f' ({tail})' if tail else ''}")


def crash(finished: Finished) -> str | None:
    """Say how a Python program crashed, by a traceback at the very end of stderr, or None."""
    tail = _tail(finished.stderr)
    match = _TRACEBACK.search(tail) or _SYNTAX.search(tail)
    return one_line(match["last"]) if match else None


def missing_module(finished: Finished) -> str | None:
    """Return what ``python -m`` says, with exit code 1, of a module that is not there, or None."""
    match = _NO_MODULE.match(_tail(finished.stderr))
    return one_line(match[1]) if match and not finished.stdout.strip() else None


def last_line(text: bytes) -> str:
    """Return the last line that holds something, as plain text; empty where there is none."""
    lines = [one_line(line) for line in _tail(text).splitlines()]
    return next((line for line in reversed(lines) if line), "")


def _tail(text: bytes) -> str:
    return text[-_TAIL:].decode("utf-8", "replace")
