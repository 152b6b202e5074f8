"""A folder for as long as this process lives, and the sweeping of those whose process died.

Knows the file system and locks; a lock ends with its process however it ends, so no process number
is trusted.
"""

import fcntl
import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from healbot.runners import folders

ALIVE = "alive"
GUARD = ".lock"


@contextmanager
def locked(path: Path, operation: int) -> Iterator[None]:
    """Hold a lock file (``fcntl.LOCK_SH``, ``LOCK_EX`` …); between threads it counts as well.

    Raises:
        BlockingIOError: With ``LOCK_NB``, somebody else holds it.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, operation)
        yield
    finally:
        os.close(fd)


def _nothing() -> None:
    """Remove nothing: there is no folder yet."""


class Scratch:
    """One folder below ``parent``, made at the first use, removed when this object ends.

    That is by ``close``, or when nobody holds it any more, or at the process's ordinary end; after
    any other end by a later run.

    Its name is random and only its owner may enter it.
    """

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._fd = -1
        self._ending: Callable[[], object] = _nothing

    def folder(self) -> Path:
        """Return the folder; the first call sweeps what dead processes left."""
        with self._lock:
            if self._folder is None:
                folders.private(self._parent)
                with locked(self._parent / GUARD, fcntl.LOCK_EX):
                    self._sweep()
                    self._folder = Path(tempfile.mkdtemp(dir=self._parent))
                    alive = self._folder / ALIVE
                    self._fd = os.open(alive, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                    fcntl.flock(self._fd, fcntl.LOCK_EX)
                    self._ending = weakref.finalize(self, folders.remove, self._folder)
            return self._folder

    def _sweep(self) -> None:
        for place in self._parent.iterdir():
            if place.name == GUARD or not place.is_dir():
                continue
            try:
                with locked(place / ALIVE, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    folders.remove(place)
            except OSError:  # its owner lives, or it can't be entered: not ours to remove
                continue

    def close(self) -> None:
        """Remove the folder; a later use makes a new one."""
        with self._lock:
            if self._folder is not None:
                self._ending()
                os.close(self._fd)
                self._folder, self._fd = None, -1
