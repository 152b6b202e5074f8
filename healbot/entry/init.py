"""``healbot init``: finds the agent, writes the shortest settings that work, and two cases.

Knows the work tree and the starter's texts; never overwrites a file.
"""

from pathlib import Path
from typing import NamedTuple

from healbot.entry.starter import (
    DEFAULT_COMMAND,
    DEFAULT_INSTRUCTIONS,
    DEFAULT_SKILLS,
    starter,
)
from healbot.errors import InputError
from healbot.forges.git import GitRepo
from healbot.records.settings import SETTINGS_PATH

PASSED_OVER = frozenset({"node_modules", "vendor", "__pycache__", "tests", "test", "fixtures"})
DEEPEST = 4
"""How many folders deep an agent is looked for."""


class Found(NamedTuple):
    """Where an agent is, and how it seems to be run."""

    folder: str
    instructions: str
    skills: str
    command: str


def write_starter(folder: Path, *, dry_run: bool) -> None:
    """Write what a repository lacks, and say what was written and what is next.

    Raises:
        InputError: There is no repository, a settings file is there already, or no agent was found.
    """
    root = GitRepo(folder).folder
    if (root / SETTINGS_PATH).exists():
        raise InputError(
            f"{SETTINGS_PATH} is there already; nothing was written.",
            "Edit it; healbot schema prints every key that it may hold.",
        )
    found = find_agent(root)
    name = found.folder.rsplit("/", 1)[-1] if found.folder != "." else root.name
    files = starter(
        found.folder,
        name="".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
        or "agent",
        instructions=found.instructions,
        skills=found.skills,
        command=found.command,
    )
    print(f"Found {found.instructions} in {found.folder}, run by {found.command!r}.")
    for path, text in files.items():
        place = root / path
        if place.exists():
            print(f"kept   {path} (it is there already)")
            continue
        print(f"{'would write' if dry_run else 'wrote '} {path}")
        if not dry_run:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    print(
        "\nNext: look at both files and make the cases yours; git add and commit them;\n"
        "then healbot cases lint, healbot cases run, and healbot cycle."
    )


def find_agent(root: Path) -> Found:
    """Return the agent in a work tree: the shallowest folder with a known instructions file.

    Raises:
        InputError: There is none.
    """
    for name, skills in (
        (DEFAULT_INSTRUCTIONS, DEFAULT_SKILLS),
        ("AGENTS.md", ".agents/skills"),
        ("CLAUDE.md", ".claude/skills"),
    ):
        places = [path for path in _walk(root, DEEPEST) if (path / name).is_file()]
        if places:
            place = places[0]
            folder = place.relative_to(root).as_posix()
            has_skills = (place / skills).is_dir()
            return Found(folder, name, skills if has_skills else DEFAULT_SKILLS, _command(place))
    raise InputError(
        "No instructions.md, AGENTS.md or CLAUDE.md was found in this repository.",
        "Put your agent's instructions into a file of such a name, then run healbot init again.",
    )


def _walk(root: Path, depth: int) -> list[Path]:
    """Return folders, shallow ones first, without hidden and vendored ones and symlinks."""
    found, level = [root], [root]
    for _ in range(depth):
        level = [
            child
            for folder in level
            for child in sorted(folder.iterdir())
            if child.is_dir()
            and not child.is_symlink()
            and not child.name.startswith(".")
            and child.name not in PASSED_OVER
        ]
        found += level
    return found


def _command(place: Path) -> str:
    """Guess how the agent is run from the programs in its folder."""
    for name, command in (
        ("agent.py", "python3 agent.py"),
        ("main.py", "python3 main.py"),
        ("agent.sh", "sh agent.sh"),
        ("agent.js", "node agent.js"),
        ("index.js", "node index.js"),
    ):
        if (place / name).is_file():
            return command
    return DEFAULT_COMMAND
