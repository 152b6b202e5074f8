"""Which lines of the state branch are a session's content, and what stays when it is forgotten.

Pure. The ledger is never among them: it holds digests only, and its chain stays whole.
"""

import json
import re

from healbot.records.record import canonical

_CONCERNED = re.compile(r"agents/[^/]+/(?!audit/)(?:[^/]+/)?[^/]+\.jsonl$")
_RUNS = re.compile(r"agents/[^/]+/runs/[^/]+$")
_JOURNAL = re.compile(r"agents/[^/]+/journal/[^/]+$")
_OF_A_SESSION = re.compile(rb'"session":\s?"[0-9a-f]{64}"')


def concerned(path: str) -> bool:
    """Say whether a file of the state branch may hold lines about sessions."""
    return bool(_CONCERNED.match(path) or _RUNS.match(path))


def about(path: str, line: bytes, session: str | None) -> bool:
    """Say whether a line is to be forgotten.

    Args:
        path: Its file on the state branch.
        line: The line.
        session: SHA-256 of the session's id; None: every session.
    """
    if session is None:
        return bool(_RUNS.match(path) or _OF_A_SESSION.search(line))
    return session.encode() in line


def without(path: str, content: bytes, session: str | None) -> tuple[bytes, tuple[bytes, ...]]:
    """Return what stays of a file, and the lines that go, or lose their texts."""
    if not concerned(path):
        return content, ()
    stays = [(line, left_of(path, line, session)) for line in content.splitlines(keepends=True)]
    return b"".join(left for _, left in stays), tuple(line for line, left in stays if left != line)


def left_of(path: str, line: bytes, session: str | None) -> bytes:
    """Return what stays of a line: it, nothing, or of a cycle's run its verdict without texts."""
    if session is None and _JOURNAL.match(path):
        return _without_texts(line)
    return b"" if about(path, line, session) else line


def _without_texts(line: bytes) -> bytes:
    try:
        told = json.loads(line)
        if isinstance(told, dict) and "run" not in told:
            return line
        del told["run"]
    except (ValueError, TypeError, RecursionError):
        return b""
    return (canonical(told) + "\n").encode()
