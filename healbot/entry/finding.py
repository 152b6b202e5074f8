"""What a repository has: agents with their instructions and skills, and evals people wrote.

Knows the names that agents' files have, and how one file points to another; never follows a link
out of the repository, and writes nothing.
"""

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from healbot.entry.programs import Program, guess
from healbot.entry.starter import DEFAULT_INSTRUCTIONS, DEFAULT_SKILLS
from healbot.rules.layout import SKILL_FILE, pointer_target

PASSED_OVER = frozenset(
    {
        "node_modules", "vendor", "third_party", "site-packages", "__pycache__", "venv", "env",
        "dist", "build", "target", "tests", "test", "fixtures", "templates",
    }
)  # fmt: skip
DEEPEST = 4
"""How many folders deep an agent is looked for."""
HOPS = 5
"""How many pointers in a row are followed."""
LONGEST_POINTER = 300
"""A file of more characters is no pointer, whatever it says."""
FOR_CODING = ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", ".github/copilot-instructions.md")
"""Instructions that coding agents read, best first."""
SKILL_FOLDERS = (".agents/skills", ".claude/skills", DEFAULT_SKILLS, ".github/skills")
EVALS = ("promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json")

_MENTIONED = re.compile(r"@?((?:[\w.-]+/)*[\w.-]+\.md)\b")


class Candidate(NamedTuple):
    """A folder, and an instructions file in it."""

    place: Path
    name: str


class Found(NamedTuple):
    """One agent.

    Attributes:
        folder: From the root, ``.`` for the root itself.
        instructions: In ``folder``; where pointers lead to.
        skills: In ``folder``.
    """

    folder: str
    instructions: str
    skills: str
    program: Program


class Survey(NamedTuple):
    """What was found, eval files as paths from the root, and a sentence for each oddity."""

    agents: tuple[Found, ...]
    evals: tuple[str, ...]
    notes: tuple[str, ...]


def survey(root: Path) -> Survey:
    """Look through a work tree for agents and evals; both may be missing."""
    folders = list(_walk(root))
    notes: list[str] = []
    agents = _own_agents(root, folders, notes) or _coding_agents(root, folders, notes)
    evals = [
        (place / name).relative_to(root).as_posix()
        for place in folders
        for name in EVALS
        if (place / name).is_file() and not (place / name).is_symlink()
    ]
    return Survey(tuple(agents), tuple(evals), tuple(notes))


def skills_in(root: Path) -> tuple[str, ...]:
    """Return the folders of skills at the root, whether or not an agent is there."""
    return tuple(name for name in SKILL_FOLDERS if _holds_skills(root, root / name))


def _walk(root: Path) -> Iterator[Path]:
    """Yield folders, shallow ones first; no hidden, vendored, linked or foreign ones."""
    level = [root]
    for _ in range(DEEPEST + 1):
        yield from level
        level = [child for folder in level for child in _children(folder)]


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(
                one.name
                for one in entries
                if one.is_dir(follow_symlinks=False)
                and not one.name.startswith(".")
                and one.name not in PASSED_OVER
            )
    except OSError:
        return []
    return [folder / name for name in names if not (folder / name / ".git").exists()]


def _own_agents(root: Path, folders: list[Path], notes: list[str]) -> list[Found]:
    """Return the agents with a prompt of their own: every one that looks like an agent."""
    places = [one for one in folders if _is_inside(root, one / DEFAULT_INSTRUCTIONS)]
    sure = [one for one in places if _looks_like_an_agent(root, one)]
    if not sure:
        coding = any((root / name).is_file() for name in FOR_CODING)
        sure = [] if coding else places[:1]
    found = [
        agent
        for one in sure
        if (agent := _agent(root, Candidate(one, DEFAULT_INSTRUCTIONS), notes))
    ]
    beside = [name for name in FOR_CODING if (root / name).is_file()]
    if found and beside and not any(one.folder == "." for one in found):
        notes.append(
            f"{beside[0]} at the root is left out: it guides coding agents. Give it an entry of "
            "its own where healbot should care for it."
        )
    return found


