"""Where a new case may be written: a file of the work tree from which the agent's cases are read.

Knows paths; not what a case is.
"""

from pathlib import Path

from healbot.errors import InputError
from healbot.records.settings import AgentSettings
from healbot.rules.cases import is_case_file, match_paths
from healbot.rules.globs import is_glob, is_inside, tidy


def place_of(root: Path, path: str, agent: AgentSettings) -> tuple[str, Path]:
    """Return a case file's tidy path from the root, and its place.

    Raises:
        InputError: It is no YAML file of the repository's, no case of the agent's is read there,
            or something else stands there or in its way.
    """
    if not is_inside(path) or not is_case_file(path) or path.endswith((".json", ".jsonl")):
        raise InputError(
            f"{path!r} is no YAML file inside the repository.", "Name one, such as cases/new.yml."
        )
    wanted = tidy(path)
    if is_glob(path) or not path.isprintable() or not _is_read(wanted, agent):
        raise InputError(
            f"No case of {agent.name!r} is read from {path!r}.",
            f"Name a file in {', '.join(agent.cases)}.",
        )
    place = root / wanted
    folders = [root.joinpath(*place.relative_to(root).parts[:n]) for n in range(1, _depth(wanted))]
    if any(one.is_symlink() for one in (*folders, place)):
        raise InputError(
            f"{path} leads through a symlink, which is not followed.", "Name the file."
        )
    for one in (*folders, place):
        if one.exists() and one.is_dir() != (one != place):
            raise InputError(
                f"{one.relative_to(root)} is no {'file' if one == place else 'folder'}.",
                "Name another file with --file or --write.",
            )
        if one == place and one.exists() and not one.is_file():
            raise InputError(f"{path} is no regular file.", "Name another one.")
    return wanted, place


def text_at(place: Path, path: str) -> str:
    """Return what a case file holds already, or nothing.

    Raises:
        InputError: It can't be read, or is not UTF-8.
    """
    try:
        return place.read_text(encoding="utf-8") if place.exists() else ""
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8.", "Save it as UTF-8, or name another.") from None
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.", "Name another.") from error


def _is_read(path: str, agent: AgentSettings) -> bool:
    if ".git" in path.casefold().split("/"):
        return False
    for pattern in agent.cases:
        try:
            match_paths((path,), (pattern,))
        except InputError:
            continue
        return True
    return False


def _depth(path: str) -> int:
    return path.count("/") + 1
