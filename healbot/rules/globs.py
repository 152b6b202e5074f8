"""Which paths a glob names, and whether a path stays inside the repository.

Knows text only: paths from a root, with forward slashes. ``*`` and ``?`` stay within one folder,
``**`` crosses folders, ``[abc]`` is one of some letters.
"""

import re
from functools import lru_cache

_MAGIC = frozenset("*?[")
_CACHE = 1_000


def is_glob(pattern: str) -> bool:
    """Say whether a pattern holds a wildcard."""
    return not _MAGIC.isdisjoint(pattern)


def is_inside(path: str) -> bool:
    """Say whether a path names a place below its root: no ``..``, no ``/`` or drive in front."""
    return (
        bool(path.strip())
        and not path.startswith(("/", "~"))
        and "\\" not in path
        and "\0" not in path
        and not re.match(r"[A-Za-z]:", path)
        and ".." not in path.split("/")
    )


def tidy(path: str) -> str:
    """Return a path without ``./``, doubled and closing slashes; the root itself is empty."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def join(folder: str, path: str) -> str | None:
    """Return a path written in a file of a folder, from the root; None where it leaves the root."""
    parts: list[str] = []
    if path.startswith("/") or "\\" in path:
        return None
    for part in f"{folder}/{path}".split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def matches(path: str, pattern: str) -> bool:
    """Say whether a whole path matches a glob."""
    return _compiled(tidy(pattern)).fullmatch(path) is not None


@lru_cache(maxsize=_CACHE)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        token = next(
            one for one in ("**/", "**", "*", "?", pattern[at]) if pattern.startswith(one, at)
        )
        close = pattern.find("]", at + 2) if token == "[" else -1  # noqa: S105 - a bracket
        if close > 0:
            inner = pattern[at + 1 : close]
            negated = inner[:1] in ("!", "^")
            letters = re.escape(inner[1:] if negated else inner).replace(r"\-", "-")
            parts.append(f"[{'^/' if negated else ''}{letters}]")
            at = close + 1
            continue
        meanings = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        parts.append(meanings.get(token, re.escape(token)))
        at += len(token)
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern))
