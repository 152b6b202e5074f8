"""What can be wrong with one agent: its instructions, skills and cases, and how it is run.

Knows files and settings, and starts nothing; each examination yields findings.
"""

import posixpath
import shutil
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from healbot.entry.abilities import require_runnable
from healbot.entry.findings import Finding, error, of_error, ok, warning
from healbot.entry.sight import Sight
from healbot.entry.starter import UNFILLED, as_written
from healbot.errors import HealbotError
from healbot.records.case import Case
from healbot.records.harness import Harness
from healbot.records.settings import SETTINGS_PATH, AgentSettings, RunSettings, Settings
from healbot.rules.always_on import always_on_characters
from healbot.rules.cases import match_paths, read_cases
from healbot.rules.frontmatter import skill_problems
from healbot.rules.layout import harness_of
from healbot.rules.lint import lint
from healbot.rules.protect import unprotected
from healbot.rules.references import Ground, dead_references
from healbot.runners.command import split

CODEX_BYTES = 32 * 1024
"""Codex reads no more of the chain of AGENTS.md files (``project_doc_max_bytes``)."""
COPILOT_CHARACTERS = 4_000
"""Copilot's code review reads about so much of an instructions file."""
SHOWN = 5
"""So many findings of one kind are listed before the rest is counted."""
SCRIPTS = (".py", ".sh", ".js", ".mjs", ".ts", ".rb")


class Patient(NamedTuple):
    """One agent to be examined."""

    agent: AgentSettings
    settings: Settings
    sight: Sight
    environment: Mapping[str, str]

    @property
    def topic(self) -> str:
        """How findings name it."""
        return self.agent.name

    @property
    def folder(self) -> str:
        """Its folder, from the root; empty for the root."""
        tidy = posixpath.normpath(self.agent.dir)
        return "" if tidy == "." else tidy


def examine(patient: Patient, ground: Ground) -> Iterator[Finding]:
    """Yield all that is to be said of one agent."""
    harness = None
    try:
        files = patient.sight.below(patient.folder)
        harness = harness_of(files.modes, files.read, patient.agent)
    except HealbotError as problem:
        yield of_error(patient.topic, problem)
    if harness:
        yield from _harness(patient, harness)
        yield from _references(patient, harness, ground)
    yield from _cases(patient, harness)
    for run in patient.agent.run:
        yield from _run(patient, run)


def _harness(patient: Patient, harness: Harness) -> Iterator[Finding]:
    size, limit = always_on_characters(harness), patient.settings.limits.always_on_characters
    skills = [file for file in harness.files if file.skill is not None]
    many = f" and {len(skills)} skill{'s' if len(skills) > 1 else ''}" if skills else ""
    said = f"{patient.agent.instructions}{many}: {size:,} of {limit:,} characters"
    if size > limit:
        yield warning(
            patient.topic,
            f"{said} always on: no edit that adds text will pass",
            "Shorten the instructions, or raise limits.always_on_characters.",
        )
    else:
        yield ok(patient.topic, f"{said} always on")
    for skill in skills:
        for problem in dict.fromkeys(skill_problems(skill.text, skill.skill or "").values()):
            yield warning(
                patient.topic, f"{skill.path}: {problem}", "Mend it: loaders may pass it over."
            )
    for text in unprotected(harness, patient.settings.protect):
        yield warning(patient.topic, text, f"Correct protect in {SETTINGS_PATH}.")
    yield from _reading_limits(patient, harness)


def _reading_limits(patient: Patient, harness: Harness) -> Iterator[Finding]:
    """Say where a tool would cut the text off without a word."""
    instructions = next((one for one in harness.files if not one.skill and not one.read_only), None)
    if instructions is None:
        return
    path = posixpath.join(patient.folder, instructions.path)
    if posixpath.basename(path) == "AGENTS.md":
        chain = [one for one in _above(path) if one in patient.sight.modes]
        total = sum(len(patient.sight.read(one)) for one in chain)
        if total > CODEX_BYTES:
            yield warning(
                patient.topic,
                f"the chain of AGENTS.md files has {total:,} bytes; Codex reads {CODEX_BYTES:,}",
                "Shorten it: what comes last is not read.",
            )
    copilot = path.endswith((".github/copilot-instructions.md", ".instructions.md"))
    if copilot and len(instructions.text) > COPILOT_CHARACTERS:
        yield warning(
            patient.topic,
            f"{path} has {len(instructions.text):,} characters; Copilot's code review reads about "
            f"the first {COPILOT_CHARACTERS:,}",
            "Put what matters most first, or shorten it.",
        )


def _above(path: str) -> list[str]:
    name, folder = posixpath.basename(path), posixpath.dirname(path)
    found = [path]
    while folder:
        folder = posixpath.dirname(folder)
        found.append(posixpath.join(folder, name))
    return found


