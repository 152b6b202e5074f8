"""What a plain ``healbot init`` writes: the shortest settings file that works, and two cases.

Knows texts only; looking at the repository and writing files is its caller's work.
"""

import json
import re
from collections.abc import Mapping

from healbot.entry.templates import template
from healbot.records.settings import SETTINGS_PATH

DEFAULT_COMMAND = "python agent.py"
DEFAULT_INSTRUCTIONS = "instructions.md"
DEFAULT_SKILLS = "skills"

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})


def starter(
    folder: str,
    *,
    name: str,
    instructions: str = DEFAULT_INSTRUCTIONS,
    skills: str = DEFAULT_SKILLS,
    command: str = DEFAULT_COMMAND,
) -> Mapping[str, str]:
    """Return the files to write, path from the repository's root to text.

    ``folder`` is the agent's, from the root (``.`` for the root itself); ``instructions`` and
    ``skills`` are named in the settings only where they differ from the default.
    """
    inside = "" if folder in (".", "./", "") else folder.strip("/") + "/"
    cases = f"{inside}cases"
    known = {
        "NAME": _scalar(name),
        "DIR": _scalar(inside.rstrip("/") or "."),
        "CASES": _scalar(cases),
        "COMMAND": _scalar(command),
        "INSTRUCTIONS": _optional("instructions", instructions, DEFAULT_INSTRUCTIONS),
        "SKILLS": _optional("skills", skills, DEFAULT_SKILLS),
    }
    settings = re.sub(r"@([A-Z]+)@", lambda match: known[match[1]], template("starter/healbot.yml"))
    return {SETTINGS_PATH: settings, f"{cases}/starter.yml": template("starter/cases.yml")}


def _optional(key: str, value: str, default: str) -> str:
    if value != default:
        return f"{key}: {_scalar(value)}"
    hints = {"instructions": "AGENTS.md", "skills": ".claude/skills"}
    return f"# {key}: {hints[key]}".ljust(32) + f"# default: {default}"


def _scalar(text: str) -> str:
    """Write a text as YAML; quoted where a plain one could be read as something else."""
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)
