"""The harness: the texts under care, by path, as exact bytes; and the Revision that names them.

Knows no file system and no git. Paths are relative to the agent's folder, with forward slashes.
"""

from functools import cached_property

from pydantic import Field

from healbot.records.record import Record, digest_bytes


class HarnessFile(Record):
    """One text under care.

    Attributes:
        path: Relative to the agent's folder, for instance ``skills/refund/SKILL.md``.
        content: The file's exact bytes.
        skill: The skill's folder name, or None for the instructions file.
        read_only: Why no edit may touch it, or None where edits may.
        needs_person: True where an edit to it always waits for a person.
    """

    path: str
    content: bytes
    skill: str | None = None
    read_only: str | None = None
    needs_person: bool = False

    @property
    def text(self) -> str:
        """The content as text; bytes that are no UTF-8 survive a round trip as surrogates."""
        return self.content.decode("utf-8", "surrogateescape")


class Harness(Record):
    """Exactly the texts that an edit could touch, sorted by path."""

    files: tuple[HarnessFile, ...] = Field(default=())

    @cached_property
    def revision(self) -> str:
        """The Revision: a content hash over paths and bytes, 64 hexadecimal digits."""
        parts = []
        for file in sorted(self.files, key=lambda one: one.path):
            name = file.path.encode("utf-8", "surrogateescape")
            parts.append(b"%d:%s%d:" % (len(name), name, len(file.content)) + file.content)
        return digest_bytes(b"".join(parts))

    def get(self, path: str) -> HarnessFile | None:
        """Return the file at a path, or None."""
        return next((file for file in self.files if file.path == path), None)

    def replace(self, path: str, content: bytes) -> "Harness":
        """Return the harness with one existing file's bytes exchanged."""
        files = tuple(
            file.model_copy(update={"content": content}) if file.path == path else file
            for file in self.files
        )
        return Harness(files=files)
