"""A check that is a Python function of the judged commit, called in a process of its own.

Knows the process port. ``checks.refund:escalated`` is imported from the folder of the case's file,
laid out anew outside the workspace, and gets one dictionary: ``output``, ``exit_code``,
``changed``, ``workspace``, ``folder``, ``tool_calls`` (None: not reported) and ``case`` (``id``,
``input``, ``tags``). It returns True (pass), False (fail), None (cannot score), a text (fail: what
was missed), or a pair of one of the first three and a reason. An exception can't score.
"""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from healbot.checks.outcome import failed, guarded, one_line, passed, unscored
from healbot.checks.program import CRASH_HOOK, answer, environment
from healbot.checks.sources import Sources, files_of, lay_out, scratch
from healbot.ports import Command, Finished, Processes
from healbot.records.case import Case, CheckSpec
from healbot.records.run import CheckResult, Trace
from healbot.rules.assertions import unstarted
from healbot.rules.patterns import Unscorable

ANSWER_BYTES = 1_000_000
"""The longest answer that is read."""

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")

_DRIVER = """\
import importlib
import json
import sys


def plain(result):
    if result is None or isinstance(result, (bool, str)):
        return {"result": result, "reason": ""}
    pair = isinstance(result, tuple) and len(result) == 2
    if pair and (result[0] is None or isinstance(result[0], bool)) and isinstance(result[1], str):
        return {"result": result[0], "reason": result[1]}
    return {"error": "it returned " + type(result).__name__ + ", not True, False, None or a text"}


def main(root, request, answer, module, name):
    sys.path.insert(0, root)
    with open(request, encoding="utf-8") as file:
        run = json.load(file)
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        said = plain(found(run))
    except BaseException as error:
        said = {"error": type(error).__name__ + ": " + str(error)[:500]}
    with open(answer, "w", encoding="utf-8") as file:
        json.dump(said, file)


main(*sys.argv[1:])
"""


class PythonCheck:
    """Judges a run by what a function returns."""

    def __init__(
        self, spec: CheckSpec, processes: Processes, *, env: Mapping[str, str], sources: Sources
    ) -> None:
        self._spec, self._processes, self._env, self._sources = spec, processes, env, sources
        self._label = spec.name or (spec.python or "").rpartition(":")[2] or "python"

    def score(self, case: Case, trace: Trace) -> CheckResult:
        """Judge a run; a run that did not end by itself can't score."""
        return guarded(self._label, lambda: self._judge(case, trace))

    def _judge(self, case: Case, trace: Trace) -> CheckResult:
        unstarted(trace)
        with scratch() as place:
            finished = self._run(case, trace, place)
            said = _read(finished, place / "answer.json", self._spec.timeout_seconds)
        return self._outcome(said)

    def _outcome(self, said: Mapping[str, Any]) -> CheckResult:
        if "error" in said:
            raise Unscorable(f"the check crashed ({one_line(str(said['error']))})")
        result, reason = said["result"], one_line(said["reason"])
        if result is None:
            return unscored(self._label, reason or "the check could not tell")
        if result is True:
            return passed(self._label)
        missed = one_line(result) if isinstance(result, str) else reason
        if isinstance(result, str) and not missed:
            raise Unscorable("the check returned an empty text, which is neither yes nor no")
        return failed(self._label, "the check's function said no", missed or self._spec.name)

    def _run(self, case: Case, trace: Trace, place: Path) -> Finished:
        name = self._spec.python or ""
        if not _NAME.fullmatch(name):
            raise Unscorable(f"{name[:80]!r} does not have the form module:function")
        own = lay_out(files_of(self._sources, case.folder), place / "check")
        (place / "driver").mkdir()
        driver, request = place / "driver" / "driver.py", place / "request.json"
        driver.write_text(_DRIVER, encoding="utf-8")
        request.write_text(json.dumps(_request(case, trace)), encoding="utf-8")
        files = [str(path) for path in (driver, own, request, place / "answer.json")]
        return self._processes.run(
            Command(
                argv=[sys.executable, *files, *name.split(":")],
                cwd=own,
                env=environment(self._env, place / "hook", CRASH_HOOK),
                timeout_seconds=self._spec.timeout_seconds,
            )
        )


def _request(case: Case, trace: Trace) -> dict[str, Any]:
    """Return what the function is told, as JSON data."""
    calls = trace.tool_calls
    return {
        "output": trace.stdout,
        "exit_code": trace.exit_code,
        "changed": list(trace.changed),
        "workspace": str(trace.root),
        "folder": str(trace.folder),
        "tool_calls": None if calls is None else [call.model_dump(mode="json") for call in calls],
        "case": {"id": case.id, "input": case.input, "tags": list(case.tags)},
    }


def _read(finished: Finished, path: Path, timeout_seconds: float) -> Mapping[str, Any]:
    """Read the answer; a function that ended the process itself has given none."""
    if not answer(finished, timeout_seconds) or not path.is_file():
        raise Unscorable("the check ended its own process before it gave an answer")
    with path.open("rb") as file:
        said = json.loads(file.read(ANSWER_BYTES))
    if not isinstance(said, dict):
        raise Unscorable("the check's answer can't be read")
    return said
