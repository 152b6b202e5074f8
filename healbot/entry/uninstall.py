"""``healbot uninstall``: takes away every trace that healbot left, and names what it can't.

Knows the order: what others share first, the settings (which say what that is) after it, this
clone's own notes last; so a call that was cut off is finished by the next one.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from healbot.entry.belongings import belongings_of
from healbot.entry.clock import SystemClock
from healbot.entry.leftovers import in_use, workspaces_in
from healbot.entry.outside import workspaces_of
from healbot.entry.placing import read_note, remove_empty, take_away
from healbot.entry.printing import as_json
from healbot.entry.report_page import NAME as PAGE
from healbot.entry.traces import (
    Refs,
    agents_of,
    base_of,
    checked_out,
    emptied,
    raw_settings,
    refs_of,
    remote_of,
    variables_of,
    workflows_of,
)
from healbot.entry.worktree import Worktree, worktree_of
from healbot.errors import NotNowError
from healbot.forges.git import GitRepo
from healbot.runners import folders
from healbot.stores.permit import RefPermit

LEASE_MINUTES = 15.0
"""How long the removal itself may hold the leases."""
STATE = "healbot/state"


class Removal(NamedTuple):
    """What there is to remove.

    Attributes:
        shared: The remote's name and its refs; the name is empty without one.
        files: In the work tree, from its root.
        outside: Folders elsewhere on this machine.
        kept: A sentence for each thing of ours that stays.
        cannot: A sentence for each thing that only a person can remove.
        base: The base branch, which is never removed.
        changed: A sentence for each file that goes though a person had changed it.
    """

    remote: str
    shared: Refs
    here: Refs
    files: tuple[str, ...]
    outside: tuple[Path, ...]
    kept: tuple[str, ...]
    cannot: tuple[str, ...]
    base: str
    changed: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """True where nothing is left to remove."""
        return not (self.shared.gone or self.here.gone or self.files or self.outside)


class Place(NamedTuple):
    """Where to look: the work tree, its settings as plain data, and the remote's refs."""

    tree: Worktree
    settings: Mapping[str, object]
    shared: GitRepo | None


class Wishes(NamedTuple):
    """What the person asked for."""

    dry_run: bool = False
    cases: bool = False
    as_document: bool = False
    yes: bool = False


def uninstall(
    folder: Path, environment: Mapping[str, str], *, wishes: Wishes, agreed: Callable[[], bool]
) -> None:
    """Remove every trace, once ``agreed`` says yes.

    Raises:
        NotNowError: A cycle is under way.
        RefusedError: The remote can't be reached; nothing was removed.
    """
    tree = worktree_of(folder)
    settings = raw_settings(tree)
    name = remote_of(tree, settings)
    shared = GitRepo(folder, remote=name, environment=environment) if name else None
    if shared:
        shared.fetch()
    removal = _look(Place(tree, settings, shared), wishes)
    _require_idle(shared or tree.repo, tree)
    if not wishes.as_document:
        _announce(removal, dry_run=wishes.dry_run)
    if wishes.dry_run or removal.empty:
        _conclude(removal, wishes, done=False)
        return
    if not agreed():
        raise NotNowError("Nothing was removed.", "healbot uninstall --yes removes it.")
    _conclude(_remove(tree, removal, shared), wishes, done=True)


def _look(place: Place, wishes: Wishes) -> Removal:
    tree, settings, shared = place
    out = checked_out(tree.repo.private.parent)
    base = base_of(tree, settings)
    there = refs_of(shared, frozenset(), base=base) if shared else Refs((), ())
    here = refs_of(tree.repo, out, base=base)
    ours = belongings_of(tree, settings, cases=wishes.cases, yes=wishes.yes)
    kept = list(ours.kept)
    if (tree.root / PAGE).is_file():
        kept.append(f"{PAGE}, a page that healbot report wrote, is yours")
    outside = [one for one in (workspaces_of(tree.private), tree.private) if one.exists()]
    return Removal(
        (remote_of(tree, settings) or "") if shared else "",
        there,
        here,
        ours.files,
        tuple(outside),
        tuple(dict.fromkeys((*kept, *there.kept, *here.kept))),
        _beyond(place),
        base,
        ours.changed,
    )


