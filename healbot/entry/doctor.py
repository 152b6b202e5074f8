"""``healbot doctor``: what is wrong, how bad it is, and how to fix it; a line each.

Knows which examinations there are and their order, and goes on after each: a broken settings file
does not hide a missing program.
"""

import json
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from healbot.entry.abilities import require_known
from healbot.entry.audits import of_state
from healbot.entry.findings import Finding, count, error, of_error, ok, warning
from healbot.entry.leftovers import leftovers
from healbot.entry.printing import as_json
from healbot.entry.sight import Sight, of_commit, of_folder
from healbot.entry.symptoms import Patient, examine
from healbot.entry.unlocking import open_shop
from healbot.entry.wiring import Shop
from healbot.entry.worktree import Worktree, worktree_of
from healbot.errors import Exit, HealbotError
from healbot.records.settings import SETTINGS_PATH, Settings
from healbot.rules.progress import replay
from healbot.rules.reading import read_settings
from healbot.rules.references import Ground, make_targets
from healbot.runners.process import LocalProcesses
from healbot.views.plain import cleaned

OLDEST_GIT = (2, 38)
"""``git merge-tree --write-tree`` came with it."""
HARMLESS = "This is a"
"""How a note begins that asks for nothing."""
STOPPING = "The branch has no commit"
"""How a note begins that nothing can be done about but to heed it."""
MAKEFILES = frozenset({"Makefile", "makefile", "GNUmakefile"})


def diagnose(folder: Path, environment: Mapping[str, str], *, live: bool, as_document: bool) -> int:
    """Print what was found; returns 1 where there is an error.

    Raises:
        InputError: There is no repository to look at.
    """
    tree = worktree_of(folder)
    findings = list(_findings(tree, folder, environment, live=live))
    errors, warnings = count(findings, "error"), count(findings, "warning")
    if as_document:
        rows = [one._asdict() for one in findings]
        as_json({"findings": rows, "errors": errors, "warnings": warnings})
    else:
        for one in findings:
            _print(one)
        print(f"\n{_verdict(errors, warnings)}")
    return Exit.NO if errors else Exit.DONE


def _findings(
    tree: Worktree, folder: Path, environment: Mapping[str, str], *, live: bool
) -> Iterator[Finding]:
    yield from _machine(tree, environment)
    yield from _repository(tree)
    settings, sight = None, None
    try:
        content, sight = _seen(tree)
        settings = read_settings(content, SETTINGS_PATH) if content is not None else None
    except HealbotError as problem:
        yield of_error("settings", problem)
    else:
        yield from _settings(tree, settings)
    if settings is None or sight is None:
        return
    ground = _ground(sight)
    for agent in settings.agents:
        yield from examine(Patient(agent, settings, sight, environment), ground)
    yield from _models(settings, environment)
    if _is_committed(tree):
        yield from _state(folder, environment, live=live)


def _machine(tree: Worktree, environment: Mapping[str, str]) -> Iterator[Finding]:
    version = tree.repo.version()
    shown = ".".join(map(str, version))
    if version < OLDEST_GIT:
        needed = ".".join(map(str, OLDEST_GIT))
        yield error(
            "machine", f"git {shown} is too old to merge", f"Install git {needed} or later."
        )
    else:
        yield ok("machine", f"git {shown}, Python {platform.python_version()}")
    if LocalProcesses(path=environment.get("PATH", "")).sandboxed:
        yield ok("machine", "bubblewrap works: agents see neither cases nor other processes")
    else:
        yield warning(
            "machine",
            "unsandboxed: bubblewrap is missing or not allowed to work, so an agent can read "
            "whatever you can, the cases' answers included",
            "Install bubblewrap (apt install bubblewrap), or run agents in a container.",
        )


def _repository(tree: Worktree) -> Iterator[Finding]:
    for note in tree.notes:
        if note.startswith(HARMLESS):
            yield ok("repository", note)
            continue
        text, _, fix = note.partition(": ")
        make = error if text.startswith(STOPPING) else warning
        yield make("repository", text, f"{fix[:1].upper()}{fix[1:]}")
    if not tree.notes:
        yield ok("repository", f"branch {tree.branch}, no tracked file is changed")


def _seen(tree: Worktree) -> tuple[bytes | None, Sight]:
    """Return the settings that count, and the files they speak of: the commit's where there are."""
    head = tree.repo.resolve("HEAD")
    if head:
        sight = of_commit(tree.repo, head)
        if SETTINGS_PATH in sight.modes:
            return sight.read(SETTINGS_PATH), sight
    place = tree.root / SETTINGS_PATH
    return (place.read_bytes() if place.is_file() else None), of_folder(tree.root)


def _is_committed(tree: Worktree) -> bool:
    head = tree.repo.resolve("HEAD")
    return head is not None and SETTINGS_PATH in tree.repo.tree(head, SETTINGS_PATH)


