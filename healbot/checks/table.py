"""Which check stands behind which word of a case: the one explicit table."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from healbot.checks.assertion import AssertionCheck
from healbot.checks.command import CommandCheck
from healbot.checks.missing import MissingCheck
from healbot.checks.python import PythonCheck
from healbot.checks.sources import Sources
from healbot.checks.tests import TestsCheck
from healbot.checks.tools import ToolCheck
from healbot.ports import Check, Processes
from healbot.records.case import Case, CheckSpec


class Means(NamedTuple):
    """What checks of a repository may use.

    Attributes:
        env: The environment of a check's program (PATH and the like); no secret belongs in it.
        sources: How to read a folder of the judged commit.
        hide: Folders that code under hidden tests must not read, where a sandbox can hide them.
    """

    processes: Processes
    env: Mapping[str, str]
    sources: Sources
    hide: Sequence[Path] = ()


Maker = Callable[[CheckSpec, Means], Check]

CHECKS: Mapping[str, Maker] = {
    "command": lambda spec, means: CommandCheck(
        spec, means.processes, env=means.env, sources=means.sources
    ),
    "python": lambda spec, means: PythonCheck(
        spec, means.processes, env=means.env, sources=means.sources
    ),
    "tests": lambda spec, means: TestsCheck(
        spec, means.processes, env=means.env, sources=means.sources, hide=means.hide
    ),
    "tool-called": lambda spec, _: ToolCheck(spec),
    "not-tool-called": lambda spec, _: ToolCheck(spec),
}


def checks_of(case: Case, means: Means) -> tuple[Check, ...]:
    """Return a case's checks in the order in which they must run.

    Assertions first, hidden tests last, since they change the workspace. An assertion of weight 0
    is a mere measurement in promptfoo and decides nothing. Where none decides, one stands in that
    can't score and says so.
    """
    asserts = (AssertionCheck(one) for one in case.asserts if one.weight != 0)
    specs = sorted(case.checks, key=lambda spec: spec.kind == "tests")
    checks = (*asserts, *(CHECKS[spec.kind](spec, means) for spec in specs))
    return checks or (MissingCheck(),)
