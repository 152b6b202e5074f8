"""``healbot init``: finds the agents, writes the shortest settings that work, and two cases each.

Knows what to write where and how to say it; never overwrites a file. Finding is ``finding.py``'s.
"""

import re
from pathlib import Path
from typing import NamedTuple

from healbot.entry.finding import Found, Survey, skills_in, survey
from healbot.entry.placing import (
    Placed,
    SetUp,
    missing_folders,
    place_all,
    require_plain,
    write_note,
)
from healbot.entry.printing import as_json
from healbot.entry.sight import of_folder
from healbot.entry.starter import STARTER_FILE, Planned, settings_text, starter_cases
from healbot.entry.worktree import Worktree, worktree_of
from healbot.errors import HealbotError, InputError
from healbot.records.record import digest_bytes
from healbot.records.settings import SETTINGS_PATH, AgentSettings
from healbot.rules.cases import match_paths, read_cases
from healbot.rules.yamls import parse_yaml

HIDDEN_CASES = ".healbot/cases"
"""Where an agent's cases go whose own folder ``cases`` holds something else already."""


class Plan(NamedTuple):
    """What init is about to write: by path, and files of a case folder that it leaves alone."""

    agents: tuple[Planned, ...]
    files: dict[str, Placed]
    kept: tuple[str, ...]
    notes: tuple[str, ...]


def write_starter(folder: Path, *, dry_run: bool, as_document: bool = False) -> None:
    """Write what a repository lacks, and say what was written and what is next.

    Raises:
        InputError: There is no repository, a settings file is there already, or no agent was found.
    """
    tree = worktree_of(folder)
    require_plain(tree.root, SETTINGS_PATH)
    before = _held_before(tree.root)
    found = survey(tree.root)
    if not found.agents:
        raise _no_agent(tree.root, found)
    plan = _plan(tree, found, before)
    if not dry_run:
        write_note(
            tree.private,
            SetUp(
                folders=missing_folders(tree.root, plan.files),
                before={} if before is None else {SETTINGS_PATH: before.decode()},
                wrote={path: digest_bytes(one.content) for path, one in plan.files.items()},
            ),
        )
        place_all(tree.root, plan.files)
    _say(tree, plan, dry_run=dry_run, as_document=as_document)


def _held_before(root: Path) -> bytes | None:
    """Return the comments of a settings file that holds nothing else; None where there is none.

    Raises:
        InputError: It holds settings, or what can't be read.
    """
    place = root / SETTINGS_PATH
    if not place.exists():
        return None
    content = place.read_bytes() if place.is_file() else b"-"
    try:
        empty = parse_yaml(content, SETTINGS_PATH).data is None
    except HealbotError:
        empty = False
    if not empty:
        raise InputError(
            f"{SETTINGS_PATH} is there already; nothing was written.",
            "Edit it; healbot schema prints every key that it may hold, healbot doctor what is "
            "wrong with it.",
        )
    return content


def _plan(tree: Worktree, found: Survey, before: bytes | None) -> Plan:
    agents: list[Planned] = []
    files: dict[str, Placed] = {}
    kept: list[str] = []
    for one in found.agents:
        name = _name(one, tree.root, [agent.name for agent in agents])
        cases, starts = _cases_folder(tree.root, one, name)
        evals = [path for path in found.evals if _belongs(path, one, found)]
        agents.append(
            Planned(
                one.folder,
                name,
                (cases, *evals),
                one.instructions,
                one.skills,
                one.program.command,
                one.program.setup,
            )
        )
        if starts:
            files[f"{cases}/{STARTER_FILE}"] = Placed(starter_cases().encode())
        else:
            kept.append(cases)
    try:
        text = settings_text(agents).encode()
    except UnicodeEncodeError:
        raise InputError(
            "The name of an agent's folder or file is not UTF-8, so no setting can hold it.",
            "Rename it, then run healbot init again; nothing was written.",
        ) from None
    if before:
        text = before + (b"" if before.endswith(b"\n") else b"\n") + text
    files[SETTINGS_PATH] = Placed(text, before)  # last: a repository without it is not set up
    return Plan(tuple(agents), files, tuple(kept), (*found.notes, *tree.notes))


