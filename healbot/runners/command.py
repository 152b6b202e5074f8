"""Running an agent that is any command line: input in, a Trace out.

Knows one way of running (``RunSettings.command``) and the workspace that it is given; it does not
know checks, revisions or splits. No shell, no git.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from healbot.errors import InputError
from healbot.ports import Processes
from healbot.records.record import digest_of
from healbot.records.run import Job, Trace
from healbot.records.settings import RunSettings
from healbot.runners import home
from healbot.runners.program import Attempts, Fed, Means

INPUT_MARK = "{input}"


def split(line: str) -> list[str]:
    """Split a command line into words, as a shell would without being one.

    Raises:
        InputError: It is empty, or a quote is not closed.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        words, why = [], f" ({error})"
    else:
        why = ""
    if not words:
        raise InputError(
            f"the command line {line!r} can't be split into words{why}",
            "Correct run.command or run.setup in the settings; quotes must be closed.",
        )
    return words


class CommandRunner:
    """The ``command`` way of running an agent; safe to use from many threads.

    Args:
        environment: The real variables; of these only harmless ones and ``settings.env`` pass.
        temp: A folder for homes of runs; made where it is missing.
        hide: What the agent must not read, where a sandbox can hide it.

    Raises:
        InputError: The settings' command line can't be split into words.
    """

    def __init__(
        self,
        settings: RunSettings,
        *,
        processes: Processes,
        environment: Mapping[str, str],
        temp: Path,
        hide: Sequence[Path] = (),
    ) -> None:
        self._settings = settings
        self._words = split(settings.command or "")
        self._attempts = Attempts(settings, Means(processes, environment, temp, hide))

    @cached_property
    def digest(self) -> str:
        """Names this way of running: command, input, setup, time limit, names of variables.

        Nothing of the machine is in it: no path, no value of a variable, no sandbox.
        """
        return digest_of(
            {
                "kind": "command",
                "command": self._settings.command,
                "input": self._settings.input,
                "env": sorted(set(self._settings.env)),
                "setup": self._settings.setup,
                "timeout_seconds": self._settings.timeout_seconds,
            }
        )

    def attempt(self, job: Job) -> Trace:
        """Run the agent once in its workspace; returns whatever the agent does.

        ``not-started`` (with the reason in ``notes``) where there was no run to judge.
        """
        return self._attempts.make(job, self._feed)

    def close(self) -> None:
        """Remove what this object still has on disk."""
        self._attempts.close()

    def _feed(self, text: str, place: home.Home) -> Fed:
        """Put the input where the settings want it: stdin, an argument, or a file's path."""
        data = text.encode("utf-8", "surrogatepass")
        if self._settings.input == "stdin":
            return Fed(self._words, data)
        if self._settings.input == "argument":
            return Fed(_placed(self._words, os.fsdecode(data)))
        file = place.place / "input.txt"
        file.write_bytes(data)
        return Fed(_placed(self._words, str(file)))


def _placed(words: list[str], value: str) -> list[str]:
    """Put a value in place of ``{input}`` (never the program itself), or at the end."""
    if any(INPUT_MARK in word for word in words[1:]):
        return [words[0], *(word.replace(INPUT_MARK, value) for word in words[1:])]
    return [*words, value]
