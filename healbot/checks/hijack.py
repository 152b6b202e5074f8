"""What an agent could have planted to steer a hidden test run, and how the run is kept from it.

Knows names of files and variables. Prevented: modules of the workspace in front of the standard
library and of pytest, a ``sitecustomize``, user site or stale bytecode of the agent's, the agent's
HOME, variables that make a program load more. Seen, so that the run can't score: changed control
files of pytest and Python that the hidden files do not overwrite. Not prevented: code under test
that ends the test process itself with code 0, since it runs inside it, and a changed virtual
environment inside the workspace (``protect: ['.venv/**']`` fails such a run).
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from healbot.checks.placing import peek

CONTROL_FILES = ("conftest.py", "pytest.ini", ".pytest.ini", "sitecustomize.py", "usercustomize.py")
"""Files that steer a test run by being there."""

CONTROL_SUFFIX = ".pth"
SETTINGS_FILES = ("pyproject.toml", "setup.cfg", "tox.ini")
"""Files that steer a test run where they speak of pytest."""

SETTINGS_BYTES = 1_000_000
"""How much of such a file is read; a longer one counts as speaking of pytest."""

SHADOWED = frozenset(sys.stdlib_module_names) | {"pytest", "_pytest", "pluggy"}
"""Modules that a test run imports by itself."""

UNWANTED = frozenset(
    {
        "BASH_ENV",
        "ENV",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "NODE_OPTIONS",
        "PERL5OPT",
        "PYTEST_ADDOPTS",
        "PYTEST_PLUGINS",
        "PYTHONHOME",
        "PYTHONINSPECT",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONUSERBASE",
        "RUBYOPT",
    }
)
"""Variables that make a program load or run more than it was told to."""

TEST_HOOK = """\
import os
import sys

sys.path.append(os.environ["HEALBOT_FOLDER"])
"""
"""The ``sitecustomize`` of a test run: the agent's folder comes last on the path, not first."""


def planted(root: Path, changed: Sequence[str], written: Collection[str]) -> str | None:
    """Return the first changed path that could steer the tests, or None.

    Args:
        root: The workspace's root.
        changed: Paths from the root that the agent added, changed or removed.
        written: Paths from the root that the hidden files have just overwritten.
    """
    folders = {path.rpartition("/")[0] for path in written}
    for path in changed:
        if path not in written and (_controls(root, path) or _shadows(path, folders)):
            return path
    return None


def scrubbed(env: Mapping[str, str], place: Path, folder: Path) -> dict[str, str]:
    """Return an environment without what could steer a test run, with a fresh HOME."""
    for name in ("home", "tmp"):
        (place / name).mkdir()
    return {
        **{name: value for name, value in env.items() if name not in UNWANTED},
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "tmp"),
        "PYTHONSAFEPATH": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPYCACHEPREFIX": str(place / "pycache"),
        "HEALBOT_FOLDER": str(folder),
    }


def _controls(root: Path, path: str) -> bool:
    name = path.rpartition("/")[2]
    if name in CONTROL_FILES or name.endswith(CONTROL_SUFFIX):
        return True
    if name not in SETTINGS_FILES:
        return False
    content = peek(root, path, SETTINGS_BYTES)
    return b"pytest" in content or len(content) >= SETTINGS_BYTES


def _shadows(path: str, folders: Collection[str]) -> bool:
    """Say whether a path is a module beside the hidden tests that a test run imports first."""
    for folder in folders:
        inside = path if not folder else path.removeprefix(f"{folder}/")
        if folder and inside == path:
            continue
        if inside.partition("/")[0].partition(".")[0] in SHADOWED and _is_code(path):
            return True
    return False


def _is_code(path: str) -> bool:
    return path.endswith((".py", ".pyc", ".so"))
