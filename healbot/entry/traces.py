"""What healbot has left in a clone: refs, branches, files, folders outside of the work tree.

Knows where each kind of state lives, and reads it even where the settings are broken or gone;
changes nothing.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from healbot.entry.placing import read_note
from healbot.entry.starter import STARTER_FILE, as_written, starter_cases
from healbot.entry.worktree import Worktree
from healbot.errors import HealbotError
from healbot.forges.git import MIRROR, GitRepo
from healbot.ports import Swap
from healbot.records.ledger import PullOpened
from healbot.records.settings import SETTINGS_PATH
from healbot.rules.chain import read_chain
from healbot.rules.yamls import parse_yaml
from healbot.stores.permit import LEASE_PREFIX
from healbot.stores.state import STATE_REF

OURS = "refs/healbot/"
HEADS = "refs/heads/"
BRANCHES = "healbot/"
WORKFLOWS = ".github/workflows"
CASES_FOLDERS = ("cases", ".healbot")
"""Parts of a path that starter cases are written below."""


class Refs(NamedTuple):
    """Refs of ours in one place: what to delete, and a sentence for each that has to stay."""

    gone: tuple[Swap, ...]
    kept: tuple[str, ...]


def raw_settings(tree: Worktree) -> Mapping[str, object]:
    """Return the settings as plain data, however wrong; of the last commit where the file is gone.

    Empty where there is nothing that can be read.
    """
    for content in _settings_texts(tree):
        try:
            data = parse_yaml(content, SETTINGS_PATH).data
        except HealbotError:
            continue
        if isinstance(data, dict):
            return data
    return {}


def remote_of(tree: Worktree, settings: Mapping[str, object]) -> str | None:
    """Return the remote that shares the state, where one does and this clone still has it."""
    forge = settings.get("forge")
    named = forge.get("remote") if isinstance(forge, dict) else None
    known = tree.repo.remotes()
    if isinstance(named, str):
        return named if named in known else None
    mirrored = tree.repo.refs(MIRROR)
    return known[0] if mirrored and not settings and len(known) == 1 else None


def agents_of(repo: GitRepo) -> tuple[str, ...]:
    """Return the agents that have a ledger or a lease."""
    sha = repo.resolve(STATE_REF)
    paths = repo.tree(sha) if sha else {}
    names = {path.split("/")[1] for path in paths if path.startswith("agents/")}
    names |= {ref.removeprefix(LEASE_PREFIX) for ref in repo.refs(LEASE_PREFIX)}
    return tuple(sorted(names))


def base_of(tree: Worktree, settings: Mapping[str, object]) -> str:
    """Return the short name of the base branch; empty where nothing names one."""
    forge = settings.get("forge")
    named = forge.get("base") if isinstance(forge, dict) else None
    return named if isinstance(named, str) else tree.branch or ""


def refs_of(repo: GitRepo, checked_out: frozenset[str], *, base: str) -> Refs:
    """Return the refs of ours that a repository, or the remote that it reads, holds.

    A branch goes only where it stands at a commit that healbot made; with a person's own commits on
    it, or checked out, it stays. Outside of ``healbot/`` only a whole ledger's word counts, for
    that branch at that commit; ``base`` is never ours.
    """
    ours = dict(repo.refs(OURS))
    state = repo.resolve(STATE_REF)
    opened = _opened(repo, state)
    known = {name for name, _ in opened}
    made = {sha for _, sha in opened}
    made |= {sha for ref, sha in ours.items() if ref.endswith("/head")}
    heads = {name: sha for name, sha in repo.refs(HEADS).items() if name != STATE_REF}
    kept = []
    if state:
        if STATE_REF in checked_out:
            kept.append("healbot/state is checked out: git switch to another branch first")
        else:
            ours[STATE_REF] = state
    for ref, sha in heads.items():
        name = ref.removeprefix(HEADS)
        mine = name.startswith(BRANCHES) and sha in made
        if name == base or (name not in known and not mine):
            continue
        if ref in checked_out:
            kept.append(f"{name} is checked out: git switch to another branch first")
        elif mine or (name, sha) in opened:
            ours[ref] = sha
        else:
            kept.append(f"{name} holds commits that are not healbot's")
    return Refs(tuple(Swap(ref, sha, None) for ref, sha in sorted(ours.items())), tuple(kept))


def checked_out(git: Path) -> frozenset[str]:
    """Return the branches that some work tree of a clone has checked out, as full refs."""
    places = [git / "HEAD", *git.glob("worktrees/*/HEAD")]
    texts = [place.read_text(errors="replace").strip() for place in places if place.is_file()]
    return frozenset(text.removeprefix("ref: ") for text in texts if text.startswith("ref: "))


def starter_files(root: Path, settings: Mapping[str, object]) -> dict[str, bool]:
    """Return the starter cases of a work tree by path: True where still as they were written."""
    first = starter_cases().split("\n", 1)[0].encode()
    named = case_places(settings)
    found = {}
    for path in _walk(root):
        folder, _, name = path.rpartition("/")
        if name != STARTER_FILE or not set(folder.split("/")) & set(CASES_FOLDERS):
            continue
        content = (root / path).read_bytes()
        if as_written(content):
            found[path] = True
        elif content.startswith(first) or folder in named:
            found[path] = False
    return found


def emptied(tree: Worktree, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders that may go with some files: those that init made, as far as known."""
    noted = read_note(tree.private).folders
    parents = {one.as_posix() for path in paths for one in Path(path).parents if one != Path()}
    return noted or tuple(parents)


