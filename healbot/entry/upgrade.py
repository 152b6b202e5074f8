"""``healbot upgrade``: brings what an older healbot wrote up to date, and mends what is missing.

Knows which files healbot writes into a repository; one that a person changed is named, not touched.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from healbot import __version__
from healbot.entry.clock import SystemClock
from healbot.entry.leftovers import Mend, leftovers
from healbot.entry.placing import Placed, place_all
from healbot.entry.printing import as_json
from healbot.entry.starter import starter_cases
from healbot.entry.traces import raw_settings, remote_of, starter_files
from healbot.entry.worktree import Worktree, worktree_of
from healbot.errors import InputError
from healbot.forges.git import GitRepo
from healbot.ports import Clock
from healbot.records.settings import SETTINGS_PATH, SETTINGS_VERSION
from healbot.rules.reading import read_settings
from healbot.stores.state import README, README_PATH, StateBranch


def bring_up(
    folder: Path, environment: Mapping[str, str], *, dry_run: bool, as_document: bool
) -> None:
    """Mend what there is to mend, and say so.

    Raises:
        InputError: There is no settings file, or it is wrong.
    """
    tree = worktree_of(folder)
    place = tree.root / SETTINGS_PATH
    if not place.is_file():
        raise InputError(f"There is no {SETTINGS_PATH} here.", "Run healbot init to write one.")
    read_settings(place.read_bytes(), SETTINGS_PATH)
    name = remote_of(tree, raw_settings(tree))
    repo = GitRepo(folder, remote=name, environment=environment) if name else tree.repo
    repo.fetch()
    clock = SystemClock()
    mends = [*_files(tree), *_state(repo, clock), *leftovers(repo, clock, shared=bool(name))]
    if not dry_run:
        for mend in mends:
            mend.do()
    _say(mends, _untouched(tree), dry_run=dry_run, as_document=as_document)


def _files(tree: Worktree) -> Iterator[Mend]:
    """Yield the starter cases that an older version wrote and nobody changed."""
    now = starter_cases().encode()
    for path, untouched in starter_files(tree.root, {}).items():
        before = (tree.root / path).read_bytes()
        if untouched and before != now:
            files = {path: Placed(now, before)}
            yield Mend(f"{path}, as an older version wrote it",
                       partial(place_all, tree.root, files))  # fmt: skip


def _untouched(tree: Worktree) -> list[str]:
    return [
        path for path, untouched in starter_files(tree.root, {}).items() if not untouched
    ]  # a person's work


def _state(repo: GitRepo, clock: Clock) -> Iterator[Mend]:
    """Yield the state branch's page that says what it is, where it is missing or of old."""
    store = StateBranch(repo, repo)
    state = store.load()
    if state.sha and store.read(state, README_PATH) != README:
        yield Mend(
            f"{README_PATH} of the state branch",
            lambda: store.save(
                state, {README_PATH: README}, message="Say what this branch is", at=clock.now()
            ),
        )


def _say(mends: list[Mend], kept: list[str], *, dry_run: bool, as_document: bool) -> None:
    done = Counter(mend.text for mend in mends)
    if as_document:
        found = [{"what": text, "times": times} for text, times in done.items()]
        as_json({"version": __version__, "mended": found, "kept": kept, "dry_run": dry_run})
        return
    for text, times in done.items():
        often = f" ({times} times)" if times > 1 else ""
        print(f"{'would mend' if dry_run else 'mended'} {text}{often}")
    for path in kept:
        print(f"kept   {path} (you changed it)")
    if not mends:
        print(
            f"All is up to date: settings version {SETTINGS_VERSION}, state and templates as "
            f"healbot {__version__} writes them."
        )
