"""Files that a setup made and that name the folder they were made in.

A virtualenv's scripts, its editable installs and many caches hold absolute paths. In a copy they
would lead back to where they were made, so that an agent would run, or edit, the wrong files; they
are rewritten to name the copy. Knows the file system only.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from healbot.runners.tree import OVERLAY_TIME

MAX_BYTES = 1_000_000
"""Larger files are data, not scripts."""


def _names(place: Path, origin: bytes) -> bool:
    """Say whether a text file or a symlink names a folder."""
    seen = place.lstat()
    if stat.S_ISLNK(seen.st_mode):
        return origin in os.fsencode(place.readlink())
    if not stat.S_ISREG(seen.st_mode) or seen.st_size > MAX_BYTES:
        return False
    content = place.read_bytes()
    return origin in content and b"\0" not in content


def find(root: Path, paths: Iterable[str], origin: Path) -> list[str]:
    """Return those of the paths below ``root`` that name ``origin``; unreadable ones don't."""
    name = os.fsencode(origin)
    found = []
    for path in sorted(paths):
        try:
            if _names(root / path, name):
                found.append(path)
        except OSError:
            continue
    return found


def apply(root: Path, paths: Sequence[str], origin: Path) -> None:
    """Rewrite files and symlinks below ``root`` so that they name it in place of ``origin``."""
    before, after = os.fsencode(origin), os.fsencode(root)
    for path in paths:
        place = root / path
        if place.is_symlink():
            target = os.fsencode(place.readlink()).replace(before, after)
            place.unlink()
            place.symlink_to(os.fsdecode(target))
        else:
            mode = stat.S_IMODE(place.stat().st_mode)
            content = place.read_bytes().replace(before, after)
            place.unlink()
            place.write_bytes(content)
            place.chmod(mode)
        os.utime(place, (OVERLAY_TIME, OVERLAY_TIME), follow_symlinks=False)
