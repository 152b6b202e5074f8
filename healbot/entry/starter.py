"""What a plain ``healbot init`` writes: the shortest settings file that works, and two cases.

Knows texts only; looking at the repository and writing files is its caller's work.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from healbot.entry.templates import template
from healbot.records.record import digest_bytes
from healbot.records.settings import SETTINGS_PATH, AgentSettings

DEFAULT_COMMAND = "python agent.py"
DEFAULT_INSTRUCTIONS = "instructions.md"
DEFAULT_SKILLS = "skills"
UNFILLED = "your-agent-here"
"""The command where no program was found; ``doctor`` asks for the real one."""
STARTER_FILE = "starter.yml"
EARLIER_CASES: frozenset[str] = frozenset()
"""Digests of the starter cases that earlier versions wrote; add the last one on each change."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})


class Planned(NamedTuple):
    """One agent to be written into the settings; paths as there.

    Attributes:
        folder: From the root, ``.`` for the root itself.
        cases: What ``cases`` will name; the first is the folder of the starter cases.
        command: How it is run; empty where nobody knows yet.
        setup: What prepares a workspace; empty where nothing has to.
    """

    folder: str
    name: str
    cases: tuple[str, ...]
    instructions: str = DEFAULT_INSTRUCTIONS
    skills: str = DEFAULT_SKILLS
    command: str = DEFAULT_COMMAND
    setup: str = ""


def starter(
    folder: str,
    *,
    name: str,
    instructions: str = DEFAULT_INSTRUCTIONS,
    skills: str = DEFAULT_SKILLS,
    command: str = DEFAULT_COMMAND,
) -> Mapping[str, str]:
    """Return the files to write for one agent, path from the repository's root to text.

    ``folder`` is the agent's, from the root (``.`` for the root itself); ``instructions`` and
    ``skills`` are named in the settings only where they differ from the default.
    """
    inside = "" if folder in (".", "./", "") else folder.strip("/") + "/"
    cases = f"{inside}cases"
    place = inside.rstrip("/") or "."
    planned = Planned(place, name, (cases,), instructions, skills, command)
    return {SETTINGS_PATH: settings_text([planned]), f"{cases}/{STARTER_FILE}": starter_cases()}


def settings_text(agents: Sequence[Planned]) -> str:
    """Return the settings file for some agents."""
    blocks = [_filled(template("starter/agent.yml"), _words_of(one)) for one in agents]
    return template("starter/healbot.yml").replace("@AGENTS@\n", "".join(blocks))


def starter_cases() -> str:
    """Return the text of the two starter cases."""
    return template("starter/cases.yml")


def as_written(content: bytes) -> bool:
    """Say whether bytes are starter cases that healbot wrote and nobody changed."""
    digest = digest_bytes(content)
    return digest == digest_bytes(starter_cases().encode()) or digest in EARLIER_CASES


def unfilled(agent: AgentSettings) -> bool:
    """Say whether nobody has named yet how an agent is run."""
    return any((run.command or "").split()[:1] == [UNFILLED] for run in agent.run)


def _filled(text: str, known: Mapping[str, str]) -> str:
    return re.sub(r"@([A-Z]+)@", lambda match: known[match[1]], text)


def _words_of(agent: Planned) -> dict[str, str]:
    return {
        "NAME": _scalar(agent.name),
        "DIR": _scalar(agent.folder),
        "CASES": ", ".join(_scalar(one) for one in agent.cases),
        "COMMAND": _command(agent.command),
        "SETUP": f"setup: {_scalar(agent.setup)}" if agent.setup else _no_setup(),
        "INSTRUCTIONS": _optional("instructions", agent.instructions, DEFAULT_INSTRUCTIONS),
        "SKILLS": _optional("skills", agent.skills, DEFAULT_SKILLS),
    }


def _command(command: str) -> str:
    if command:
        return f"command: {_scalar(command)}"
    return (
        f"command: {UNFILLED}    # FILL IN NEXT: the program that answers one task on stdin\n"
        "      # e.g. python3 agent.py, or claude -p with env: [ANTHROPIC_API_KEY], or codex exec -"
    )


def _no_setup() -> str:
    return "# setup: uv sync              # once per commit"


def _optional(key: str, value: str, default: str) -> str:
    if value != default:
        return f"{key}: {_scalar(value)}"
    hints = {"instructions": "AGENTS.md", "skills": ".claude/skills"}
    return f"# {key}: {hints[key]}".ljust(32) + f"# default: {default}"


def _scalar(text: str) -> str:
    """Write a text as YAML; quoted where a plain one could be read as something else."""
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)
