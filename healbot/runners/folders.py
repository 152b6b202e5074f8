"""Making, copying and removing folders that an agent may have touched.

Knows the file system and nothing of what lies in it. Symlinks are never followed; no hard links are
made, since an agent could write through them.
"""

import os
import stat
import subprocess
from pathlib import Path

from healbot.errors import InputError

PRIVATE = 0o700
SMALL_BYTES = 32_768
CHUNK_BYTES = 1_048_576
FEW_FILES = 150
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


def _clear(folder: str) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _clear(entry.path)
            else:
                os.unlink(entry.path)  # noqa: PTH108 - strings, in the hot path
    os.rmdir(folder)  # noqa: PTH106


def _remove_plainly(path: Path) -> None:
    try:
        if path.is_symlink():
            path.unlink()
            return
        _clear(str(path))
    except (OSError, RecursionError):
        return


def _remove_unlocked(path: Path) -> None:
    try:
        path.chmod(PRIVATE)
        _unlock(path)
    except (OSError, RecursionError):  # too deep for us: the system's own program is left
        return
    _remove_plainly(path)


def _remove_outside(path: Path) -> None:
    """Let the system's own program have a go: it can handle names longer than a path may be."""
    subprocess.run(
        ["rm", "-rf", "--", str(path)], check=False, capture_output=True, stdin=subprocess.DEVNULL
    )


def _copy_entry(source: os.DirEntry[str], target: str) -> None:
    seen = source.stat(follow_symlinks=False)
    if stat.S_ISLNK(seen.st_mode):
        os.symlink(os.readlink(source.path), target)  # noqa: PTH115, PTH211 - strings, in the hot path
        os.utime(target, ns=(seen.st_atime_ns, seen.st_mtime_ns), follow_symlinks=False)
    elif stat.S_ISDIR(seen.st_mode):
        _copy_folder(source.path, target)
    elif stat.S_ISREG(seen.st_mode):
        _copy_file(source.path, target, seen)


def _copy_file(source: str, target: str, seen: os.stat_result) -> None:
    """Copy one file with mode and time; the kernel shares its blocks where it can."""
    reader = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    writer = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        _copy_content(reader, writer, seen.st_size)
        os.fchmod(writer, stat.S_IMODE(seen.st_mode))
        os.utime(writer, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    finally:
        os.close(reader)
        os.close(writer)


def _copy_content(reader: int, writer: int, size: int) -> None:
    if size > SMALL_BYTES and hasattr(os, "copy_file_range"):
        try:
            while os.copy_file_range(reader, writer, size):
                pass
        except OSError:  # two file systems, or an old kernel: go on by hand from where it stopped
            pass
    while data := os.read(reader, CHUNK_BYTES):
        view = memoryview(data)
        while view:
            view = view[os.write(writer, view) :]


def _copy_folder(source: str, target: str) -> None:
    os.mkdir(target, PRIVATE)  # noqa: PTH102
    with os.scandir(source) as entries:
        for entry in entries:
            _copy_entry(entry, f"{target}/{entry.name}")
    seen = os.stat(source)  # noqa: PTH116
    os.chmod(target, stat.S_IMODE(seen.st_mode))  # noqa: PTH101
    os.utime(target, ns=(seen.st_atime_ns, seen.st_mtime_ns))


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
