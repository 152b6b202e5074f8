"""The templates that ship with healbot, found in an installed wheel and in a source checkout."""

from collections.abc import Mapping
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
PLACES = (PACKAGE / "templates", PACKAGE.parent / "templates")
"""In a wheel they lie inside the package, in a checkout beside it."""


def template_files(name: str) -> Mapping[str, bytes]:
    """Return the files of one template folder, by path in it."""
    folder = _root() / name
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def template(name: str) -> str:
    """Return one template file's text."""
    return (_root() / name).read_text(encoding="utf-8")


def _root() -> Path:
    return next(place for place in PLACES if place.is_dir())
