"""The check's own files, as they stand in the judged commit, laid out in a folder of their own.

Knows no git: whoever wires the checks hands in how to read a folder of that commit. Never reads the
workspace, which the agent could have changed.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from healbot.rules.globs import join
from healbot.rules.patterns import Unscorable

Sources = Callable[[str], Mapping[str, bytes]]
"""Gives the regular files below a folder of the judged commit: path from that folder to bytes.

The folder is named from the repository's root; empty means the root. Symlinks are left out.
"""

SOURCE_BYTES = 50_000_000
"""The most that one check's files may weigh together."""


def below(folder: str, path: str) -> str:
    """Return a path that a case names, from the repository's root.

    Raises:
        Unscorable: It leads out of the repository.
    """
    joined = join(folder, path)
    if joined is None:
        raise Unscorable(f"the path {path!r} leads out of the repository")
    return joined


def files_of(sources: Sources, folder: str) -> Mapping[str, bytes]:
    """Read a folder of the judged commit.

    Raises:
        Unscorable: It is empty, too large, or names a path outside itself.
    """
    files = sources(folder)
    if not files:
        raise Unscorable(f"there are no files in {folder or 'the repository'!r} in this commit")
    if sum(map(len, files.values())) > SOURCE_BYTES:
        raise Unscorable(f"the check's files weigh more than {SOURCE_BYTES} bytes together")
    if any(path.startswith("/") or ".." in path.split("/") for path in files):
        raise Unscorable(f"a path in {folder!r} leads out of its folder")
    return files


@contextmanager
def scratch() -> Iterator[Path]:
    """Give an empty private folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="healbot-check-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


def lay_out(files: Mapping[str, bytes], folder: Path) -> Path:
    """Write files below a new folder of ours; a script with a ``#!`` line may be executed."""
    folder.mkdir()
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(mode_of(content))
    return folder


def mode_of(content: bytes) -> int:
    """Return the mode of a file that a check brings along."""
    return 0o755 if content.startswith(b"#!") else 0o644
