"""A fresh workspace for each run: a copy of the judged commit with harness and case on top.

Knows where things go in it, and that whatever an agent touched is hostile afterwards. The folder's
name says nothing: no case, no check, no revision.
"""

import posixpath
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from healbot.errors import InputError
from healbot.ports import Repo
from healbot.records.case import Case
from healbot.records.harness import Harness
from healbot.records.settings import SETTINGS_PATH, AgentSettings
from healbot.runners import folders, relocation, tree
from healbot.runners.scratch import Scratch
from healbot.runners.template import Preparation, Templates

RUNS, TEMPLATES = "runs", "templates"
NAME = "workspace"


class RepoWorkspaces:
    """Workspaces of one agent and one way of running it.

    Args:
        preparation: How setup is run.
        cache: A folder of ours; what an agent may not read of it is ``hide`` of its runner.
        left_out: Paths and globs from the repository's root that no agent may see: cases, checks,
            hidden tests, lessons. The settings file always is.
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
        self._dir = "" if agent.dir.strip("/") in ("", ".") else posixpath.normpath(agent.dir)
        self._cache = cache
        self._templates = Templates(
            repo,
            agent,
            preparation=preparation,
            cache=cache / TEMPLATES,
            left_out=(*left_out, SETTINGS_PATH),
        )
        self._own = Scratch(cache / RUNS)

    @contextmanager
    def open(self, sha: str, harness: Harness, case: Case) -> Iterator[tuple[Path, Path]]:
        """Give a fresh workspace (root, agent's folder) for one run; it is removed afterwards.

        ``case.files`` and what lies in ``case.workspace`` land relative to the agent's folder;
        ``case.workspace`` itself is read from the commit, relative to the case file's folder.

        Raises:
            InputError: Setup failed, or the case's files leave the workspace or cover the harness.
        """
        overlay = self._overlay(sha, harness, case)
        place = Path(tempfile.mkdtemp(dir=self._own.folder()))
        try:
            root = place / NAME
            with self._templates.borrow(sha) as template:
                folders.copy(template.root, root, files=template.files)
            relocation.apply(root, template.relocate, template.origin)
            folder = self._agent_folder(root)
            texts = {file.path: (tree.PLAIN, file.content) for file in harness.files}
            tree.lay(folder, texts, time=tree.OVERLAY_TIME)
            tree.lay(folder, overlay, time=tree.OVERLAY_TIME)
            yield root, folder
        finally:
            folders.remove(place)

    def close(self) -> None:
        """Remove what this object still has on disk, prepared commits excepted."""
        self._own.close()

    def _agent_folder(self, root: Path) -> Path:
        if not self._dir:
            return root
        folder = tree.below(root, self._dir)
        if folder.is_symlink():
            raise InputError(
                f"the agent's folder {self._dir!r} is a symlink",
                "Name the real folder as `dir` in the settings.",
            )
        folder.mkdir(exist_ok=True)
        return folder

    def _overlay(self, sha: str, harness: Harness, case: Case) -> dict[str, tuple[str, bytes]]:
        """Return what lies on top, by path from the agent's folder; never a harness file."""
        laid = self._fixture(sha, case) if case.workspace is not None else {}
        for path, text in case.files.items():
            laid[path.removeprefix("./")] = (tree.PLAIN, text.encode("utf-8", "surrogatepass"))
        texts = {file.path.casefold() for file in harness.files}
        covered = sorted(path for path in laid if path.casefold() in texts)
        if covered:
            raise InputError(
                f"case {case.id} lays a file over {covered[0]!r}, which is under healbot's care",
                "Take it out of the case's files: a case may not write the agent's instructions.",
            )
        return laid

    def _fixture(self, sha: str, case: Case) -> dict[str, tuple[str, bytes]]:
        """Read the case's ``workspace`` folder out of the commit."""
        named = posixpath.join(case.folder, case.workspace or "")
        prefix = posixpath.normpath(named)
        if prefix.startswith(("/", "..")):
            raise InputError(
                f"case {case.id} names the workspace {case.workspace!r} outside the repository",
                "Name a folder relative to the case's file.",
            )
        start = "" if prefix == "." else f"{prefix}/"
        files = {
            path[len(start) :]: file
            for path, file in self._repo.tree(sha, "" if prefix == "." else prefix).items()
            if path.startswith(start)
        }
        if not files:
            raise InputError(
                f"case {case.id} names the workspace {case.workspace!r}, and {prefix!r} holds no "
                "file in the judged commit",
                "Correct the path (it counts from the case's file), or commit the folder.",
            )
        return tree.read(self._repo, files)
