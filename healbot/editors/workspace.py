"""The files that a model edits: texts in memory, and the changes to them, each checked at once.

Knows a harness and hunks; no file, shell or network is within its reach.
"""

from collections.abc import Mapping

from pydantic import ValidationError

from healbot.records.edit import Edit, Hunk
from healbot.records.harness import Harness
from healbot.records.verdict import Reason
from healbot.rules.edits import attempt

OUTSIDE = frozenset({"outside", "read-only"})
"""Rules that an edit breaks which reaches for what it may not touch."""


class Workspace:
    """A harness under edit; what it gives at the end is one Edit of the harness it began with."""

    def __init__(self, harness: Harness) -> None:
        self._start = harness
        self._hunks: tuple[Hunk, ...] = ()
        self._now = harness

    @property
    def edit(self) -> Edit | None:
        """All changes so far, or None where nothing differs."""
        return Edit(hunks=self._hunks) if self._now.files != self._start.files else None

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that there are."""
        return tuple(file.path for file in self._start.files)

    def read(self, path: str) -> str | None:
        """Return a file's text as it stands now, or None where there is no such file."""
        file = self._now.get(path)
        return None if file is None else file.text

    def change(self, fields: Mapping[str, object]) -> Reason | None:
        """Make one change; returns why not, and then nothing was changed.

        The reason's rule is ``shape`` (no change can be read from the fields), ``outside``,
        ``read-only``, ``anchor``, ``empty`` or ``no-change``.
        """
        try:
            hunk = Hunk.model_validate(fields)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            told = f"{where}: {first['msg']}" if where else first["msg"]
            return Reason(rule="shape", text=told)
        return self._out_of_reach(hunk.path) or self._apply(hunk)

    def reset(self) -> None:
        """Take every change back."""
        self._hunks, self._now = (), self._start

    def _out_of_reach(self, path: str) -> Reason | None:
        file = self._start.get(path)
        if file is None:
            there = ", ".join(self.paths)
            return Reason(rule="outside", text=f"there is no file {path!r}; there are {there}")
        if file.read_only is not None:
            return Reason(rule="read-only", text=f"{path} may not be edited: {file.read_only}")
        return None

    def _apply(self, hunk: Hunk) -> Reason | None:
        outcome = attempt(self._now, Edit(hunks=(hunk,)))
        if isinstance(outcome, Reason):
            return outcome
        self._now = outcome.harness
        self._hunks = (*self._hunks, hunk)
        return None
