"""The files that an examination looks at: those of a commit, or of the work tree before the first.

Knows modes and bytes by path from the root; a work tree is walked without following links.
"""

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from healbot.forges.git import GitRepo
from healbot.rules.suites import Files

PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv"})
LINK, PLAIN, PROGRAM = "120000", "100644", "100755"


class Sight(NamedTuple):
    """Files by path from the root: their git mode, and how to read one."""

    modes: Mapping[str, str]
    read: Callable[[str], bytes]

    def below(self, folder: str) -> "Sight":
        """Return the files of one folder, by path in it."""
        prefix = (
            "" if folder.strip("/") in ("", ".") else folder.strip("/").removeprefix("./") + "/"
        )
        modes = {
            path.removeprefix(prefix): mode
            for path, mode in self.modes.items()
            if path.startswith(prefix)
        }
        return Sight(modes, lambda path: self.read(prefix + path))

    @property
    def files(self) -> Files:
        """Its plain files, as what a configuration of cases may refer to."""
        return Files([path for path, mode in self.modes.items() if mode != LINK], self.read)

    def text(self, path: str) -> str:
        """Return a file's text; bytes that are no UTF-8 are replaced."""
        return self.read(path).decode("utf-8", "replace")


def of_commit(repo: GitRepo, sha: str) -> Sight:
    """Return the files of a commit."""
    tree = repo.tree(sha)
    return Sight(
        {path: file.mode for path, file in tree.items()}, lambda path: repo.blob(tree[path].blob)
    )


def of_folder(root: Path) -> Sight:
    """Return the files of a work tree, committed or not."""
    modes = {}
    for folder, below, names in os.walk(root):
        linked = [name for name in below if (Path(folder) / name).is_symlink()]
        below[:] = [name for name in below if name not in PASSED_OVER and name not in linked]
        for name in (*names, *linked):
            place = Path(folder) / name
            mode = place.lstat().st_mode
            plain = PROGRAM if mode & stat.S_IXUSR else PLAIN
            modes[place.relative_to(root).as_posix()] = LINK if stat.S_ISLNK(mode) else plain
    return Sight(modes, lambda path: (root / path).read_bytes())
