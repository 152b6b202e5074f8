"""The journal of this clone: finished runs by content address, and edits by digest.

Knows files under one private folder; nothing here leaves the machine. A run is written whole or
not at all, and the first record of a run stays: so a crash costs only the runs in flight.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from healbot.records.record import digest_bytes
from healbot.records.run import Run, RunKey


class FileJournal:
    """``Journal`` in a folder, two levels deep by digest."""

    def __init__(self, folder: Path) -> None:
        self._runs = folder / "runs"
        self._content = folder / "content"
        self._begun = folder / "begun"

    def find(self, key: RunKey) -> Run | None:
        """Return a finished run, or None; a damaged record counts as none."""
        try:
            run = Run.model_validate_json(self._at(self._runs, key.digest).read_bytes())
        except (OSError, ValueError):
            return None
        return run if run.key == key else None

    def lost(self, key: RunKey) -> int:
        """Return how many starts of a run a crash cut off, whether or not it finished since."""
        finished = self._at(self._runs, key.digest).exists()
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
        self._write(path, run.model_dump_json().encode(), whole=lambda: self.find(run.key))
        if self._starts(run.key) <= 1:  # else what was cut off before is still to be told
            self._at(self._begun, run.key.digest).unlink(missing_ok=True)

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
    def _write(path: Path, content: bytes, whole: Callable[[], object]) -> None:
        """Write a file at once; what is there already stays, where it is whole."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            # A hard link, unlike a rename, never replaces what is there.
            try:
                os.link(name, path)
            except FileExistsError:
                if not whole():
                    Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
