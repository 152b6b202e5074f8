"""Which runner stands behind which key of a ``run`` entry: the one explicit table."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from healbot.errors import InputError
from healbot.ports import Processes, Runner
from healbot.records.settings import AgentSettings, RunSettings
from healbot.runners.command import CommandRunner
from healbot.runners.http import HttpRunner
from healbot.runners.program import Means
from healbot.runners.python import PythonRunner

Maker = Callable[[RunSettings, AgentSettings, Means], Runner]

RUNNERS: Mapping[str, Maker] = {
    "command": lambda run, _, means: CommandRunner(run, **means._asdict()),
    "http": lambda run, agent, means: HttpRunner(run, agent, environment=means.environment),
    "python": lambda run, _, means: PythonRunner(run, means),
}


def runner_of(
    run: RunSettings,
    agent: AgentSettings,
    *,
    processes: Processes,
    environment: Mapping[str, str],
    temp: Path,
    hide: Sequence[Path] = (),
) -> Runner:
    """Return the runner of one way of running an agent; see ``Means`` for what it may use.

    Raises:
        InputError: This version has no such way, or its entry can't be used.
    """
    maker = RUNNERS.get(run.kind)
    if maker is None:
        raise InputError(
            f"The agent {agent.name!r} is run by {run.kind}, which this version does not have.",
            f"Give it run entries of {', '.join(sorted(RUNNERS))} for now.",
        )
    return maker(run, agent, Means(processes, environment, temp, hide))
