"""A check that is a program: exit code 0 passes, 1 fails, anything else can't score.

Knows the process port. The program and its files come from the judged commit, from the folder of
the case's file, copied to a folder outside the workspace in which it runs; nothing that the agent
left is executed. What the agent left it may look at:

- standard input and the file named by HEALBOT_OUTPUT: the agent's stdout;
- HEALBOT_WORKSPACE and HEALBOT_FOLDER: the workspace's root and the agent's folder in it;
- the file named by HEALBOT_CHANGED: the changed paths from the root, a JSON list;
- HEALBOT_EXIT_CODE and HEALBOT_CASE: the agent's exit code and the case's id.

On a fail the last line of stdout says what was missed.
"""

from collections.abc import Mapping
from pathlib import Path

from healbot.checks.outcome import failed, guarded, passed
from healbot.checks.program import (
    CRASH_HOOK,
    answer,
    crash,
    environment,
    hand_over,
    last_line,
    missing_module,
    output_bytes,
    split,
)
from healbot.checks.sources import Sources, files_of, lay_out, scratch
from healbot.ports import Command, Finished, Processes
from healbot.records.case import Case, CheckSpec
from healbot.records.run import CheckResult, Trace
from healbot.rules.assertions import unstarted
from healbot.rules.patterns import Unscorable


class CommandCheck:
    """Judges a run by a program's exit code."""

    def __init__(
        self, spec: CheckSpec, processes: Processes, *, env: Mapping[str, str], sources: Sources
    ) -> None:
        self._spec, self._processes, self._env, self._sources = spec, processes, env, sources
        self._label = spec.name or "command"

    def score(self, case: Case, trace: Trace) -> CheckResult:
        """Judge a run; a run that did not end by itself can't score."""
        return guarded(self._label, lambda: self._judge(case, trace))

    def _judge(self, case: Case, trace: Trace) -> CheckResult:
        unstarted(trace)
        with scratch() as place:
            finished = self._run(case, trace, place)
        if answer(finished, self._spec.timeout_seconds):
            return passed(self._label)
        broken = crash(finished) or missing_module(finished)
        if broken:
            raise Unscorable(f"the check crashed ({broken})")
        missed = last_line(finished.stdout) or self._spec.name
        return failed(self._label, "the check's program said no", missed)

    def _run(self, case: Case, trace: Trace, place: Path) -> Finished:
        argv = split(self._spec.command or "")
        own = lay_out(files_of(self._sources, case.folder), place / "check")
        paths = hand_over(trace, place)
        env = {
            **environment(self._env, place / "hook", CRASH_HOOK),
            "HEALBOT_OUTPUT": str(paths.output),
            "HEALBOT_CHANGED": str(paths.changed),
            "HEALBOT_WORKSPACE": str(trace.root),
            "HEALBOT_FOLDER": str(trace.folder),
            "HEALBOT_EXIT_CODE": "" if trace.exit_code is None else str(trace.exit_code),
            "HEALBOT_CASE": case.id,
        }
        return self._processes.run(
            Command(
                argv=argv,
                cwd=own,
                env=env,
                timeout_seconds=self._spec.timeout_seconds,
                stdin=output_bytes(trace),
            )
        )
