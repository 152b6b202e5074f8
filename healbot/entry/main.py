"""The door: fast answers without heavy imports, and the one handler of errors.

An expected error prints what happened and the next step, and has its own exit code; an unexpected
one prints a block to paste into an issue.
"""

import errno
import io
import os
import sys

from healbot import __version__
from healbot.errors import Exit, HealbotError

CUT_OFF = 141
"""Whoever read our output went away: what a shell says of a program that SIGPIPE ended."""
INTERRUPTED = 130
COMPLETING = "_HEALBOT_COMPLETE"
"""Set by a shell that asks for completions; a new start would drop it."""
ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
NO_GIT = "git executable"
"""What GitPython says, as an import error, where there is no git."""


def main() -> None:
    """Run the command line and exit."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"healbot {__version__}")
        return
    _fill_streams()
    _speak_utf8()
    if not (COMPLETING in os.environ or "--help" in sys.argv):
        from healbot.entry.environment import shed  # noqa: PLC0415 - --version needs none of it

        shed()  # it may start us anew: before the heavy imports, which would be paid for twice
    code = run()
    try:
        sys.stdout.flush()
    except OSError as error:  # a full disk, or a reader that went away
        code = _refused(error)
    sys.exit(code)


def run() -> int:
    """Run the command line; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a poor terminal is no fault of ours
    try:
        from healbot.entry.cli import run_app  # noqa: PLC0415 - heavy; --version needs none of it

        return run_app()
    except HealbotError as error:
        _say(error.what, error.next_step)
        return error.exit_code
    except KeyboardInterrupt:
        _say("Interrupted.", "Everything finished is kept; run the same command to go on.")
        return INTERRUPTED
    except OSError as error:
        return _refused(error)
    except Exception as error:  # noqa: BLE001 - the one handler of last resort
        return _fault(error)


def _fill_streams() -> None:
    """Open what somebody closed before they started us, so that no file of ours takes its place."""
    for number, mode in enumerate(("r", "w", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number is this one
            os.set_inheritable(number, True)
        if (sys.stdin, sys.stdout, sys.stderr)[number] is None:
            stream = os.fdopen(number, mode, encoding="utf-8", closefd=False)
            setattr(sys, ("stdin", "stdout", "stderr")[number], stream)


def _speak_utf8() -> None:
    """Start anew where the locale could not name every file: git's paths are UTF-8."""
    if os.name == "posix" and sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode:
        words = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
        os.execv(sys.executable, words)  # noqa: S606 - ourselves, without a shell


def _refused(error: OSError) -> int:
    """Say what the system refused; returns the exit code."""
    if error.errno == errno.EPIPE:
        _drop_output()
        return CUT_OFF
    if error.errno in ROOM:
        _drop_output()
    where = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, str | bytes) else ""
    said = error.strerror or type(error).__name__
    room = "Make room on the disk" if error.errno in ROOM else "Mend that"
    _say(
        f"The system refused{where} ({said}).",
        f"{room}, then run the same command: it goes on from what is kept.",
    )
    return Exit.INPUT


def _drop_output() -> None:
    """Let what is left in the buffer go nowhere, so that the interpreter's end is quiet."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):  # no real stream: nothing is flushed at the end
        return
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, number)
    os.close(sink)


def _say(what: str, next_step: str) -> None:
    from healbot.views.plain import cleaned  # noqa: PLC0415 - most commands never need it

    said = cleaned(what).rstrip()
    stop = "" if said.endswith((".", "?", "!")) or "\n" in said else "."
    print(f"healbot: {said}{stop}", file=sys.stderr)
    if next_step:
        print(f"  next: {cleaned(next_step)}", file=sys.stderr)


def _fault(error: BaseException) -> int:
    """Print what a person may paste into an issue; returns the exit code."""
    if isinstance(error, ImportError) and NO_GIT in str(error):
        _say("There is no git on PATH.", "Install git 2.38 or later, or add its folder to PATH.")
        return Exit.INPUT
    from healbot.entry.fault import block  # noqa: PLC0415 - hopefully never needed

    print(
        f"healbot: this is a fault of ours ({type(error).__name__}: {error}).\n"
        "  next: Paste the block below into an issue; it holds no content of files, no values of "
        f"variables and no paths of yours.\n{block(error, sys.argv)}",
        file=sys.stderr,
    )
    return Exit.FAULT


if __name__ == "__main__":
    main()
