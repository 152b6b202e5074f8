"""How an agent seems to be run: a guess from the programs and scripts that lie beside it.

Knows names of files and what package managers write; starts nothing.
"""

import json
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

LARGEST = 1_000_000
"""Files of more bytes are not looked into."""
OWN = (
    ("agent.py", "python3 agent.py"),
    ("agent.sh", "sh agent.sh"),
    ("agent.js", "node agent.js"),
    ("agent.mjs", "node agent.mjs"),
)
"""Programs whose name says that they are the agent."""
USUAL = (
    ("main.py", "python3 main.py"),
    ("__main__.py", "python3 __main__.py"),
    ("app.py", "python3 app.py"),
    ("run.py", "python3 run.py"),
    ("run.sh", "sh run.sh"),
    ("index.js", "node index.js"),
    ("index.mjs", "node index.mjs"),
)
"""Programs that may be anything: beside a prompt the agent, beside a coding guide rather not."""
_TARGET = re.compile(r"^(agent|run-agent)\s*:(?!=)", re.MULTILINE)
_SPEAKS = re.compile(r"\bstdin\b|\binput\(")


class Program(NamedTuple):
    """A command line, from the agent's folder, and what prepares it; empty where there is none."""

    command: str = ""
    setup: str = ""


def guess(root: Path, folder: Path, instructions: str, *, for_coding: bool) -> Program:
    """Guess how the agent in a folder is run.

    ``for_coding`` says that the instructions are of a kind that coding agents read; then a program
    counts only where its name says "agent", it names the instructions file or reads a task.
    """
    with_uv = any((place / "uv.lock").is_file() for place in (folder, root))
    for name, command in (*OWN, *USUAL):
        text = _text(folder / name)
        usual = (name, command) in USUAL
        if text is None or (usual and for_coding and not _answers(text, instructions)):
            continue
        python = command.startswith("python3 ")
        return (
            _with_uv(command.removeprefix("python3 ")) if python and with_uv else Program(command)
        )
    return (
        _from_package(folder, for_coding=for_coding)
        or _from_pyproject(folder, for_coding=for_coding, with_uv=with_uv)
        or _from_make(folder)
        or Program()
    )


def _answers(text: str, instructions: str) -> bool:
    return instructions in text or bool(_SPEAKS.search(text))


def _with_uv(words: str) -> Program:
    return Program(f"uv run {words}", "uv sync")


def _from_package(folder: Path, *, for_coding: bool) -> Program | None:
    try:
        scripts = json.loads(_text(folder / "package.json") or "{}").get("scripts") or {}
    except (ValueError, AttributeError):
        return None
    wanted = ("agent",) if for_coding else ("agent", "start")
    name = next((one for one in wanted if isinstance(scripts, dict) and one in scripts), None)
    if name is None:
        return None
    setup = "npm ci" if (folder / "package-lock.json").is_file() else ""
    return Program(f"npm run --silent {name}", setup)


def _from_pyproject(folder: Path, *, for_coding: bool, with_uv: bool) -> Program | None:
    try:
        project = tomllib.loads(_text(folder / "pyproject.toml") or "").get("project", {})
    except tomllib.TOMLDecodeError:
        return None
    scripts = project.get("scripts", {}) if isinstance(project, dict) else {}
    names = list(scripts) if isinstance(scripts, dict) else []
    agents = [name for name in names if "agent" in name]
    chosen = (agents or ([] if for_coding or len(names) != 1 else names))[:1]
    if not chosen:
        return None
    return _with_uv(chosen[0]) if with_uv else Program(chosen[0])


def _from_make(folder: Path) -> Program | None:
    for name in ("Makefile", "makefile", "GNUmakefile"):
        found = _TARGET.search(_text(folder / name) or "")
        if found:
            return Program(f"make -s {found[1]}")
    return None


def _text(path: Path) -> str | None:
    """Return a plain file's text; None where there is none, or it is a link or very large."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
