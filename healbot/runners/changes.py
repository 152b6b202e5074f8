"""What changed in a folder between two looks, found by our own walk.

Knows names, sizes and times; opens no file, follows no symlink, runs no git (its configuration in a
folder that an agent touched could start programs).
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

MAX_ADDED = 10_000
"""How many added paths are listed; changed and removed ones always are."""

_Mark = tuple[int, ...] | str


class Look(NamedTuple):
    """A folder at one moment.

    Attributes:
        marks: Each file's identity by its path (bytes as the system has them, ``/`` between).
        closed: Folders that could not be read.
    """

    marks: Mapping[str, _Mark]
    closed: frozenset[str]


def _mark(entry: os.DirEntry[str]) -> _Mark:
    seen = entry.stat(follow_symlinks=False)
    if stat.S_ISLNK(seen.st_mode):
        return os.readlink(entry.path)  # noqa: PTH115 - a string, in the hot path
    return (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_mode)


def look(root: Path) -> Look:
    """Walk a folder; whatever it has become, this returns."""
    marks: dict[str, _Mark] = {}
    closed: set[str] = set()
    waiting = [""]
    if root.is_symlink():  # somebody put another folder in its place
        return Look(marks, frozenset(waiting))
    while waiting:
        below = waiting.pop()
        try:
            _read_folder(root, below, marks=marks, waiting=waiting)
        except OSError:
            closed.add(below.rstrip("/"))
    return Look(marks, frozenset(closed))


def _read_folder(root: Path, below: str, *, marks: dict[str, _Mark], waiting: list[str]) -> None:
    with os.scandir(f"{root}/{below}") as entries:
        for entry in entries:
            path = below + entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path + "/")
            else:
                marks[path] = _mark(entry)


def _inside(path: str, folders: frozenset[str]) -> bool:
    return any(folder == "" or path.startswith(folder + "/") for folder in folders)


def readable(path: str) -> str:
    """Return a path as text that can be stored: bytes that are no UTF-8 become escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def between(before: Look, after: Look) -> tuple[tuple[str, ...], bool]:
    """Return paths that were added, changed or removed, sorted, and whether the list was cut.

    What lies in a folder that can no longer be read counts as changed, the folder itself too: we
    could not tell, and a protected path must not hide there. Added paths are cut after
    ``MAX_ADDED``, the shallowest kept.
    """
    touched = {
        path
        for path, mark in before.marks.items()
        if after.marks.get(path) != mark or _inside(path, after.closed)
    }
    touched |= {path for path in after.closed - before.closed if path}
    added = sorted(
        after.marks.keys() - before.marks.keys(), key=lambda path: (path.count("/"), path)
    )
    paths = touched.union(added[:MAX_ADDED])
    return tuple(sorted(map(readable, paths))), len(added) > MAX_ADDED
