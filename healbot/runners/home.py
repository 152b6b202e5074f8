"""A home of its own for one program: fresh folders, and the few variables that may reach it.

Knows which variables are harmless and where things go; the real environment is handed in, never
read. The home is removed afterwards.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from healbot.runners import folders

ALLOWED = ("LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
ALLOWED_PREFIX = "LC_"
XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
}
PRIVATE = 0o700


class Home(NamedTuple):
    """A fresh home.

    Attributes:
        place: Holds everything of it, and is writable for the program.
        env: The whole environment for the program.
    """

    place: Path
    env: dict[str, str]

    @property
    def report(self) -> Path:
        """Where a program may leave its run report."""
        return self.place / "report.json"


def search_path(environment: Mapping[str, str]) -> str:
    """Return PATH without entries that depend on the working directory."""
    parts = environment.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(part for part in parts if part.startswith("/"))


def _passed(environment: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name in ALLOWED or name.startswith(ALLOWED_PREFIX) or name in names
    }


@contextmanager
def fresh(temp: Path, environment: Mapping[str, str], names: Sequence[str]) -> Iterator[Home]:
    """Make a home under ``temp``, which exists, and remove it afterwards.

    Of the real variables in ``environment`` only harmless ones and ``names`` are taken. A name in
    ``names`` wins even over what is isolated otherwise, ``HOME`` for instance.
    """
    place = Path(tempfile.mkdtemp(dir=temp))
    try:
        home, scratch = place / "home", place / "tmp"
        for folder in (home, scratch):
            folder.mkdir(mode=PRIVATE)
        env = {
            "PATH": search_path(environment),
            "TERM": "dumb",
            "HOME": str(home),
            **{name: str(home / below) for name, below in XDG.items()},
            "XDG_RUNTIME_DIR": str(scratch),
            **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(scratch)),
        }
        yield Home(place, {**env, **_passed(environment, names)})
    finally:
        folders.remove(place)
