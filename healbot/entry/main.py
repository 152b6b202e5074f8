"""The door: fast answers without heavy imports, and the one handler of errors.

An expected error prints what happened and the next step, and has its own exit code; an unexpected
one prints a block to paste into an issue.
"""

import io
import os
import platform
import sys
import traceback

from healbot import __version__
from healbot.errors import Exit, HealbotError


def main() -> None:
    """Run the command line and exit."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"healbot {__version__}")
        return
    sys.exit(run())


def run() -> int:
    """Run the command line; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a poor terminal is no fault of ours
    from healbot.entry.cli import run_app  # noqa: PLC0415 - heavy; --version must not pay for it

    try:
        return run_app()
    except HealbotError as error:
        _say(error.what, error.next_step)
        return error.exit_code
    except KeyboardInterrupt:
        _say("Interrupted.", "Everything finished is kept; run the same command to go on.")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except OSError as error:
        _say(f"The system refused: {error}", "Mend that, then run the same command to go on.")
        return Exit.INPUT
    except Exception:  # noqa: BLE001 - the one handler of last resort
        _fault()
        return Exit.FAULT


def _say(what: str, next_step: str) -> None:
    print(f"healbot: {what}", file=sys.stderr)
    if next_step:
        print(f"  next: {next_step}", file=sys.stderr)


def _fault() -> None:
    print(
        "healbot: this is a fault of ours. Please paste the block below into an issue; it holds no "
        "file content.\n```",
        file=sys.stderr,
    )
    print(
        f"healbot {__version__}, Python {platform.python_version()}, {platform.system()}, "
        f"command {sys.argv[1:2]}",
        file=sys.stderr,
    )
    traceback.print_exc(limit=-12)
    print("```", file=sys.stderr)


if __name__ == "__main__":
    main()
