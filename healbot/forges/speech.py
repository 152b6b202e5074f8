"""What git is told with every command, and how its answers and complaints are read.

Knows git's words; starts no program and opens no repository.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from healbot.errors import InputError
from healbot.ports import CommitInfo, TreeFile

LOCK_MILLISECONDS = 5_000
"""How long git waits for another git's lock on a ref."""
SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "commit.gpgSign=false",
    "gc.auto=0",
    # Somebody else's git may hold a lock for a moment: wait for it rather than fail.
    f"core.filesRefLockTimeout={LOCK_MILLISECONDS}",
    f"core.packedRefsTimeout={LOCK_MILLISECONDS}",
    # What else a configuration may start, or open: it has no part in what we ask.
    "maintenance.auto=false",
    "core.fsmonitor=false",
    "log.showSignature=false",
    "push.gpgSign=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
)
OPTIONS = ("--literal-pathspecs", *(word for one in SETTINGS for word in ("-c", one)))
REMOTE_NEEDS = re.compile(r"GIT_(SSH|ASKPASS|CONFIG|SSL|PROXY|HTTP)|SSH_|\w+_proxy$", re.IGNORECASE)
RACE = re.compile(r"is at \S+ but expected|already exists|unable to resolve|reference .* exists")
RACE_FETCH = re.compile(r"cannot lock ref|is at \S+ but expected|\.lock'")
RACE_PUSH = re.compile(
    r"stale info|fetch first|cannot lock ref|failed to update ref|already exists"
)


def log(sha: str, paths: Sequence[str], limit: int, *, first_parent: bool) -> tuple[str, ...]:
    """Return the words that ask for a log which ``commit`` reads, record by record."""
    form = "--format=%H%x1f%P%x1f%an%x1f%ct%x1f%B"
    line = ("--first-parent",) if first_parent else ()
    return ("log", "-z", f"-{limit}", form, *line, sha, "--", *paths)


def tree(listed: bytes) -> dict[str, TreeFile]:
    """Read git's listing of a tree."""
    files = {}
    for record in listed.split(b"\0"):
        if record:
            meta, path = record.split(b"\t", 1)
            mode, _, blob = meta.decode().split(" ")
            files[path.decode("utf-8", "surrogateescape")] = TreeFile(mode, blob)
    return files


def commit(record: str) -> CommitInfo:
    """Read one record of a log: id, parents, author, seconds, message."""
    sha, parents, author, seconds, message = record.lstrip("\n").split("\x1f", 4)
    at = datetime.fromtimestamp(int(seconds), UTC)
    return CommitInfo(sha, tuple(parents.split()), message, author, at)


def records(lines: Sequence[str]) -> bytes:
    """Write lines as git reads them from a pipe, each closed by a zero byte."""
    return b"".join(line.encode("utf-8", "surrogateescape") + b"\0" for line in lines)


def raw(value: object) -> bytes:
    """Return what git answered as bytes, however the library hands it over."""
    return value if isinstance(value, bytes) else str(value or "").encode()


def last(text: str) -> str:
    """Return the line of git's complaint that says why."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))]
    return (fatal or lines)[-1 if not fatal else 0][:300] if lines else "no reason given"


@contextmanager
def whole(name: str) -> Iterator[None]:
    """Read an object that should be there; InputError where it can't be read to its end."""
    try:
        yield
    except (ValueError, OSError, EOFError) as error:
        raise InputError(
            f"The git object {name} is missing or damaged: this repository is not whole.",
            "Run git fsck to see what is gone, and fetch it again from another clone.",
        ) from error


def branch(out: bytes) -> str:
    """Return a branch's name.

    Raises:
        InputError: It is not UTF-8, so no record can hold it.
    """
    try:
        return out.decode().strip()
    except UnicodeDecodeError:
        raise InputError(
            "The checked-out branch has a name that is not UTF-8.",
            "Rename it with git branch -m, or check out another one.",
        ) from None