def workflows_of(root: Path) -> tuple[str, ...]:
    """Return the workflow files that speak of healbot."""
    places = [*root.glob(f"{WORKFLOWS}/*.yml"), *root.glob(f"{WORKFLOWS}/*.yaml")]
    return tuple(
        place.relative_to(root).as_posix()
        for place in sorted(places)
        if place.is_file() and b"healbot" in place.read_bytes()
    )


def variables_of(settings: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of secrets and variables that the settings ask for."""
    found: set[str] = set()

    def look(value: object, key: str = "") -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                look(inner, str(name))
        elif isinstance(value, list):
            for inner in value:
                look(inner, key)
        elif isinstance(value, str) and (key == "env" or key.endswith("_env")):
            found.add(value)

    look(dict(settings))
    return tuple(sorted(found))


def _settings_texts(tree: Worktree) -> Iterator[bytes]:
    place = tree.root / SETTINGS_PATH
    if place.is_file():
        yield place.read_bytes()
    head = tree.repo.resolve("HEAD")
    file = tree.repo.tree(head, SETTINGS_PATH).get(SETTINGS_PATH) if head else None
    if file:
        yield tree.repo.blob(file.blob)


def _opened(repo: GitRepo, state: str | None) -> frozenset[tuple[str, str]]:
    """Return the branches, with their heads, of the pull requests that whole ledgers record."""
    tree = repo.tree(state) if state else {}
    segments: dict[str, dict[str, bytes]] = {}
    for path, file in tree.items():
        if path.startswith("agents/") and "/audit/" in path:
            segments.setdefault(path.split("/")[1], {})[path] = repo.blob(file.blob)
    chains = [read_chain(one) for one in segments.values()]
    bodies = [entry.body for one in chains if not one.broken for entry in one.entries]
    opened = [one for one in bodies if isinstance(one, PullOpened)]
    return frozenset((one.branch, one.head_sha) for one in opened)


def case_places(settings: Mapping[str, object]) -> set[str]:
    """Return what the settings' ``cases`` name: folders, files or globs, from the root."""
    agents = settings.get("agents")
    entries = [one for one in agents if isinstance(one, dict)] if isinstance(agents, list) else []
    named: list[object] = []
    for entry in entries:
        cases = entry.get("cases")
        named += cases if isinstance(cases, list) else [cases]
    return {one.strip("/").removeprefix("./") for one in named if isinstance(one, str)}


def _walk(root: Path) -> Iterator[str]:
    for folder, below, names in os.walk(root):
        inside = Path(folder)
        below[:] = sorted(
            one
            for one in below
            if one not in (".git", "node_modules") and not (inside / one / ".git").exists()
        )
        for name in names:
            if not (inside / name).is_symlink():
                yield (inside / name).relative_to(root).as_posix()
