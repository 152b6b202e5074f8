"""The observe store of this clone: sessions seen in use, redacted before they come here.

Knows files under one private folder, one a session by the SHA-256 of its id; nothing here leaves
the machine. A file is written whole or not at all, and one process at a time changes the store.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from healbot.errors import InputError
from healbot.records.observed import (
    UNKNOWN_REVISION,
    ObservedRun,
    Session,
    is_session_key,
    keyed,
    session_key,
)

GUARD = ".lock"
SHORTEST_PREFIX = 6
"""Fewer digits of a key name too many sessions."""


class Added(NamedTuple):
    """What an addition changed: digests of the steps, by what became of them.

    Attributes:
        new: Steps of sessions that were not here.
        extended: New steps of sessions that were.
        known: Steps that were here already.
    """

    new: tuple[ObservedRun, ...]
    extended: tuple[ObservedRun, ...]
    known: tuple[ObservedRun, ...]


class ObservedRuns:
    """Sessions in a folder, two levels deep by key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, runs: Iterable[ObservedRun]) -> Added:
        """Keep runs that are already redacted; the same ones again change nothing."""
        with self._alone():
            return self._add(runs)

    def _add(self, runs: Iterable[ObservedRun]) -> Added:
        new: list[ObservedRun] = []
        extended: list[ObservedRun] = []
        known: list[ObservedRun] = []
        for key, group in _by_session(runs).items():
            before = self.find(key)
            steps = {one.digest: one for one in (before.steps if before else ())}
            for run in group:
                if run.digest in steps:
                    known.append(run)
                    if steps[run.digest].revision == UNKNOWN_REVISION:  # dated by now, perhaps
                        steps[run.digest] = run
                else:
                    (extended if before else new).append(run)
                    steps[run.digest] = run
            ordered = sorted(steps.values(), key=lambda one: (one.at, one.digest))
            session = Session(key=key, steps=tuple(ordered))
            if session != before:
                self._write(session)
        return Added(tuple(new), tuple(extended), tuple(known))

    def find(self, key: str) -> Session | None:
        """Return a session by its key, or None; a damaged file counts as none."""
        return _read(self._at(key))

    def all(self) -> tuple[Session, ...]:
        """Return every session, newest last."""
        found = [session for path in self._paths() if (session := _read(path)) is not None]
        return tuple(sorted(found, key=lambda one: (one.last.at, one.key)))

    def named(self, name: str) -> Session | None:
        """Return a session by its id, its key, or the only one whose key begins so, or None.

        Raises:
            InputError: Several keys begin so.
        """
        for key in (session_key(name), name):
            found = self.find(key)
            if found:
                return found
        if len(name) < SHORTEST_PREFIX:
            return None
        near = [path for path in self._paths() if path.name.startswith(name)]
        if len(near) > 1:
            raise InputError(
                f"{name!r} begins the ids of {len(near)} sessions.", "Give more of it."
            )
        return _read(near[0]) if near else None

    def drop_before(self, instant: datetime) -> int:
        """Remove sessions whose newest step is older than an instant; returns how many."""
        with self._alone():
            old = [one.key for one in self.all() if one.last.at < instant]
            for key in old:
                self._at(key).unlink(missing_ok=True)
        return len(old)

    def erase(self, session: str | None) -> tuple[Session, ...]:
        """Remove one session, by id or key, or all (None); returns what was erased.

        Damaged files and what a crash left go as well.
        """
        with self._alone():
            return self._erase(session)

    def _erase(self, session: str | None) -> tuple[Session, ...]:
        if session is None:
            key, gone = None, self.all()
        else:
            found = self.named(session)
            key, gone = (found.key, (found,)) if found else (keyed(session), ())
        for path in self.files(key):
            path.unlink(missing_ok=True)
        return gone

    def files(self, key: str | None) -> tuple[Path, ...]:
        """Return what holds a session, by its key, or all; what a crash left of it counts."""
        if key is None:
            return tuple(path for path in sorted(self._folder.glob("*/*")) if path.is_file())
        rests = [one for one in self._folder.glob(f"{key[:2]}/.*") if key.encode() in _bytes(one)]
        return tuple(path for path in (self._at(key), *rests) if path.is_file())

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the store's lock, which ends with its process however that ends."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        guard = os.open(self._folder / GUARD, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(guard, fcntl.LOCK_EX)
            yield
        finally:
            os.close(guard)

    def _at(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def _paths(self) -> Iterator[Path]:
        return (path for path in sorted(self._folder.glob("??/*")) if is_session_key(path.name))

    def _write(self, session: Session) -> None:
        path = self._at(session.key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(session.model_dump_json().encode("utf-8", "surrogatepass"))
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)


def _by_session(runs: Iterable[ObservedRun]) -> dict[str, list[ObservedRun]]:
    groups: dict[str, list[ObservedRun]] = {}
    for run in runs:
        groups.setdefault(keyed(run.session), []).append(run)
    return groups


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _read(path: Path) -> Session | None:
    try:
        return Session.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None
