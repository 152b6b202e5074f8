"""What a person hears while a cycle runs: bars on a terminal, plain lines elsewhere, on stderr."""

import sys
import time
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

LINE_SECONDS = 15.0
"""In a pipe, how often a long phase says where it is."""


class PlainVoice:
    """``Voice`` as plain lines."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._name = ""
        self._done = 0
        self._said_at = 0.0

    def __enter__(self) -> "PlainVoice":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def phase(self, name: str, total: int) -> None:
        """A phase begins."""
        self._end()
        self._name, self._done, self._said_at = name, 0, time.monotonic()
        self._say(f"{name}: {total} runs" if total else name)

    def tick(self, name: str, outcome: str) -> None:
        """One run finished."""
        del name, outcome
        self._done += 1
        if time.monotonic() - self._said_at > LINE_SECONDS:
            self._said_at = time.monotonic()
            self._say(f"{self._name}: {self._done} runs done")

    def note(self, text: str) -> None:
        """Something worth a line."""
        self._say(text)

    def _end(self) -> None:
        if self._name and self._done:
            self._say(f"{self._name}: done, {self._done} runs")
        self._name, self._done = "", 0

    def _say(self, text: str) -> None:
        print(f"healbot: {text}", file=self._out, flush=True)


class BarVoice:
    """``Voice`` with a bar for each phase, on a terminal."""

    def __init__(self, out: TextIO) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[last]}"),
            console=Console(file=out),
            transient=False,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> "BarVoice":
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def phase(self, name: str, total: int) -> None:
        """A phase begins."""
        self._task = self._progress.add_task(name, total=total or None, last="")

    def tick(self, name: str, outcome: str) -> None:
        """One run finished."""
        if self._task is not None:
            self._progress.update(self._task, advance=1, last=f"{name} {outcome}")

    def note(self, text: str) -> None:
        """Something worth a line."""
        self._progress.console.print(text, highlight=False, markup=False)


def voice(out: TextIO | None = None) -> PlainVoice | BarVoice:
    """Return bars where stderr is a terminal, plain lines elsewhere."""
    stream = out or sys.stderr
    return BarVoice(stream) if stream.isatty() else PlainVoice(stream)
