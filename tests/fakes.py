"""One fake per port, for tests of the loop that need no program: an agent as a function, and time.

Knows the ports. The repository, the checks, the journal and the command line stay real.
"""

import contextlib
import io
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

from healbot.checks.table import Means, checks_of
from healbot.cycle.evaluate import Evaluator, Way
from healbot.cycle.reading import Ground
from healbot.entry import main
from healbot.entry.wiring import Shop
from healbot.ports import Journal, Voice
from healbot.records.case import Case
from healbot.records.harness import Harness
from healbot.records.run import Job, Trace, Usage
from healbot.records.settings import AgentSettings

START = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)


class FakeClock:
    """``Clock`` that stands still until it is told to go on."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at
        self.seconds = 0.0

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.seconds

    def pass_(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        self.seconds += seconds


class FakeVoice:
    """``Voice`` that keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def phase(self, name: str, total: int) -> None:
        self.told.append(f"phase {name} {total}")

    def tick(self, name: str, outcome: str) -> None:
        self.told.append(f"tick {name} {outcome}")

    def note(self, text: str) -> None:
        self.told.append(text)


class Said(NamedTuple):
    """What an agent as a function answers."""

    text: str
    skills_read: tuple[str, ...] | None = None
    usage: Usage = Usage()


Behaviour = Callable[[Mapping[str, str], str, float], Said]
"""The harness by path, the case's input, and a number in [0, 1) drawn from the run's seed."""


class FakeRunner:
    """``Runner`` whose agent is a function."""

    digest = "a" * 64

    def __init__(self, behave: Behaviour) -> None:
        self._behave = behave
        self.runs = 0

    def attempt(self, job: Job) -> Trace:
        self.runs += 1
        texts = {
            str(path.relative_to(job.folder)): path.read_text() for path in job.folder.rglob("*.md")
        }
        said = self._behave(texts, job.case.input or "", random.Random(job.seed).random())  # noqa: S311
        return Trace(
            root=job.root,
            folder=job.folder,
            ended="exited",
            exit_code=0,
            stdout=said.text,
            usage=said.usage,
            skills_read=said.skills_read,
        )


class FakeWorkspaces:
    """``Workspaces`` that hold the harness alone."""

    @contextlib.contextmanager
    def open(self, sha: str, harness: Harness, case: Case) -> Iterator[tuple[Path, Path]]:
        del sha, case
        with tempfile.TemporaryDirectory() as folder:
            for file in harness.files:
                path = Path(folder, file.path)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.content)
            yield Path(folder), Path(folder)


def support(texts: Mapping[str, str], task: str, draw: float) -> Said:
    """Behave as the sandbox's agent does: escalates refunds where its instructions say so."""
    if "refund" in task:
        return Said("I escalate this." if "escalate" in texts["instructions.md"] else "refunded")
    return Said("Hello, how can I help?")


def hire(patch: pytest.MonkeyPatch, behave: Behaviour = support) -> FakeRunner:
    """Let a function be the agent of every cycle until the patch is undone."""
    runner = FakeRunner(behave)

    def evaluator(
        shop: Shop,
        agent: AgentSettings,
        ground: Ground,
        voice: Voice,
        *,
        journal: Journal | None = None,
    ) -> Evaluator:
        means = Means(shop.processes, {"PATH": os.environ["PATH"]}, shop._sources())
        return Evaluator(
            dict.fromkeys(agent.ways, Way(runner, FakeWorkspaces())),
            checks_of=lambda case: checks_of(case, means),
            journal=journal or shop.journal,
            clock=shop.clock,
            voice=voice,
        )

    patch.setattr(Shop, "evaluator", evaluator)
    return runner


class Answer(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str


def door(*words: str, stdin: str = "", **environment: str) -> Answer:
    """Go through the command line's door in this process."""
    out, err = io.StringIO(), io.StringIO()
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    with (
        mock.patch.dict(os.environ, {**quiet, **environment}),
        mock.patch.object(sys, "argv", ["healbot", *words]),
        mock.patch.object(sys, "stdin", io.StringIO(stdin)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main.run()
    return Answer(int(code), out.getvalue(), err.getvalue())
