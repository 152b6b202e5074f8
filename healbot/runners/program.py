"""One attempt by starting a program in a prepared workspace: what every such way of running shares.

Knows homes, variables, changed files and the run report; not what is started, nor how the input
reaches it. Nothing of our own environment passes but a few harmless variables and those that the
settings name.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from healbot.ports import Command, Finished, Processes
from healbot.records.case import Case
from healbot.records.run import Ended, Job, Trace
from healbot.records.settings import RunSettings
from healbot.runners import changes, home, report
from healbot.runners.scratch import Scratch

SEED_NAME = "HEALBOT_SEED"
REPORT_NAME = "HEALBOT_RUN_REPORT"


class Fed(NamedTuple):
    """A program's words with its input in place."""

    argv: list[str]
    stdin: bytes = b""


class Means(NamedTuple):
    """What programs of an agent may use.

    Attributes:
        environment: The real variables; of these only harmless ones and the settings' ``env`` pass.
        temp: A folder for homes of runs; made where it is missing.
        hide: What the agent must not read, where a sandbox can hide it.
    """

    processes: Processes
    environment: Mapping[str, str]
    temp: Path
    hide: Sequence[Path] = ()


def text_of(case: Case) -> str | None:
    """Return a case's input as one text; None where it needs a simulated user.

    A conversation of given words only becomes its turns, a blank line between.
    """
    if case.input is not None:
        return case.input
    turns = [message.user for message in case.messages]
    given = [turn for turn in turns if turn is not None]
    return "\n\n".join(given) if len(given) == len(turns) else None


def messages_of(case: Case) -> list[dict[str, str]]:
    """Return the user's turns as chat messages (``role``, ``content``); an input is one turn."""
    turns = [case.input] if case.input is not None else [one.user for one in case.messages]
    return [{"role": "user", "content": turn} for turn in turns if turn is not None]


def unstarted(job: Job, why: str) -> Trace:
    """Return the trace of a run that was none: there is nothing to judge, and ``why``."""
    return Trace(root=job.root, folder=job.folder, ended="not-started", notes=(why,))


class Attempts:
    """Makes attempts by programs, each in a fresh home; safe to use from many threads."""

    def __init__(self, settings: RunSettings, means: Means) -> None:
        self._settings = settings
        self._means = means
        self._scratch = Scratch(means.temp)

    def make(
        self,
        job: Job,
        feed: Callable[[str, home.Home], Fed],
        seen: Callable[[home.Home], str | None] = lambda _: None,
    ) -> Trace:
        """Run a program once in the workspace; returns whatever it does.

        ``feed`` says what to start with the case's text; ``seen`` looks at the home afterwards, and
        what it says is why there was no run to judge (``not-started``, as where none could start).
        """
        text = text_of(job.case)
        if text is None:
            kind = self._settings.kind
            return unstarted(job, f"a {kind} agent can't converse with a simulated user")
        names = self._settings.env
        try:
            with home.fresh(self._scratch.folder(), self._means.environment, names) as place:
                trace = self._run(job, feed(text, place), place)
                why = seen(place)
                return unstarted(job, why) if why else trace
        except OSError as error:
            return unstarted(job, f"no home could be made for the run: {error}")

    def close(self) -> None:
        """Remove what this object still has on disk."""
        self._scratch.close()

    def _run(self, job: Job, fed: Fed, place: home.Home) -> Trace:
        before = changes.look(job.root)
        finished = self._means.processes.run(
            Command(
                argv=fed.argv,
                cwd=job.folder,
                env=_env(job, place),
                timeout_seconds=self._settings.timeout_seconds,
                stdin=fed.stdin,
                hide=(self._means.temp, *self._means.hide),
                keep=(job.root, place.place),
            )
        )
        changed, cut = changes.between(before, changes.look(job.root))
        notes = [f"only the first {changes.MAX_ADDED} added files are listed"] if cut else []
        return _trace(job, finished, changed=changed, notes=notes, seen=report.read(place.report))


def _env(job: Job, place: home.Home) -> dict[str, str]:
    return {
        **place.env,
        "GIT_CEILING_DIRECTORIES": str(job.root.parent),
        SEED_NAME: str(job.seed),
        REPORT_NAME: str(place.report),
    }


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
