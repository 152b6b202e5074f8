"""Bubblewrap: whether it works on this machine, and the words that put a program inside.

Knows ``bwrap``'s options and no settings. Inside, the program sees the whole file system read-only
but for the folders that are kept for it and the machine's temporary folder; hidden folders are
empty, other processes don't exist, and the network is as outside.
"""

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PROBE_SECONDS = 10.0
SHARED_TEMP = Path("/tmp")  # noqa: S108 - many programs write there by a fixed name


class View(NamedTuple):
    """What a sandboxed program may see.

    Attributes:
        keep: Writable folders; they stay visible even inside a hidden one.
        hide: Folders that become empty, and files that become unreadable.
        show: Folders that stay readable even inside a hidden one.
    """

    cwd: Path
    keep: Sequence[Path] = ()
    hide: Sequence[Path] = ()
    show: Sequence[Path] = ()


def tools_in(path: str, hide: Sequence[Path]) -> list[Path]:
    """Return what of a search path lies in hidden folders: programs stay where they are looked for.

    A virtual environment or ``node_modules`` counts whole, any other folder by itself.
    """
    hidden = [one.resolve() for one in hide]
    found = []
    for word in path.split(os.pathsep):
        folder = Path(word)
        if not folder.is_absolute() or not any(_inside(folder, one) for one in hidden):
            continue
        whole = (folder.parent / "pyvenv.cfg").is_file() or folder.name == ".bin"
        found.append(folder.parent if whole else folder)
    return found


def _inside(folder: Path, other: Path) -> bool:
    return folder.resolve().is_relative_to(other) and folder.resolve() != other


def _is_folder(path: Path) -> bool | None:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError:
        return None


def _hiding(path: Path) -> list[str]:
    folder = _is_folder(path)
    if folder is None:
        return []
    return ["--tmpfs", str(path)] if folder else ["--ro-bind", os.devnull, str(path)]


def wrap(bwrap: str, view: View, *, status_fd: int, argv: Sequence[str]) -> list[str]:
    """Return the command line that runs ``argv`` inside; its program must be an absolute path.

    ``status_fd`` receives bubblewrap's own JSON account, which the program inside can't write.
    A hidden or kept path that does not exist is passed over.
    """
    words = [bwrap, "--die-with-parent", "--unshare-pid", "--cap-drop", "ALL"]
    words += ["--json-status-fd", str(status_fd)]
    words += ["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"]
    words += ["--bind-try", str(SHARED_TEMP), str(SHARED_TEMP)]
    for path in sorted({path.resolve() for path in view.hide}):
        words += _hiding(path)
    for path in sorted({path.resolve() for path in view.show}):
        words += ["--ro-bind-try", str(path), str(path)]
    for path in sorted({path.resolve() for path in view.keep}):
        words += ["--bind-try", str(path), str(path)]
    return [*words, "--chdir", str(view.cwd.resolve()), "--", *argv]


def started(status: bytes) -> bool:
    """Say from bubblewrap's account whether the program inside was ever started and ended."""
    for line in status.splitlines():
        try:
            if "exit-code" in json.loads(line):
                return True
        except (ValueError, TypeError):
            continue
    return False


def find(path: str) -> str | None:
    """Return bubblewrap's own path where it is installed and really works, else None.

    Runs it once: a kernel or a container may forbid what it needs.
    """
    bwrap = shutil.which("bwrap", path=path)
    if bwrap is None:
        return None
    reader, writer = os.pipe()
    try:
        argv = wrap(bwrap, View(Path("/")), status_fd=writer, argv=["/bin/sh", "-c", "exit 0"])
        done = subprocess.run(
            argv,
            pass_fds=(writer,),
            capture_output=True,
            check=False,
            timeout=PROBE_SECONDS,
            env={"PATH": path},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    finally:
        os.close(reader)
        os.close(writer)
    return bwrap if done.returncode == 0 else None