def _name(one: Found, root: Path, taken: list[str]) -> str:
    """Return an agent's name: its folder's, or its whole path where that is taken."""
    parts = [root.name] if one.folder == "." else one.folder.split("/")
    for size in range(1, len(parts) + 1):
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", "-".join(parts[-size:])).strip("-_")[:60] or "agent"
        if name.casefold() not in {other.casefold() for other in taken}:
            return name
    return f"{name}-{len(taken) + 1}"


def _belongs(path: str, one: Found, found: Survey) -> bool:
    """Say whether evals are an agent's: they lie in its folder, or above all folders."""
    if len(found.agents) == 1 or "/" not in path:
        return True
    return path.startswith(one.folder.rstrip("/") + "/")


def _cases_folder(root: Path, one: Found, name: str) -> tuple[str, bool]:
    """Return where an agent's cases lie or will lie, and whether starter cases are to be written.

    Cases that are there already stay, as they are the agent's; any other content is left alone.
    """
    own = "cases" if one.folder == "." else f"{one.folder}/cases"
    for folder in (own, f"{HIDDEN_CASES}/{name}"):
        place = root / folder
        if not place.exists() or (place.is_dir() and not any(place.iterdir())):
            return folder, True
        if place.is_symlink() or not place.is_dir():
            continue
        if _are_cases(root, folder):
            return folder, False
    return f"{HIDDEN_CASES}/{name}-healbot", True


def _are_cases(root: Path, folder: str) -> bool:
    files = of_folder(root).files
    reader = AgentSettings.model_validate(
        {"dir": ".", "name": "a", "cases": folder, "run": {"command": "a"}}
    )
    try:
        wanted = match_paths(files.paths, [folder])
        return bool(read_cases({path: files.read(path) for path in wanted}, reader, files))
    except (HealbotError, OSError):
        return False


def _no_agent(root: Path, found: Survey) -> InputError:
    skills = skills_in(root)
    seen = f" (skills are in {skills[0]}, but they alone are no agent)" if skills else ""
    noted = " ".join(("", *found.notes))
    return InputError(
        f"No instructions.md, AGENTS.md or CLAUDE.md was found in this repository{seen}.{noted}",
        "Put your agent's instructions into a file of such a name, then run healbot init again.",
    )


def _say(tree: Worktree, plan: Plan, *, dry_run: bool, as_document: bool) -> None:
    steps = _next(tree, plan)
    if as_document:
        verb = "would-write" if dry_run else "wrote"
        files = [{"path": path, "action": verb} for path in plan.files]
        files += [{"path": path, "action": "kept"} for path in plan.kept]
        agents = [
            {**one._asdict(), "cases": list(one.cases), "command": one.command or None}
            for one in plan.agents
        ]
        as_json({"agents": agents, "files": files, "notes": list(plan.notes), "next": list(steps)})
        return
    for one in plan.agents:
        how = f"run by {one.command!r}" if one.command else "but no program that runs it"
        with_skills = (tree.root / one.folder / one.skills).is_dir()
        skills = f" and {one.skills}" if with_skills else ""
        print(f"Found {one.instructions}{skills} in {one.folder}, {how}.")
        for path in one.cases[1:]:
            print(f"Found {path}; its tests are read live.")
    for path in plan.files:
        print(f"{'would write' if dry_run else 'wrote '} {path}")
    for path in plan.kept:
        print(f"kept   {path} (cases are there already)")
    for note in plan.notes:
        print(f"note: {note}")
    print("\nNext:\n" + "\n".join(f"  {place}. {step}" for place, step in enumerate(steps, 1)))


def _next(tree: Worktree, plan: Plan) -> tuple[str, ...]:
    unknown = [one.name for one in plan.agents if not one.command]
    steps = []
    if unknown:
        steps.append(
            f"Fill in run.command of {', '.join(unknown)} in {SETTINGS_PATH}: no program was found "
            "that runs the agent."
        )
    starters = any(path.endswith(f"/{STARTER_FILE}") for path in plan.files)
    yours = f", and make the cases in {STARTER_FILE} yours" if starters else ""
    steps.append(f"Look at {SETTINGS_PATH}{yours}.")
    first = " This will be the first commit." if tree.unborn else ""
    steps.append(f"Commit them (git add, git commit): a cycle reads what is committed.{first}")
    steps.append("healbot doctor, healbot cases run, then healbot cycle.")
    return tuple(steps)
