"""Where workspaces lie: outside every repository.

So no tool of an agent's finds the live instructions by looking upwards from where it works. Knows
the machine's temporary folder; a folder there that is not ours alone is never used.
"""

import os
import stat
import tempfile
from pathlib import Path

from healbot.records.record import digest_bytes, shown


def workspaces_of(private: Path) -> Path:
    """Return the folder for one clone's workspaces, made where it is missing.

    Where the temporary folder can't be trusted it is ``private`` itself.
    """
    root = Path(tempfile.gettempdir()) / f"healbot-{os.getuid()}"
    try:
        root.mkdir(mode=0o700, exist_ok=True)
        seen = root.lstat()
    except OSError:
        return private / "workspaces"
    ours = stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid()
    if not ours or stat.S_IMODE(seen.st_mode) & 0o077:
        return private / "workspaces"
    return root / shown(digest_bytes(str(private.resolve()).encode("utf-8", "surrogateescape")))
