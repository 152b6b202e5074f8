"""The journal of this clone: finished runs by content address, and edits by digest.

Knows files under one private folder; nothing here leaves the machine. A run is written whole or
not at all, and the first record of a run stays: so a crash costs only the runs in flight. Once
settled, a run lies redacted in a folder of its own.
"""

import os
import tempfile
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from healbot.records.record import digest_bytes
from healbot.records.run import Run, RunKey
from healbot.rules.settling import settled


class FileJournal:
    """``Journal`` in a folder, two levels deep by digest."""

    def __init__(self, folder: Path) -> None:
        self._runs = folder / "runs"
        self._settled = folder / "settled"
        self._content = folder / "content"
        self._begun = folder / "begun"

    def find(self, key: RunKey) -> Run | None:
        """Return a finished run, or None; a damaged record counts as none."""
        places = (self._at(folder, key.digest) for folder in (self._runs, self._settled))
        found = (run for place in places if (run := _read(place)) is not None)
        return next((run for run in found if run.key == key), None)

    def lost(self, key: RunKey) -> int:
        """Return how many starts of a run a crash cut off, whether or not it finished since."""
        places = (self._at(folder, key.digest) for folder in (self._runs, self._settled))
        finished = any(place.exists() for place in places)
        return max(0, self._starts(key) - finished)

    def _starts(self, key: RunKey) -> int:
        try:
            return self._at(self._begun, key.digest).stat().st_size
        except OSError:
            return 0

    def begin(self, key: RunKey) -> None:
        """Note that a run starts."""
        path = self._at(self._begun, key.digest)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(b".")

    def put(self, run: Run) -> None:
        """Keep a finished run; the first whole one kept stays."""
        path = self._at(self._runs, run.key.digest)
        if not self._at(self._settled, run.key.digest).exists():
            self._write(path, run.model_dump_json().encode(), whole=lambda: self.find(run.key))
        if self._starts(run.key) <= 1:  # else what was cut off before is still to be told
            self._at(self._begun, run.key.digest).unlink(missing_ok=True)

    def settle(self, is_done: Callable[[RunKey], bool]) -> int:
        """Put redacted records in the place of those that are done with; returns how many.

        The redacted one is there before the other goes, so a crash costs no run.
        """
        count = 0
        for path in self._runs.glob("??/*"):
            run, kept_at = _read(path), _kept_at(path)
            if run and kept_at is not None and is_done(run.key):
                place = self._at(self._settled, run.key.digest)
                content = settled(run).model_dump_json().encode()
                self._write(place, content, whole=partial(_read, place), kept_at=kept_at)
                path.unlink(missing_ok=True)
                count += 1
        return count

    def drop_before(self, instant: datetime) -> int:
        """Remove runs that were kept before an instant; returns how many."""
        limit = instant.timestamp()
        places = (path for one in (self._runs, self._settled) for path in one.glob("??/*"))
        old = [path for path in places if (at := _kept_at(path)) is not None and at < limit]
        for path in old:
            path.unlink(missing_ok=True)
            self._at(self._begun, path.name).unlink(missing_ok=True)
        return len(old)

    def load(self, digest: str) -> bytes | None:
        """Return content kept by its SHA-256, or None."""
        try:
            content = self._at(self._content, digest).read_bytes()
        except OSError:
            return None
        return content if digest_bytes(content) == digest else None

    def save(self, content: bytes) -> str:
        """Keep content; returns its SHA-256."""
        digest = digest_bytes(content)
        path = self._at(self._content, digest)
        self._write(path, content, whole=lambda: self.load(digest) is not None)
        return digest

    @staticmethod
    def _at(folder: Path, digest: str) -> Path:
        return folder / digest[:2] / digest

    @staticmethod
    def _write(
        path: Path, content: bytes, *, whole: Callable[[], object], kept_at: float | None = None
    ) -> None:
        """Write a file at once; what is there already stays, where it is whole."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            if kept_at is not None:
                os.utime(name, (kept_at, kept_at))
            # A hard link, unlike a rename, never replaces what is there.
            try:
                os.link(name, path)
            except FileExistsError:
                if not whole():
                    Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)


def _read(path: Path) -> Run | None:
    try:
        return Run.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def _kept_at(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:  # another cycle of this clone tidies as well
        return None