def _looks_like_an_agent(root: Path, place: Path) -> bool:
    below = "agents" in place.relative_to(root).parts[:-1]
    program = guess(root, place, DEFAULT_INSTRUCTIONS, for_coding=False)
    return below or bool(program.command) or _holds_skills(root, place / DEFAULT_SKILLS)


def _coding_agents(root: Path, folders: list[Path], notes: list[str]) -> list[Found]:
    """Return the shallowest agent whose instructions are of the kind that coding agents read."""
    for place in folders:
        for name in FOR_CODING:
            if not os.path.lexists(place / name):
                continue
            agent = _agent(root, Candidate(place, name), notes)
            if agent:
                notes += _others(place, {name, agent.instructions})
                return [agent]
    return []


def _others(place: Path, chosen: set[str]) -> Iterator[str]:
    """Yield a sentence on each other file beside an agent's that holds instructions itself."""
    for name in FOR_CODING:
        other = place / name
        if name in chosen or other.is_symlink() or not other.is_file() or _target(other):
            continue
        yield (
            f"{name} holds instructions of its own and is left out; one agent has one file. "
            "Give it an entry of its own where healbot should care for it."
        )


def _agent(root: Path, one: Candidate, notes: list[str]) -> Found | None:
    """Return the agent of one instructions file, pointers followed; None where they lead astray."""
    place, name = one
    end, trail = place / name, name
    for _ in range(HOPS):
        linked = end.is_symlink()
        target = end.resolve() if linked else _target(end)
        if target is None:
            break
        trail = f"{end.relative_to(root)} points to"
        end = target
        if not _is_inside(root, end):
            notes.append(f"{trail} a file outside of this repository, or to none; it is left out.")
            return None
        notes.append(f"{trail} {end.relative_to(root)}; that file is the one to edit.")
    else:
        notes.append(f"{trail} files that point on and on; it is left out.")
        return None
    if not _is_inside(root, end):
        return None
    home = place if end.is_relative_to(place) else root
    folder = home.relative_to(root).as_posix()
    instructions = end.relative_to(home).as_posix()
    coding = name != DEFAULT_INSTRUCTIONS
    program = guess(root, home, posixpath.basename(instructions), for_coding=coding)
    return Found(folder, instructions, _skills(root, home, name), program)


def _target(path: Path) -> Path | None:
    """Return where a file of one line that only points elsewhere leads, or None."""
    try:
        if path.stat().st_size > LONGEST_POINTER * 4:
            return None
        content = path.read_bytes()
    except OSError:
        return None
    imported = pointer_target(content)
    named = imported or _mentioned(content.decode("utf-8", "replace"))
    if named is None or named.startswith(("/", "~")):
        return None
    target = Path(os.path.normpath(path.parent / named))
    return target if imported or target.is_file() else None


def _mentioned(text: str) -> str | None:
    """Return the one file that a one-line text mentions ("See AGENTS.md"), headings aside."""
    lines = [line.strip() for line in text.splitlines()]
    said = [line for line in lines if line and not line.startswith(("#", "<!--"))]
    if len(said) != 1 or len(said[0]) > LONGEST_POINTER:
        return None
    names = set(_MENTIONED.findall(said[0]))
    return names.pop() if len(names) == 1 else None


def _skills(root: Path, home: Path, name: str) -> str:
    """Return the folder of skills that goes with an instructions file; links are resolved."""
    first = DEFAULT_SKILLS if name == DEFAULT_INSTRUCTIONS else SKILL_FOLDERS[0]
    if "claude" in name.lower():
        first = ".claude/skills"
    for one in (first, *SKILL_FOLDERS):
        place = (home / one).resolve()
        if _holds_skills(root, place) and place.is_relative_to(home.resolve()):
            return place.relative_to(home.resolve()).as_posix()
    return DEFAULT_SKILLS


def _holds_skills(root: Path, place: Path) -> bool:
    place = place.resolve()
    if not place.is_relative_to(root.resolve()) or not place.is_dir():
        return False
    return any((one / SKILL_FILE).is_file() for one in place.iterdir() if one.is_dir())


def _is_inside(root: Path, path: Path) -> bool:
    """Say whether a path is a file that really lies in the repository, links followed."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return real.is_file() and real.is_relative_to(root.resolve())
