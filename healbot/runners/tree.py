"""A commit's files as a folder: what belongs in an agent's workspace and what is left out.

Knows a Repo's trees and blobs and the file system; starts no program. Nothing that it writes can
land outside the folder, and no symlink that it makes leads out of it.
"""

import os
import posixpath
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from healbot.errors import InputError
from healbot.ports import Repo, TreeFile
from healbot.rules import globs

PLAIN, EXECUTABLE, SYMLINK = "100644", "100755", "120000"
MODES = {PLAIN: 0o644, "100664": 0o644, EXECUTABLE: 0o755}
"""How git's modes become modes; submodules and whatever else there is are left out."""
BASE_TIME = 1_000_000_000
"""Every file of a commit gets this instant (seconds since 1970), so that any write shows."""
OVERLAY_TIME = BASE_TIME + 86_400
"""What is laid on top gets another, so that compiled files of what it covers are stale."""


def covered(path: str, patterns: Iterable[str]) -> bool:
    """Say whether a path matches one of the globs, or lies in a folder that does."""
    parts = path.split("/")
    places = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return any(globs.matches(place, pattern) for pattern in patterns for place in places)


def _leads_inside(path: str, target: str) -> bool:
    """Say whether a relative symlink's target stays below the root, by its letters."""
    if not target or "\0" in target or target.startswith("/"):
        return False
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return place != ".." and not place.startswith("../")


def below(root: Path, path: str) -> Path:
    """Return where a relative path lies below a folder, its parent folders made.

    Raises:
        InputError: It is no relative path, climbs out, or passes through a symlink or a file.
    """
    parts = path.split("/")
    if not path or any(part in ("", ".", "..") for part in parts) or "\0" in path:
        raise InputError(
            f"the path {path!r} does not stay inside the workspace",
            "Write it relative to the agent's folder, without `..` and without a leading slash.",
        )
    folder = root
    for part in parts[:-1]:
        folder = folder / part
        try:
            folder_is_there = stat.S_ISDIR(folder.lstat().st_mode)
        except FileNotFoundError:
            folder.mkdir()
            continue
        if not folder_is_there:
            raise InputError(
                f"the path {path!r} passes through {folder.name!r}, which is no folder",
                "Choose a path that passes through real folders only.",
            )
    return folder / parts[-1]


def lay(root: Path, files: Mapping[str, tuple[str, bytes]], *, time: int) -> None:
    """Write files (path to git mode and content) below a folder, over what is there.

    Symlinks come last, and those that lead out of the folder after all are removed again.

    Raises:
        InputError: A path does not stay inside, or names a folder that is there.
    """
    links = sorted(path for path, (mode, _) in files.items() if mode == SYMLINK)
    plain = sorted(path for path, (mode, _) in files.items() if mode in MODES)
    for path in (*plain, *links):
        place = _cleared(root, path)
        mode, content = files[path]
        if mode == SYMLINK:
            place.symlink_to(os.fsdecode(content))
        else:
            place.write_bytes(content)
            place.chmod(MODES[mode])
        os.utime(place, (time, time), follow_symlinks=False)
    if links:
        _drop_escapes(root, links)


def _cleared(root: Path, path: str) -> Path:
    place = below(root, path)
    if place.is_dir() and not place.is_symlink():
        raise InputError(
            f"the path {path!r} is a folder in this repository", "Choose a path that names a file."
        )
    place.unlink(missing_ok=True)
    return place


def _drop_escapes(root: Path, links: Sequence[str]) -> None:
    """Remove symlinks that lead out through other symlinks, which their letters don't show."""
    real = root.resolve()
    for path in links:
        place = root / path
        if not Path(os.path.realpath(place)).is_relative_to(real):
            place.unlink(missing_ok=True)


def read(repo: Repo, files: Mapping[str, TreeFile]) -> dict[str, tuple[str, bytes]]:
    """Read the blobs of a tree's files; submodules and symlinks that lead out are left out."""
    found: dict[str, tuple[str, bytes]] = {}
    for path, file in files.items():
        if file.mode not in MODES and file.mode != SYMLINK:
            continue
        content = repo.blob(file.blob)
        if file.mode != SYMLINK or _leads_inside(path, os.fsdecode(content)):
            found[path] = (file.mode, content)
    return found


def materialise(repo: Repo, sha: str, root: Path, *, left_out: Sequence[str]) -> None:
    """Write a commit's files below an existing, empty folder.

    ``left_out`` holds globs from the repository's root; a folder that one covers goes with all
    that lies in it.
    """
    tree = {path: file for path, file in repo.tree(sha).items() if not covered(path, left_out)}
    lay(root, read(repo, tree), time=BASE_TIME)
