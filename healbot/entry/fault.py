"""What is shown of a fault of ours: enough to find it, and nothing that belongs to the user.

Knows tracebacks. Messages of exceptions and source lines are left out, since they may quote a file,
a variable or a prompt; places are named from the package, never from the machine's root.
"""

import platform
import traceback
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from healbot import __version__

SHOWN_FRAMES = 12
SHOWN_CAUSES = 4
OURS = "healbot"
_LIBRARIES = frozenset({"site-packages", "dist-packages"})


def block(error: BaseException, argv: Sequence[str]) -> str:
    """Return the block to paste, fenced; ``argv`` gives the command's words, options left out."""
    versions = f"healbot {__version__}, Python {platform.python_version()}, {platform.system()}"
    first = f"{versions}, command {' '.join(_command(argv)) or '-'}"
    return "\n".join(["```", first, *(line for one in _causes(error) for line in _of(one)), "```"])


def _command(argv: Sequence[str]) -> Iterator[str]:
    """Yield the leading words that name a command; an argument of the user's is none."""
    from healbot.entry.cli import names  # noqa: PLC0415 - a fault in it must not hide this one

    known = names()
    for word in argv[1:3]:
        if word not in known:
            return
        yield word


def _causes(error: BaseException) -> list[BaseException]:
    """Return the chain of causes, the last thing that happened first."""
    chain: list[BaseException] = []
    here: BaseException | None = error
    while here is not None and here not in chain and len(chain) < SHOWN_CAUSES:
        chain.append(here)
        here = here.__cause__ or (None if here.__suppress_context__ else here.__context__)
    return chain


def _of(error: BaseException) -> Iterator[str]:
    kind = type(error)
    yield f"{kind.__module__}.{kind.__qualname__}"
    for frame in traceback.extract_tb(error.__traceback__)[-SHOWN_FRAMES:]:
        yield f"  {_place(frame.filename)}:{frame.lineno} in {frame.name}"


def _place(path: str) -> str:
    """Name a file from the package or library that it belongs to."""
    parts = PurePath(path).parts
    for at in range(len(parts) - 1, -1, -1):
        if parts[at] in _LIBRARIES:
            return "/".join(parts[at + 1 :])
    if OURS in parts:
        last = len(parts) - 1 - parts[::-1].index(OURS)
        return "/".join(parts[last:])
    return parts[-1] if parts else "-"