def _beyond(place: Place) -> tuple[str, ...]:
    """Say what only a person can remove."""
    tree, settings, shared = place
    variables = ", ".join(dict.fromkeys(("HEALBOT_STOP", *variables_of(settings))))
    said = [
        "the required check healbot/canary, where branch protection or a ruleset asks for it",
        "labels on the forge (healbot)",
        f"secrets and variables on the forge or in your shell ({variables})",
    ]
    workflows = workflows_of(tree.root)
    if workflows:
        said.append(f"workflow files that call healbot: {', '.join(workflows)}")
    for ref in tree.repo.refs("refs/remotes/"):
        where, _, branch = ref.removeprefix("refs/remotes/").partition("/")
        if branch == STATE and not shared:
            said.append(f"{STATE} on {where}: git push {where} --delete {STATE}")
    said.append("Healbot-… lines in the messages of commits that were merged: they are history")
    said.append("what other clones hold: run healbot uninstall there as well")
    return tuple(said)


def _require_idle(repo: GitRepo, tree: Worktree) -> None:
    permit = RefPermit(repo, repo, SystemClock(), minutes=LEASE_MINUTES)
    for agent in agents_of(repo):
        held = permit.holder(agent)
        if held:
            raise NotNowError(
                f"A cycle of {agent!r} is under way ({held.holder}); nothing was removed.",
                "Wait for it or end it, then run this again.",
            )
    if any(in_use(place) for place in workspaces_in(workspaces_of(tree.private))):
        raise NotNowError(
            "Runs of an agent are under way here; nothing was removed.",
            "Wait for them or end them, then run this again.",
        )


def _remove(tree: Worktree, removal: Removal, shared: GitRepo | None) -> Removal:
    """Remove it and return what was really removed."""
    repo = shared or tree.repo
    permit = RefPermit(repo, repo, SystemClock(), minutes=LEASE_MINUTES)
    with ExitStack() as stack:
        for agent in agents_of(repo):  # nobody starts a cycle while its ground is taken away
            stack.callback(permit.release, permit.take(agent))
        there = refs_of(shared, frozenset(), base=removal.base) if shared else Refs((), ())
        if shared:
            shared.swap(there.gone)
        out = checked_out(tree.repo.private.parent)
        here = refs_of(tree.repo, out, base=removal.base)
        tree.repo.swap(here.gone)
    for place in removal.outside:
        if place != tree.private:
            folders.remove(place)
            _drop(place.parent)
    files = _remove_files(tree, removal.files)
    folders.remove(tree.private)
    outside = tuple(one for one in removal.outside if not one.exists())
    return removal._replace(shared=there, here=here, files=files, outside=outside)


def _remove_files(tree: Worktree, paths: tuple[str, ...]) -> tuple[str, ...]:
    before = read_note(tree.private).before
    empty = emptied(tree, paths)
    gone = tuple(path for path in paths if take_away(tree.root, path, before.get(path)))
    remove_empty(tree.root, empty)
    return gone


def _drop(place: Path) -> None:
    """Remove the folder of all clones' workspaces where this was the last one."""
    try:
        place.rmdir()
    except OSError:
        return


def _announce(removal: Removal, *, dry_run: bool) -> None:
    if removal.empty:
        print("There is nothing of healbot's left here to remove.")
        return
    _list("Would remove:" if dry_run else "To be removed:", removal)


def _list(title: str, removal: Removal) -> None:
    print(title)
    for path in removal.files:
        print(f"  {path}")
    for where, refs in (("", removal.here), (removal.remote, removal.shared)):
        for one in refs.gone:
            print(f"  {one.ref}{f' on {where}' if where else ''}")
    for place in removal.outside:
        print(f"  {place}/")
    for line in removal.changed:
        print(f"  {line}")


def _conclude(removal: Removal, wishes: Wishes, *, done: bool) -> None:
    if wishes.as_document:
        as_json(
            {
                "done": done,
                "files": list(removal.files),
                "refs": [one.ref for one in removal.here.gone],
                "remote": removal.remote or None,
                "remote_refs": [one.ref for one in removal.shared.gone],
                "folders": [str(one) for one in removal.outside],
                "changed": list(removal.changed),
                "kept": list(removal.kept),
                "cannot": list(removal.cannot),
            }
        )
        return
    if done:
        _list("\nRemoved:", removal)
    for line in removal.kept:
        print(f"kept: {line}")
    print("Only you can remove:")
    for line in removal.cannot:
        print(f"  - {line}")
    if done:
        print("\nDone. Merged rules, lessons and your own cases stay.")
        if removal.files:
            print(
                "Commit the removal, where the files were committed: until then a cycle still "
                "reads the last commit's settings."
            )
