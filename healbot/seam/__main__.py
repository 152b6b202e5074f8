"""``python -m healbot.seam``: the door that needs nothing but Python's standard library.

It alone in this folder touches files and the terminal, and hands them to the command.
"""

import contextlib
import io
import os
import sys
import traceback
from pathlib import Path
from typing import BinaryIO

from healbot.seam.command import UNUSABLE, Door, run

INTERRUPTED, FAULT = 130, 70


def opened(path: str) -> BinaryIO:
    """Open a file for reading, seekable: standard input and pipes are read whole first."""
    if path == "-":
        return io.BytesIO(sys.stdin.buffer.read())
    file = Path(path).open("rb")  # noqa: SIM115 - the command closes it
    if file.seekable():
        return file
    with file:
        return io.BytesIO(file.read())


def saved(path: str, text: str) -> None:
    """Write a file as a whole or not at all."""
    target = Path(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        with draft.open("xb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def door(today: str = "") -> Door:
    """Return this machine's door; ``today`` is for whoever has a clock."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return Door(opened, saved, sys.stdout.write, sys.stderr.write, today)


def main() -> int:
    """Run the words of the command line; returns the exit code."""
    code = FAULT
    try:
        code = run(sys.argv[1:], door(), prog="python -m healbot.seam")
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        sys.stderr.writelines([f"seam: the system refused: {error}\n"])
        return UNUSABLE
    except Exception:  # noqa: BLE001 - a crash must not look like an alert
        traceback.print_exc()
    return code


if __name__ == "__main__":
    sys.exit(main())
