"""Putting files into, and looking at, a workspace that an agent has touched.

Knows file descriptors. The workspace is hostile: no link in it is ever followed, a file is replaced
and never written through, and a read is bounded.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from healbot.checks.sources import mode_of

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OWNER_ALL = 0o700


class ObstacleError(Exception):
    """Something that is no plain folder or file stands where a file belongs; its text is where."""


def place(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a root, replacing what is there.

    Raises:
        ObstacleError: A link or a file stands where a folder belongs, or a folder where a file
            belongs.
    """
    for path, content in sorted(files.items()):
        *folders, name = path.split("/")
        with _descended(root, folders) as folder:
            _clear(folder, name, path)
            handle = os.open(name, _NEW, mode_of(content), dir_fd=folder)
            with os.fdopen(handle, "wb") as file:
                file.write(content)


def peek(root: Path, path: str, limit: int) -> bytes:
    """Return the first bytes of a plain file below a root; empty where there is none."""
    *folders, name = path.split("/")
    try:
        with _descended(root, folders, make=False) as folder:
            handle = os.open(name, _READ, dir_fd=folder)
            with os.fdopen(handle, "rb") as file:
                plain = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
                return file.read(limit) if plain else b""
    except (OSError, ObstacleError):
        return b""


@contextmanager
def _descended(root: Path, folders: list[str], *, make: bool = True) -> Iterator[int]:
    """Give the descriptor of a folder below a root, folder by folder, following no link."""
    current = os.open(root, _FOLDER)
    try:
        for depth, name in enumerate(folders):
            if make:
                _make(current, name, "/".join(folders[: depth + 1]))
            below = os.open(name, _FOLDER, dir_fd=current)
            os.close(current)
            current = below
        if make:
            os.fchmod(current, stat.S_IMODE(os.fstat(current).st_mode) | _OWNER_ALL)
        yield current
    finally:
        os.close(current)


def _make(parent: int, name: str, where: str) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
    except FileExistsError:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        if not stat.S_ISDIR(mode):
            raise ObstacleError(where) from None
        if mode & _OWNER_ALL != _OWNER_ALL:
            os.chmod(name, stat.S_IMODE(mode) | _OWNER_ALL, dir_fd=parent)


def _clear(folder: int, name: str, where: str) -> None:
    """Remove what stands in a file's place; a link goes, what it points to stays."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise ObstacleError(where)
    os.unlink(name, dir_fd=folder)
