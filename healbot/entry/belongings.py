"""Which files of a work tree are healbot's to take away, and why each other one stays.

Knows the files, init's note and the last commit; changes nothing.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from healbot.entry.placing import linked, read_note
from healbot.entry.traces import case_places, starter_files
from healbot.entry.worktree import Worktree
from healbot.records.record import digest_bytes
from healbot.records.settings import SETTINGS_PATH


class Belongings(NamedTuple):
    """Paths to take away, and a sentence for each that stays or that a person had changed."""

    files: tuple[str, ...]
    kept: tuple[str, ...]
    changed: tuple[str, ...] = ()


def belongings_of(
    tree: Worktree, settings: Mapping[str, object], *, cases: bool, yes: bool
) -> Belongings:
    """Return the starter cases and the settings; ``yes`` gives uncommitted changes up as well."""
    starters, ours = _starters(tree, settings, cases=cases), _settings(tree, yes=yes)
    return Belongings((*starters.files, *ours.files), (*starters.kept, *ours.kept), ours.changed)


def _starters(tree: Worktree, settings: Mapping[str, object], *, cases: bool) -> Belongings:
    places = {*case_places(settings), *read_note(tree.private).folders}
    files, kept = [], []
    for path, untouched in starter_files(tree.root, settings).items():
        if not any(_names(one, path) for one in places) and (places or not cases):
            continue  # a person's copy; asked for with --cases once nothing names a place any more
        if untouched or cases:
            files.append(path)
        else:
            kept.append(
                f"{path} was changed since init wrote it: it is yours (--cases removes it too)"
            )
    return Belongings(tuple(files), tuple(kept))


def _names(place: str, path: str) -> bool:
    """Whether a folder, file or glob of cases names a path."""
    return path == place or path.rpartition("/")[0] == place or fnmatchcase(path, place)


def _settings(tree: Worktree, *, yes: bool) -> Belongings:
    """Say what becomes of the settings: nothing that git does not have is lost unasked."""
    link = linked(tree.root, SETTINGS_PATH)
    if link:
        return Belongings((), (f"{link} is a symlink: it and what it leads to are left alone",))
    place = tree.root / SETTINGS_PATH
    if not place.is_file():
        return Belongings((), ())
    content = place.read_bytes()
    head = tree.repo.resolve("HEAD")
    there = tree.repo.tree(head, ".github").get(SETTINGS_PATH) if head else None
    wrote = read_note(tree.private).wrote.get(SETTINGS_PATH)
    if wrote == digest_bytes(content):
        return Belongings((SETTINGS_PATH,), ())
    if there and tree.repo.blob(there.blob) == content:
        said = (f"{SETTINGS_PATH} had been changed since init wrote it: the last commit has it",)
        return Belongings((SETTINGS_PATH,), (), said if wrote else ())
    if yes:
        said = (f"{SETTINGS_PATH} had changes that were never committed: they go with it",)
        return Belongings((SETTINGS_PATH,), (), said)
    return Belongings(
        (), (f"{SETTINGS_PATH} has changes that were never committed (--yes removes it)",)
    )
