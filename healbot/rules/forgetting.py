"""Which lines of the state branch are a session's content, and what stays when it is forgotten.

Pure. The ledger is never among them: it holds digests only, and its chain stays whole.
"""

import re

_CONCERNED = re.compile(r"agents/[^/]+/(?!audit/)(?:[^/]+/)?[^/]+\.jsonl$")
_RUNS = re.compile(r"agents/[^/]+/runs/[^/]+$")
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
    """Return what stays of a file, and the lines that go."""
    if not concerned(path):
        return content, ()
    lines = content.splitlines(keepends=True)
    gone = tuple(line for line in lines if about(path, line, session))
    return b"".join(line for line in lines if not about(path, line, session)), gone
