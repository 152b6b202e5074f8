"""The environment: the one place that reads it, and that keeps secrets out of what agents can see.

On Linux a program of the same user may read ``/proc/<our number>/environ``: the variables that our
process was started with, whatever we do to them later. So before a command runs agents, the process
starts itself anew with harmless variables only and hands the others over through a file without a
name; and it forbids other processes to look into its memory (``PR_SET_DUMPABLE``).

What remains: other processes of the same user that hold the secrets, for instance the shell that
started us, or a CI runner's own service; and for an agent that runs as root our memory. Against
these only a sandbox helps (bubblewrap gives an agent process numbers of its own).
"""

import os
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from healbot.errors import HealbotError

HANDED = "HEALBOT_ENVIRONMENT"
"""Names the descriptor that holds the environment, and the process that it is meant for."""
PROGRAM = "healbot"
PR_SET_DUMPABLE = 4
HARMLESS = frozenset(
    {
        "HOME",
        "LANG",
        "LANGUAGE",
        "LD_LIBRARY_PATH",
        "LOGNAME",
        "PATH",
        "PWD",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONHASHSEED",
        "PYTHONHOME",
        "PYTHONIOENCODING",
        "PYTHONNOUSERSITE",
        "PYTHONPATH",
        "PYTHONPYCACHEPREFIX",
        "PYTHONSAFEPATH",
        "PYTHONUNBUFFERED",
        "PYTHONUTF8",
        "PYTHONWARNINGS",
        "SHELL",
        "SHLVL",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "VIRTUAL_ENV",
        "_",
    }
)
"""What the new start keeps: what the interpreter and the libraries need before we can help."""
HARMLESS_PREFIX = "LC_"


def _harmless(name: str) -> bool:
    return name in HARMLESS or name.startswith(HARMLESS_PREFIX) or name == HANDED


@cache
def _handed_over() -> Mapping[str, str] | None:
    """Return what an earlier start of this very process left for us, or None; read once."""
    word = os.environ.pop(HANDED, "")
    fd, _, process = word.partition(":")
    if not fd.isdigit() or process != str(os.getpid()):
        return None
    try:
        with os.fdopen(int(fd), "rb") as file:
            file.seek(0)
            pairs = [pair.partition(b"=") for pair in file.read().split(b"\0") if pair]
    except OSError as error:
        raise HealbotError(
            f"the environment that was handed over can't be read: {error}",
            "Start the command again; if it happens again, report it.",
        ) from error
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def environment() -> Mapping[str, str]:
    """Return the whole environment that the user started us with."""
    handed = _handed_over()
    return dict(os.environ) if handed is None else handed


def shed() -> Mapping[str, str]:
    """Return the whole environment, from a process that was not started with it.

    Call it before a command that runs agents, checks or models, and before anything was begun: the
    first call starts the process anew (same process number, same arguments) and so does not
    return. Where the process is not healbot's own program (a test runner, a library's user), or
    there is nothing to keep from anyone, it only returns the environment.
    """
    handed = _handed_over()
    if handed is not None:
        _forbid_looking()
        return handed
    full = dict(os.environ)
    if os.name != "posix" or not own_program():
        return full
    if not all(_harmless(name) for name in full):
        _start_anew(full)
    _forbid_looking()
    return full


def own_program() -> bool:
    """Say whether this process is healbot's own: its console script, or ``python -m healbot``."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return str(spec.name).partition(".")[0] == PROGRAM
    file = getattr(main, "__file__", None)
    return file is not None and Path(file).stem == PROGRAM and len(sys.orig_argv) > 1


def _start_anew(full: Mapping[str, str]) -> None:
    fd = _nameless_file()
    content = b"\0".join(
        os.fsencode(name) + b"=" + os.fsencode(value) for name, value in full.items()
    )
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(content)
    os.set_inheritable(fd, True)
    kept = {name: value for name, value in full.items() if _harmless(name)}
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(  # noqa: S606 - ourselves, without a shell
        sys.executable,
        [sys.executable, *sys.orig_argv[1:]],
        {**kept, HANDED: f"{fd}:{os.getpid()}"},
    )


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create(PROGRAM)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _forbid_looking() -> None:
    """Forbid other processes of this user to read our memory and descriptors (Linux)."""
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - only commands that run agents pay for it

    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
