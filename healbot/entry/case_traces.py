"""Case files that were made of sessions, in the work tree and on the base branch.

Knows the ids that such cases are given; a case whose id a person changed is not found.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from healbot.entry.wiring import Shop
from healbot.records.record import DIGEST_SHOWN, shown
from healbot.rules.cases import is_case_file
from healbot.rules.drafts import SEEN

PASSED_OVER = (".git", "node_modules")


def made_of(shop: Shop, session: str | None) -> tuple[str, ...]:
    """Return the files with a case that was made of a session (by its key), or of any, sorted."""
    key = f"[0-9a-f]{{{DIGEST_SHOWN}}}" if session is None else shown(session)
    mark = re.compile(rf"\b{SEEN}{key}\b".encode())
    texts = (*_here(shop.repo.folder), *_committed(shop))
    return tuple(sorted({path for path, text in texts if mark.search(text)}))


def _here(folder: Path) -> Iterator[tuple[str, bytes]]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in PASSED_OVER]
        for place in (Path(root, name) for name in names if is_case_file(name)):
            if place.is_file() and not place.is_symlink() and os.access(place, os.R_OK):
                yield place.relative_to(folder).as_posix(), place.read_bytes()


def _committed(shop: Shop) -> Iterator[tuple[str, bytes]]:
    paths: dict[str, list[str]] = {}
    for path, file in shop.repo.tree(shop.base_sha).items():
        if is_case_file(path):
            paths.setdefault(file.blob, []).append(path)
    for blob, text in shop.repo.rewriting.contents(paths):
        yield from ((path, text) for path in paths[blob])