def _settings(tree: Worktree, settings: Settings | None) -> Iterator[Finding]:
    if settings is None:
        yield error("settings", f"there is no {SETTINGS_PATH}", "Run healbot init.")
        return
    if not _is_committed(tree):
        yield error(
            "settings",
            f"{SETTINGS_PATH} is not committed; a cycle reads what is committed",
            f"git add {SETTINGS_PATH} and the cases, then git commit.",
        )
    else:
        names = ", ".join(agent.name for agent in settings.agents)
        yield ok("settings", f"{SETTINGS_PATH} can be read: mode {settings.mode}, agents {names}")
    try:
        require_known(settings)
    except HealbotError as problem:
        yield of_error("settings", problem)


def _models(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    for part in ("editor", "judge", "agent", "user"):
        model = getattr(settings.models, part)
        if model and model.key_env and not environment.get(model.key_env):
            yield warning(
                "models",
                f"models.{part} names the key {model.key_env}, which is not set here",
                f"Set it before a cycle: export {model.key_env}=…",
            )


def _state(folder: Path, environment: Mapping[str, str], *, live: bool) -> Iterator[Finding]:
    """Look at the state: kill switch, leases, ledgers, the remote where one is set."""
    try:
        shop = open_shop(folder, environment)
        if shop.settings.forge.remote:
            yield ok("remote", f"{shop.settings.forge.remote} can be read")
        stopped = shop.stopped_by()
        if stopped:
            yield warning(
                "state", f"healbot is stopped by {stopped}", "healbot start lets it go on."
            )
        for agent in shop.settings.agents:
            yield from _ledger(shop, agent.name)
        left = list(leftovers(shop.repo, shop.clock, shared=bool(shop.settings.forge.remote)))
        if left:
            texts = "; ".join(dict.fromkeys(one.text for one in left))
            yield warning("state", f"interrupted work left {texts}", "healbot upgrade sweeps it.")
        if live:
            from healbot.entry.live import try_out  # noqa: PLC0415 - heavy, only where asked for

            yield from try_out(shop, stopped)
    except HealbotError as problem:
        yield of_error("state", problem)


def _ledger(shop: Shop, name: str) -> Iterator[Finding]:
    agent = shop.agent(name)
    facts = of_state(shop, agent, "")
    broken = facts["broken"]
    assert isinstance(broken, list)  # noqa: S101 - made in audits
    if facts["away"]:
        yield warning(
            "state",
            f"{name}: {facts['away']}",
            f"{facts['next']}",
        )
    elif broken:
        yield error("state", f"{name}: the ledger does not hold: {broken[0]}", f"{facts['next']}")
    else:
        yield ok("state", f"{name}: {facts['entries']} ledger entries, the chain holds")
    holder = shop.permit.holder(name)
    if holder:
        yield ok("state", f"{name}: a cycle is under way ({holder.holder})")
    elif not broken and (current := replay(shop.chain(agent).entries).current):
        yield warning(
            "state",
            f"{name}: cycle {current.id} is not finished",
            "healbot cycle goes on with it; finished runs are not made again.",
        )


def _ground(sight: Sight) -> Ground:
    """Return what references may point to."""
    scripts, targets = {}, {}
    for path, mode in sight.modes.items():
        name = path.rpartition("/")[2]
        if not mode.startswith("100") or "node_modules" in path:
            continue
        if name == "package.json":
            scripts[path] = _scripts(sight.text(path))
        elif name in MAKEFILES:
            targets[path] = make_targets(sight.text(path))
    ignored = sight.text(".gitignore").splitlines() if ".gitignore" in sight.modes else []
    return Ground(
        paths=frozenset(sight.modes),
        scripts=scripts,
        targets=targets,
        ignored=tuple(one.strip() for one in ignored if one.strip() and one[0] not in "#!"),
    )


def _scripts(text: str) -> frozenset[str]:
    try:
        scripts = json.loads(text).get("scripts")
    except (ValueError, AttributeError):
        return frozenset()
    return frozenset(scripts) if isinstance(scripts, dict) else frozenset()


def _print(one: Finding) -> None:
    mark = {"ok": "ok     ", "warning": "warning", "error": "error  "}[one.severity]
    if sys.stdout.isatty():
        colour = {"ok": "32", "warning": "33", "error": "31"}[one.severity]
        mark = f"\x1b[{colour}m{mark}\x1b[0m"
    text = cleaned(f"{one.topic}: {one.text}").replace("\n", "\n         ")
    print(f"{mark}  {text}")
    if one.fix:
        print(f"         fix: {cleaned(one.fix)}")


def _verdict(errors: int, warnings: int) -> str:
    if not errors and not warnings:
        return "All is well."
    numbers = [(errors, "error"), (warnings, "warning")]
    said = [f"{many} {word}{'s' if many != 1 else ''}" for many, word in numbers if many]
    return f"{' and '.join(said)}."
