"""Running an agent that is any command line: input in, a Trace out.

Knows one way of running (``RunSettings.command``) and the workspace that it is given; it does not
know checks, revisions or splits. No shell, no git, and nothing of our own environment but a few
harmless variables and those that the settings name.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, cast

from healbot.errors import InputError
from healbot.ports import Command, Finished, Processes
from healbot.records.case import Case
from healbot.records.record import digest_of
from healbot.records.run import Ended, Job, Trace
from healbot.records.settings import RunSettings
from healbot.runners import changes, home, report
from healbot.runners.scratch import Scratch

INPUT_MARK = "{input}"
SEED_NAME = "HEALBOT_SEED"
REPORT_NAME = "HEALBOT_RUN_REPORT"


class _Fed(NamedTuple):
    """A command with its input in place."""

    argv: list[str]
    stdin: bytes = b""


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


def text_of(case: Case) -> str | None:
    """Return a case's input as one text; None where it needs a simulated user.

    A conversation of given words only becomes its turns, a blank line between.
    """
    if case.input is not None:
        return case.input
    turns = [message.user for message in case.messages]
    given = [turn for turn in turns if turn is not None]
    return "\n\n".join(given) if len(given) == len(turns) else None


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
        self._processes = processes
        self._environment = environment
        self._scratch = Scratch(temp)
        self._hide = (temp, *hide)

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
        text = text_of(job.case)
        if text is None:
            return _unstarted(job, "a command can't converse with a simulated user")
        try:
            with home.fresh(self._scratch.folder(), self._environment, self._settings.env) as place:
                return self._attempt(job, text, place)
        except OSError as error:
            return _unstarted(job, f"no home could be made for the run: {error}")

    def close(self) -> None:
        """Remove what this object still has on disk."""
        self._scratch.close()

    def _attempt(self, job: Job, text: str, place: home.Home) -> Trace:
        fed = self._feed(text.encode("utf-8", "surrogatepass"), place)
        before = changes.look(job.root)
        finished = self._processes.run(
            Command(
                argv=fed.argv,
                cwd=job.folder,
                env=self._env(job, place),
                timeout_seconds=self._settings.timeout_seconds,
                stdin=fed.stdin,
                hide=self._hide,
                keep=(job.root, place.place),
            )
        )
        changed, cut = changes.between(before, changes.look(job.root))
        notes = [f"only the first {changes.MAX_ADDED} added files are listed"] if cut else []
        return _trace(job, finished, changed=changed, notes=notes, seen=report.read(place.report))

    def _env(self, job: Job, place: home.Home) -> dict[str, str]:
        return {
            **place.env,
            "GIT_CEILING_DIRECTORIES": str(job.root.parent),
            SEED_NAME: str(job.seed),
            REPORT_NAME: str(place.report),
        }

    def _feed(self, data: bytes, place: home.Home) -> _Fed:
        """Put the input where the settings want it: stdin, an argument, or a file's path."""
        if self._settings.input == "stdin":
            return _Fed(self._words, data)
        if self._settings.input == "argument":
            return _Fed(_placed(self._words, os.fsdecode(data)))
        file = place.place / "input.txt"
        file.write_bytes(data)
        return _Fed(_placed(self._words, str(file)))


def _placed(words: list[str], value: str) -> list[str]:
    """Put a value in place of ``{input}`` (never the program itself), or at the end."""
    if any(INPUT_MARK in word for word in words[1:]):
        return [words[0], *(word.replace(INPUT_MARK, value) for word in words[1:])]
    return [*words, value]


def _unstarted(job: Job, why: str) -> Trace:
    return Trace(root=job.root, folder=job.folder, ended="not-started", notes=(why,))


def _trace(
    job: Job,
    finished: Finished,
    *,
    changed: tuple[str, ...],
    notes: list[str],
    seen: report.Report,
) -> Trace:
    why = [finished.why] if finished.why else []
    return Trace(
        root=job.root,
        folder=job.folder,
        ended=cast("Ended", finished.ended),
        exit_code=finished.exit_code,
        stdout=finished.stdout.decode("utf-8", "replace"),
        stderr=finished.stderr.decode("utf-8", "replace"),
        truncated=finished.truncated,
        duration_seconds=finished.duration_seconds,
        changed=changed,
        usage=seen.usage,
        tool_calls=seen.tool_calls,
        skills_read=seen.skills_read,
        rules_read=seen.rules_read,
        notes=(*why, *notes, *seen.notes),
    )
