"""Making, copying and removing folders that an agent may have touched.

Knows the file system and nothing of what lies in it. Symlinks are never followed; no hard links are
made, since an agent could write through them.
"""

import os
import shutil
import stat
import subprocess
from pathlib import Path

from healbot.errors import InputError

PRIVATE = 0o700
FEW_FILES = 60
"""Up to so many files a copy within this process is quicker than starting a program."""


def private(path: Path) -> Path:
    """Make a folder (and those above it) that only its owner may enter; returns it."""
    path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    return path


def _unlock(path: Path) -> None:
    """Give ourselves back every folder below that somebody closed."""
    for folder, names, _ in os.walk(path):
        for name in names:
            inner = os.path.join(folder, name)  # noqa: PTH118 - os.walk speaks strings
            if not os.path.islink(inner):  # noqa: PTH114
                os.chmod(inner, PRIVATE)  # noqa: PTH101


def remove(path: Path) -> bool:
    """Remove a folder, even where folders in it were made unreadable or are nested without end.

    Returns whether it is gone; what the system won't let go stays for a later sweep.
    """
    for attempt in (_remove_plainly, _remove_unlocked, _remove_outside):
        attempt(path)
        if not os.path.lexists(path):
            return True
    return False


def _remove_plainly(path: Path) -> None:
    try:
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
        else:
            shutil.rmtree(path, ignore_errors=True)
    except (OSError, RecursionError):
        return


def _remove_unlocked(path: Path) -> None:
    try:
        path.chmod(PRIVATE)
        _unlock(path)
    except OSError:
        return
    _remove_plainly(path)


def _remove_outside(path: Path) -> None:
    """Let the system's own program have a go: it can handle names longer than a path may be."""
    subprocess.run(
        ["rm", "-rf", "--", str(path)], check=False, capture_output=True, stdin=subprocess.DEVNULL
    )


def _copy_entry(source: os.DirEntry[str], target: str) -> None:
    mode = source.stat(follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(source.path), target)  # noqa: PTH115, PTH211 - strings, in the hot path
    elif stat.S_ISDIR(mode):
        _copy_folder(source.path, target)
    elif stat.S_ISREG(mode):
        shutil.copy2(source.path, target, follow_symlinks=False)


def _copy_folder(source: str, target: str) -> None:
    os.mkdir(target, PRIVATE)  # noqa: PTH102
    with os.scandir(source) as entries:
        for entry in entries:
            _copy_entry(entry, os.path.join(target, entry.name))  # noqa: PTH118
    shutil.copystat(source, target)


def copy(source: Path, target: Path, *, files: int) -> None:
    """Copy a folder with its times and modes to a place that does not exist yet.

    Shares blocks with the source where the file system can (reflink). Pipes and sockets may be
    left out.

    ``files`` says about how many files it holds.

    Raises:
        InputError: It can't be copied; says why.
    """
    if files > FEW_FILES and _copy_outside(source, target):
        return
    try:
        _copy_folder(str(source), str(target))
    except (OSError, RecursionError) as error:
        raise InputError(
            f"a workspace could not be copied from {source}: {error}",
            "Make room on the disk, or point the cache folder elsewhere.",
        ) from error


def _copy_outside(source: Path, target: Path) -> bool:
    """Copy with the system's own program, which is quick for many files; False: it can't."""
    argv = ["cp", "-a", "--reflink=auto", "--", str(source), str(target)]
    try:
        done = subprocess.run(argv, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    except OSError:
        return False
    if done.returncode != 0:
        remove(target)
    return done.returncode == 0
