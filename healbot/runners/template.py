"""One judged commit as a folder to copy from: materialised once, set up once, shared by processes.

Knows how to build it so that a crash leaves nothing half-done (built aside, renamed when complete)
and how to notice that somebody wrote into it. Knows nothing of cases.
"""

import fcntl
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from healbot.errors import InputError
from healbot.ports import Command, Finished, Processes, Repo
from healbot.records.record import digest_bytes, digest_of
from healbot.records.settings import AgentSettings, RunSettings
from healbot.runners import changes, command, folders, home, relocation, tree
from healbot.runners.scratch import locked

KEY_LENGTH = 24
KEPT = 8
"""So many templates stay in the cache; older ones go when a new one was built."""
TAIL_LINES = 12
ATTEMPTS = 3
"""How often a template is built anew when somebody wrote into it meanwhile."""
BUILDING = ".building"
TREE, MANIFEST = "workspace", "manifest.json"


class Preparation(NamedTuple):
    """What a setup needs.

    Attributes:
        run: The way of running whose ``setup`` it is.
        environment: The real variables; only harmless ones and ``run.env`` reach the setup.
        hide: What a sandbox must hide from it.
    """

    run: RunSettings
    processes: Processes
    environment: Mapping[str, str]
    hide: Sequence[Path] = ()


class Template(NamedTuple):
    """A complete template.

    Attributes:
        root: The folder to copy.
        files: How many files it holds.
        origin: Where it stood when setup ran.
        relocate: Paths whose content names ``origin``.
    """

    root: Path
    files: int
    origin: Path
    relocate: tuple[str, ...]


def _fingerprint(root: Path) -> tuple[str, int]:
    """Return a digest of names, sizes, times and inodes below a folder, and the files' number."""
    seen = changes.look(root)
    text = repr((sorted(seen.marks.items()), sorted(seen.closed)))
    return digest_bytes(text.encode("utf-8", "surrogateescape")), len(seen.marks)


class Templates:
    """Templates of one agent and one way of running, below a cache folder.

    Safe for many threads and processes: builders wait for each other, copiers hold a shared lock.
    """

    def __init__(
        self,
        repo: Repo,
        agent: AgentSettings,
        *,
        preparation: Preparation,
        cache: Path,
        left_out: Sequence[str],
    ) -> None:
        self._repo = repo
        self._agent = agent
        self._preparation = preparation
        self._cache = cache
        self._left_out = tuple(sorted(set(left_out)))
        self._failed: dict[str, InputError] = {}

    def _key(self, sha: str) -> str:
        run = self._preparation.run
        defining = [sha, self._left_out, self._agent.dir, run.setup, sorted(run.env)]
        return digest_of(defining)[:KEY_LENGTH]

    @contextmanager
    def borrow(self, sha: str) -> Iterator[Template]:
        """Give a commit's template to copy from, built where it is missing or was written to.

        Raises:
            InputError: Setup failed; says how it ended. Not tried again by this object.
        """
        key = self._key(sha)
        lock = folders.private(self._cache) / f"{key}.lock"
        for _ in range(ATTEMPTS):
            with locked(lock, fcntl.LOCK_SH):
                template = self._load(key)
                if template is not None:
                    yield template
                    return
            with locked(lock, fcntl.LOCK_EX):
                if key in self._failed:
                    raise self._failed[key]
                if self._load(key) is None:
                    self._build(sha, key)
        raise InputError(
            f"something writes into the prepared workspace {self._cache / key} all the time",
            "Find the process that does, or point the cache folder elsewhere.",
        )

    def _load(self, key: str) -> Template | None:
        """Return a template that is complete and as it was when it was completed, or None."""
        place = self._cache / key
        try:
            manifest = json.loads((place / MANIFEST).read_bytes())
            fingerprint, files = manifest["fingerprint"], manifest["files"]
            origin, relocate = Path(manifest["origin"]), tuple(manifest["relocate"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if _fingerprint(place / TREE) != (fingerprint, files):
            return None
        return Template(place / TREE, files, origin, relocate)

    def _build(self, sha: str, key: str) -> None:
        aside = self._cache / f"{key}{BUILDING}"
        folders.remove(aside)
        folders.remove(self._cache / key)
        try:
            root = folders.private(aside / TREE)
            tree.materialise(self._repo, sha, root, left_out=self._left_out)
            relocate = self._set_up(root)
            fingerprint, files = _fingerprint(root)
            manifest = {
                "fingerprint": fingerprint,
                "files": files,
                "origin": str(root),
                "relocate": relocate,
            }
            (aside / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
            aside.rename(self._cache / key)
        except InputError as error:
            self._failed[key] = error
            raise
        finally:
            folders.remove(aside)
        self._prune(key)

    def _set_up(self, root: Path) -> list[str]:
        """Run setup in the agent's folder; returns the paths to rewrite in copies."""
        run = self._preparation.run
        if not run.setup:
            return []
        before = changes.look(root)
        folder = root / self._agent.dir
        folder.mkdir(parents=True, exist_ok=True)
        with home.fresh(root.parent, self._preparation.environment, run.env) as place:
            finished = self._preparation.processes.run(
                Command(
                    argv=command.split(run.setup),
                    cwd=folder,
                    env={**place.env, "GIT_CEILING_DIRECTORIES": str(root.parent)},
                    timeout_seconds=run.setup_timeout_seconds,
                    hide=self._preparation.hide,
                    keep=(root, place.place),
                )
            )
        if finished.ended != "exited" or finished.exit_code != 0:
            raise _failure(run.setup, finished)
        after = changes.look(root)
        made = [path for path, mark in after.marks.items() if before.marks.get(path) != mark]
        return relocation.find(root, made, root)

    def _prune(self, newest: str) -> None:
        """Remove the oldest templates above ``KEPT``, and half-built ones that nobody builds."""
        whole = [place for place in self._cache.iterdir() if (place / MANIFEST).is_file()]
        whole.sort(key=lambda place: (place / MANIFEST).stat().st_mtime, reverse=True)
        for place in [*whole[KEPT:], *self._cache.glob(f"*{BUILDING}")]:
            if place.stem == newest:
                continue
            try:
                with locked(place.with_suffix(".lock"), fcntl.LOCK_EX | fcntl.LOCK_NB):
                    folders.remove(place)
            except BlockingIOError:
                continue


def _failure(setup: str, finished: Finished) -> InputError:
    """Say how setup ended, with the last lines of what it said."""
    said = (finished.stderr.strip() or finished.stdout.strip()).decode("utf-8", "replace")
    tail = "\n".join(said.splitlines()[-TAIL_LINES:])
    how = finished.why or finished.ended
    if finished.exit_code is not None:
        how = f"exit code {finished.exit_code}"
    return InputError(
        f"the setup {setup!r} failed ({how})" + (f":\n{tail}" if tail else ""),
        "Run it by hand in the agent's folder of a fresh clone, and correct run.setup.",
    )