def _references(patient: Patient, harness: Harness, ground: Ground) -> Iterator[Finding]:
    found = []
    for file in harness.files:
        path = posixpath.join(patient.folder, file.path)
        dead = dead_references(file.text, path, ground, skill=file.skill is not None)
        found += [f"{path}:{one.line}: {one.named} leads nowhere ({one.why})" for one in dead]
    for text in _some(found, "dead references"):
        yield warning(patient.topic, text, "Correct the line: agents look for what it names.")


def _cases(patient: Patient, harness: Harness | None) -> Iterator[Finding]:
    sight, agent = patient.sight, patient.agent
    try:
        paths = match_paths(tuple(sight.modes), agent.cases)
        cases = read_cases({path: sight.read(path) for path in paths}, agent, sight.files)
    except HealbotError as problem:
        yield of_error(patient.topic, problem)
        return
    yield ok(patient.topic, _counted(cases))
    problems = lint(cases, paths=tuple(sight.modes))
    for severity, make in (("error", error), ("warning", warning)):
        lines = [
            f"{one.path}:{one.line}: {one.text}" for one in problems if one.severity == severity
        ]
        for text in _some(lines, f"{severity}s in cases"):
            yield make(patient.topic, text, "Correct the case; healbot cases lint lists them all.")
    for path in paths:
        if as_written(sight.read(path)):
            yield warning(
                patient.topic,
                f"{path} still holds the starter cases, which no agent can pass",
                "Write two tasks of yours there, and what a right answer must hold.",
            )
    inside = sorted({path for path in paths if harness and _in_harness(patient, harness, path)})
    for text in _some([f"the case file {one} lies among the agent's skills" for one in inside], ""):
        yield error(patient.topic, text, "Keep cases outside: an agent must never see them.")


def _counted(cases: tuple[Case, ...]) -> str:
    held = sum(case.split == "heldout" for case in cases)
    return f"{len(cases)} cases, {held} of them held out"


def _in_harness(patient: Patient, harness: Harness, path: str) -> bool:
    for file in harness.files:
        own = posixpath.join(patient.folder, file.path)
        if path == own or (file.skill and path.startswith(posixpath.dirname(own) + "/")):
            return True
    return False


def _run(patient: Patient, run: RunSettings) -> Iterator[Finding]:
    try:
        require_runnable(patient.agent)
    except HealbotError as problem:
        yield of_error(patient.topic, problem)
    for word, line in (("run.command", run.command), ("run.setup", run.setup)):
        if line is not None:
            yield from _program(patient, word, line, made=word == "run.command" and bool(run.setup))
    if run.python is not None:
        yield from _module(patient, run.python)
    for name in run.env:
        if not patient.environment.get(name):
            yield warning(
                patient.topic,
                f"run.env names {name}, which is not set here",
                f"Set it before a cycle: export {name}=…",
            )


def _program(patient: Patient, word: str, line: str, *, made: bool) -> Iterator[Finding]:
    try:
        words = split(line)
    except HealbotError as problem:
        yield of_error(patient.topic, problem)
        return
    if words[0] == UNFILLED:
        yield error(
            patient.topic,
            f"{word} is still to be filled in: nobody knows how this agent is run",
            f"Name the program in {SETTINGS_PATH}; it gets a task on stdin and prints the answer.",
        )
        return
    if "/" in words[0] and not words[0].startswith("/"):
        there = _in_tree(patient, words[0]) or made
    else:
        there = shutil.which(words[0], path=patient.environment.get("PATH", "")) is not None
    if not there:
        yield error(
            patient.topic,
            f"{word}: the program {words[0]!r} was not found",
            "Install it, or correct the command.",
        )
    scripts = [one for one in words[1:] if one.endswith(SCRIPTS) and not one.startswith(("-", "/"))]
    for script in scripts[:1]:
        if not _in_tree(patient, script) and not made:
            yield error(
                patient.topic,
                f"{word}: {script} is not in the agent's folder, where the command is run",
                "Commit it, or correct the command.",
            )
            there = False
    if there:
        yield ok(patient.topic, f"{word}: {line}")


def _module(patient: Patient, named: str) -> Iterator[Finding]:
    path = named.partition(":")[0].replace(".", "/")
    if not any(_in_tree(patient, one) for one in (f"{path}.py", f"{path}/__init__.py")):
        yield warning(
            patient.topic,
            f"run.python: {path}.py is not in the agent's folder",
            "Correct it, unless setup installs the module.",
        )


def _in_tree(patient: Patient, path: str) -> bool:
    return posixpath.normpath(posixpath.join(patient.folder, path)) in patient.sight.modes


def _some(lines: list[str], what: str) -> Iterator[str]:
    """Yield the first lines, and count the rest."""
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"and {len(lines) - SHOWN} more {what}".rstrip()
