"""Writing files into a work tree: all of them or none, never over a file, never through a link.

Knows the file system only. What a set-up wrote and made is kept in a note in ``.git/healbot``, so
that taking it away again leaves the tree as it was, empty folders included.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from healbot.errors import InputError
from healbot.records.record import Record

NOTE = "init.json"


class SetUp(Record):
    """What ``init`` did in this clone.

    Attributes:
        folders: The folders that it made, from the root, outer ones first.
        before: What a file held that it wrote below, by path.
        wrote: The digest of what it wrote, by path.
    """

    folders: tuple[str, ...] = ()
    before: Mapping[str, str] = {}
    wrote: Mapping[str, str] = {}


class Placed(NamedTuple):
    """One file to write, and what it may replace: exactly these bytes, or nothing where None."""

    content: bytes
    replaces: bytes | None = None


def linked(root: Path, path: str) -> str:
    """Return the first part of a path that is a symlink, from the root; empty where none is."""
    parts = Path(path).parts
    places = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
    return next((one for one in places if (root / one).is_symlink()), "")


def take_away(root: Path, path: str, before: str | None = None) -> bool:
    """Remove a file, or put back at once what it held before; says whether it did.

    Touches nothing through a link.
    """
    place = root / path
    if linked(root, path) or not place.is_file():
        return False
    if before is None:
        place.unlink()
    else:
        _swap_in(place, before.encode())
    return True


def require_plain(root: Path, path: str) -> None:
    """Refuse a path that a link leads elsewhere, or that a file stands in the way of.

    Raises:
        InputError: Names the part.
    """
    place = root
    for part in Path(path).parts:
        place /= part
        here = place.relative_to(root)
        if place.is_symlink():
            raise InputError(
                f"{here} is a symlink, and init writes through none; nothing was written.",
                "Put a plain folder or file in its place.",
            )
        if place.exists() and place != root / path and not place.is_dir():
            raise InputError(
                f"{here} is a file where a folder has to be; nothing was written.",
                "Move it out of the way.",
            )


def missing_folders(root: Path, paths: Mapping[str, object]) -> tuple[str, ...]:
    """Return the folders that have to be made for some files, outer ones first."""
    wanted = {parent for path in paths for parent in Path(path).parents if parent != Path()}
    gone = [one for one in wanted if not (root / one).exists()]
    return tuple(one.as_posix() for one in sorted(gone, key=lambda one: len(one.parts)))


def place_all(root: Path, files: Mapping[str, Placed]) -> None:
    """Write files; where one can't be written none is there afterwards.

    Raises:
        InputError: A path leads through a link, or somebody wrote the file meanwhile.
        OSError: The system refuses; everything is as before.
    """
    for path in files:
        require_plain(root, path)
    made = missing_folders(root, files)
    done: list[tuple[Path, Placed]] = []
    try:
        for folder in made:
            (root / folder).mkdir()
        for path, one in files.items():
            _place(root / path, one)
            done.append((root / path, one))
    except BaseException:
        for place, one in done:
            _take_back(place, one)
        remove_empty(root, made)
        raise


def remove_empty(root: Path, folders: tuple[str, ...]) -> None:
    """Remove those of some folders that are empty, inner ones first."""
    for folder in sorted(folders, key=lambda one: one.count("/"), reverse=True):
        if not linked(root, folder):
            with suppress(OSError):
                (root / folder).rmdir()


def write_note(private: Path, note: SetUp) -> None:
    """Keep what an init did; what an earlier one noted stays."""
    before = read_note(private)
    merged = SetUp(
        folders=tuple(dict.fromkeys((*before.folders, *note.folders))),
        before={**note.before, **before.before},
        wrote={**before.wrote, **note.wrote},
    )
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = json.dumps(merged.model_dump(mode="json"), indent=1).encode()
    _swap_in(private / NOTE, content)


def read_note(private: Path) -> SetUp:
    """Return what ``init`` noted in this clone; an empty note where there is none."""
    try:
        return SetUp.model_validate_json((private / NOTE).read_bytes())
    except (OSError, ValueError):
        return SetUp()


def _place(place: Path, one: Placed) -> None:
    if one.replaces is None:
        _link_in(place, one.content)
        return
    if place.read_bytes() != one.replaces:
        raise _meanwhile(place)
    _swap_in(place, one.content)


def _link_in(place: Path, content: bytes) -> None:
    """Put a new file there at once; a hard link, unlike a rename, never replaces one."""
    temp = _temporary(place, content)
    try:
        os.link(temp, place)
    except FileExistsError as error:
        raise _meanwhile(place) from error
    except OSError:  # a file system without hard links
        with place.open("xb") as file:
            file.write(content)
    finally:
        temp.unlink(missing_ok=True)


def _swap_in(place: Path, content: bytes) -> None:
    temp = _temporary(place, content)
    try:
        temp.replace(place)
    finally:
        temp.unlink(missing_ok=True)


def _temporary(place: Path, content: bytes) -> Path:
    handle, name = tempfile.mkstemp(prefix=".healbot-", dir=place.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    mask = os.umask(0)
    os.umask(mask)
    Path(name).chmod(0o666 & ~mask)
    return Path(name)


def _take_back(place: Path, one: Placed) -> None:
    with suppress(OSError):
        if one.replaces is None:
            place.unlink(missing_ok=True)
        else:
            _swap_in(place, one.replaces)


def _meanwhile(place: Path) -> InputError:
    return InputError(
        f"{place.name} was written by somebody else meanwhile; nothing was written.",
        "Run healbot init again.",
    )
