"""Hidden tests: files copied in after the agent ran, and a command that runs them there.

Knows the process port. The files come from the judged commit and go into the agent's folder, which
is where the command runs. An edit to a protected path fails the run before anything is executed,
however the run ended. Exit code 0 passes, 1 fails; other codes (of pytest: 2 interrupted, 3 fault,
4 usage, 5 no tests) can't score. What a hostile run could do to its tests: ``checks/hijack.py``.
The workspace holds the hidden files afterwards, so this check comes last.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from healbot.checks.hijack import TEST_HOOK, planted, scrubbed
from healbot.checks.outcome import failed, guarded, one_line, passed, unscored
from healbot.checks.placing import ObstacleError, place
from healbot.checks.program import answer, environment, missing_module, split
from healbot.checks.sources import Sources, below, files_of, scratch
from healbot.ports import Command, Finished, Processes
from healbot.records.case import Case, CheckSpec, HiddenTests
from healbot.records.run import CheckResult, Trace
from healbot.rules.assertions import unstarted
from healbot.rules.patterns import Unscorable
from healbot.rules.touched import edited

CHANGED_PATHS = 10_000
"""As many changed paths as this may be a list that was cut, in which a plant could hide."""


class TestsCheck:
    """Judges a run by tests that the agent has not seen."""

    __test__ = False

    def __init__(
        self,
        spec: CheckSpec,
        processes: Processes,
        *,
        env: Mapping[str, str],
        sources: Sources,
        hide: Sequence[Path] = (),
    ) -> None:
        self._spec, self._processes, self._env, self._sources = spec, processes, env, sources
        self._label, self._hide = spec.name or "hidden tests", tuple(hide)

    def score(self, case: Case, trace: Trace) -> CheckResult:
        """Judge a run; one that did not end by itself can't score unless it broke protection."""
        return guarded(self._label, lambda: self._judge(case, trace))

    def _judge(self, case: Case, trace: Trace) -> CheckResult:
        tests = self._spec.tests
        if tests is None:
            raise Unscorable("the check names no tests")
        folder = _inner(trace)
        broken = edited(trace.changed, tests.protect, folder)
        if broken is not None:
            said = one_line(f"edited protected path {broken}")
            return failed(self._label, said, said)
        unstarted(trace)
        if len(trace.changed) >= CHANGED_PATHS:
            raise Unscorable("the agent changed so many files that not all of them are known")
        files = files_of(self._sources, below(case.folder, tests.add))
        inside = {str(PurePosixPath(folder) / path): content for path, content in files.items()}
        try:
            place(trace.root, inside)
        except ObstacleError as obstacle:
            return self._blocked(str(obstacle), trace)
        found = planted(trace.root, trace.changed, inside.keys())
        if found is not None:
            raise Unscorable(
                f"the agent changed {found}, which can steer the tests; "
                "protect it to fail such runs, or bring it along with the hidden files"
            )
        return self._verdict(tests, self._run(tests, trace))

    def _blocked(self, where: str, trace: Trace) -> CheckResult:
        """Fail where the agent put something in the way; where the repository did, can't score."""
        said = one_line(f"no plain file or folder at {where}, where hidden tests belong")
        mine = any(path == where or path.startswith(where + "/") for path in trace.changed)
        return failed(self._label, said, said) if mine else unscored(self._label, said)

    def _run(self, tests: HiddenTests, trace: Trace) -> Finished:
        argv = split(tests.run)
        with scratch() as own:
            env = environment(scrubbed(self._env, own, trace.folder), own / "hook", TEST_HOOK)
            command = Command(
                argv=argv,
                cwd=trace.folder,
                env=env,
                timeout_seconds=tests.timeout_seconds,
                hide=self._hide,
                keep=(trace.root,),
            )
            return self._processes.run(command)

    def _verdict(self, tests: HiddenTests, finished: Finished) -> CheckResult:
        if answer(finished, tests.timeout_seconds):
            return passed(self._label)
        absent = missing_module(finished)
        if absent:
            raise Unscorable(f"the tests could not be run ({absent})")
        return failed(self._label, "the hidden tests said no", self._label)


def _inner(trace: Trace) -> str:
    """Return the agent's folder from the workspace's root, as text; nothing on disk is asked."""
    try:
        return Path(trace.folder).relative_to(trace.root).as_posix()
    except ValueError as error:
        raise Unscorable("the agent's folder does not lie in the workspace") from error
