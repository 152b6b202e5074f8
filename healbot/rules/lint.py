"""What is doubtful about cases, beyond their shape: a sentence each, with file and line.

Knows cases and, where one is given, a listing of the repository's paths. An ``error`` makes a case
useless or unsafe, a ``warning`` weakens what it can show.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from healbot.records.case import Case, CheckSpec, Split
from healbot.rules.assertions import known_types, problem
from healbot.rules.globs import is_inside, join
from healbot.rules.matching import clusters
from healbot.rules.splits import conflicts

Severity = Literal["error", "warning"]

_ALWAYS_TRUE = re.compile(
    r"\s*(true|:|exit( 0)?|echo( [^;&|]*)?)\s*|.*(\|\||;)\s*(true|:|exit 0)\s*"
)
_ANY_TEXT = frozenset({".*", "(.*)", "^", "$", "^.*$", r"[\s\S]*"})
_SCRIPT = re.compile(r"[\w./-]+\.(py|sh|js|ts|rb|pl)")


class Problem(NamedTuple):
    """One doubt about one place."""

    path: str
    line: int
    text: str
    severity: Severity


def lint(cases: Sequence[Case], *, paths: Sequence[str] | None = None) -> tuple[Problem, ...]:
    """Return what is doubtful about an agent's cases, by file and line.

    ``paths`` lists the repository; without it nothing is said of missing files.
    """
    found = [one for case in cases for one in _of_case(case, paths)]
    found += _of_splits(cases)
    found += _of_duplicates(cases)
    return tuple(sorted(set(found)))


def _at(case: Case, text: str, severity: Severity) -> Problem:
    path, _, line = case.origin.rpartition(":")
    return Problem(path, int(line) if line.isdigit() else 1, f"{case.id}: {text}", severity)


def _of_case(case: Case, paths: Sequence[str] | None) -> Iterator[Problem]:
    if not any(one.weight != 0 for one in case.asserts) and not case.checks:
        yield _at(case, "has no assert and no check, so it can't be scored", "error")
    for assertion in case.asserts:
        wrong = problem(assertion)
        if wrong:
            yield _at(case, f"assert {assertion.type}: {wrong}", "error")
        elif assertion.type == "regex" and assertion.value in _ANY_TEXT:
            text = f"assert regex {assertion.value!r} matches any text, so it can't fail"
            yield _at(case, text, "error")
    for check in case.checks:
        yield from _of_check(case, check)
    for path in case.files:
        if not is_inside(path):
            yield _at(case, f"files: {path!r} leaves the workspace", "error")
    yield from _of_places(case, paths)


def _of_check(case: Case, check: CheckSpec) -> Iterator[Problem]:
    if check.command is not None and _ALWAYS_TRUE.fullmatch(check.command):
        yield _at(case, f"the check {check.command!r} can't fail", "error")
    run = check.tests.run if check.tests else None
    for key, command in (("command", check.command), ("run", run)):
        why = _unsplittable(command) if command is not None else ""
        if why:
            yield _at(case, f"the check's {key} {why}", "error")
    if check.python is not None and not re.fullmatch(r"[\w.]+:\w+", check.python):
        yield _at(case, f"the check {check.python!r} is no module:function", "error")
    if check.tests and not check.tests.protect:
        text = "hidden tests without protect: the agent may change what they rest on"
        yield _at(case, text, "warning")


def _unsplittable(command: str) -> str:
    try:
        return "" if shlex.split(command) else "is empty"
    except ValueError as error:
        return f"can't be split into words ({str(error).lower()})"


def hopeless(cases: Sequence[Case]) -> tuple[Problem, ...]:
    """Return what no run could ever be scored by: no check at all, a typo, a pattern that is none.

    What only this machine lacks (a judge model, a script's language) is not among them.
    """
    found = []
    for case in cases:
        deciding = [one for one in case.asserts if one.weight != 0]
        if not deciding and not case.checks:
            found.append(_at(case, "has no assert and no check, so it can't be scored", "error"))
        for one in deciding:
            base = one.type.removeprefix("not-")
            wrong = problem(one) if base == "regex" or base not in known_types() else None
            if wrong:
                found.append(_at(case, f"assert {one.type}: {wrong}", "error"))
    return tuple(sorted(found))


def _of_places(case: Case, paths: Sequence[str] | None) -> Iterator[Problem]:
    places = [("tests.add", check.tests.add) for check in case.checks if check.tests]
    if case.workspace is not None:
        places.append(("workspace", case.workspace))
    for key, place in places:
        path = join(case.folder, place)
        if path is None or not path:
            yield _at(case, f"{key}: {place!r} leaves the repository", "error")
        elif paths is not None and not any(one.startswith(path + "/") for one in paths):
            yield _at(case, f"{key}: the folder {path!r} is missing or empty", "error")
    if paths is not None:
        yield from _of_scripts(case, paths)


def _of_scripts(case: Case, paths: Sequence[str]) -> Iterator[Problem]:
    """A check runs in a copy of the case file's folder, so its scripts must lie there."""
    for check in case.checks:
        named = [word for word in (check.command or "").split() if _SCRIPT.fullmatch(word)]
        if check.python:
            named = [check.python.partition(":")[0].replace(".", "/") + ".py"]
        for word in named:
            path = join(case.folder, word)
            package = f"{path}".removesuffix(".py") + "/__init__.py"
            below = path is not None and f"{path}/".startswith(f"{case.folder}/".lstrip("/"))
            if not below or (path not in paths and package not in paths):
                text = f"the check's script {word!r} is not below {case.folder or 'the root'!r}"
                yield _at(case, text, "error")


def _of_splits(cases: Sequence[Case]) -> Iterator[Problem]:
    if not cases:
        return
    splits = {case.split for case in cases}
    if Split.HELDOUT not in splits and None not in splits:
        text = "no case is held out, so every verdict will be underpowered; mark one split: heldout"
        yield _at(cases[0], text, "warning")
    if Split.TRAIN not in splits and None not in splits:
        yield _at(cases[0], "no case is in train, so there is nothing to learn from", "warning")
    if len(cases) == 1:
        yield _at(cases[0], "it is the only case; write one more to hold out", "warning")


def _of_duplicates(cases: Sequence[Case]) -> Iterator[Problem]:
    torn = set()
    for one, other in conflicts(cases):
        torn.add(other.origin)
        text = f"a near-duplicate of {one.id!r} ({one.origin}), in another split"
        yield _at(other, text, "error")
    for places in clusters(cases):
        first = cases[places[0]]
        for at in places[1:]:
            if cases[at].origin not in torn:
                text = f"a near-duplicate of {first.id!r} ({first.origin})"
                yield _at(cases[at], text, "warning")
