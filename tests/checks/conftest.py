"""What the tests of the checks share: a small real process port, runs and a judged commit."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from healbot.checks.table import Means
from healbot.ports import Command, Finished
from healbot.records.case import Case, CheckSpec
from healbot.records.run import Trace

FOLDER = "agents/support/cases"


class SmallProcesses:
    """Starts real programs; ends the whole group at the timeout."""

    def __init__(self) -> None:
        self.seen: list[Command] = []

    @property
    def sandboxed(self) -> bool:
        return False

    def run(self, command: Command) -> Finished:
        self.seen.append(command)
        began = time.monotonic()
        try:
            child = subprocess.Popen(
                command.argv,
                cwd=command.cwd,
                env=dict(command.env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return Finished("not-started", None, b"", b"", False, 0.0, str(error))
        try:
            out, err = child.communicate(command.stdin, timeout=command.timeout_seconds)
            ended = "exited"
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
            ended = "timed-out"
        took = time.monotonic() - began
        return Finished(ended, child.returncode, out, err, False, took)


@pytest.fixture
def processes() -> SmallProcesses:
    return SmallProcesses()


@pytest.fixture
def commit() -> dict[str, bytes]:
    """The judged commit: path from the root to bytes. A test fills it."""
    return {}


@pytest.fixture
def means(processes: SmallProcesses, commit: dict[str, bytes]) -> Means:
    def sources(folder: str) -> Mapping[str, bytes]:
        start = f"{folder}/" if folder else ""
        return {
            path.removeprefix(start): content
            for path, content in commit.items()
            if path.startswith(start)
        }

    here = str(Path(sys.executable).parent)
    return Means(processes, {"PATH": f"{here}:/usr/bin:/bin"}, sources)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace" / "agents" / "support"
    folder.mkdir(parents=True)
    return tmp_path / "workspace"


@pytest.fixture
def trace(workspace: Path) -> Callable[..., Trace]:
    def make(stdout: str = "", **rest: object) -> Trace:
        whole = {"ended": "exited", "exit_code": 0, **rest}
        folder = workspace / "agents" / "support"
        return Trace.model_validate(
            {"root": workspace, "folder": folder, "stdout": stdout, **whole}
        )

    return make


@pytest.fixture
def case() -> Callable[..., Case]:
    def make(*specs: dict[str, object], **rest: object) -> Case:
        checks = [CheckSpec.model_validate(spec) for spec in specs]
        return Case.model_validate(
            {"id": "refund", "input": "61.20", "checks": checks, "folder": FOLDER, **rest}
        )

    return make
