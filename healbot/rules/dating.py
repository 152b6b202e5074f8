"""Which revision an observed run was made under, by what is known of place and time.

Pure: the caller reads git's history. Where nothing settles it the revision stays unknown, and the
run is a candidate case only, never evidence.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from healbot.records.observed import UNKNOWN_REVISION, ObservedRun


class Live(NamedTuple):
    """From when on a revision was live on the branch under care."""

    since: datetime
    revision: str


def timeline(commits: Iterable[tuple[datetime, str | None]]) -> tuple[Live, ...]:
    """Return when each revision went live, oldest first.

    Nothing went live before what it stands on, whatever a clock said.

    Args:
        commits: Those that the branch itself stood at, oldest first: when it came to stand there,
            and the revision, None where there is none to be read.
    """
    history: list[Live] = []
    for at, revision in commits:
        if revision and (not history or history[-1].revision != revision):
            history.append(Live(max([at, *(one.since for one in history[-1:])]), revision))
    return tuple(history)


def dated(
    run: ObservedRun,
    history: Sequence[Live],
    *,
    base: str,
    roots: Sequence[str],
    at_commit: Callable[[str], str | None],
) -> ObservedRun:
    """Return a run with its revision, where that can be told.

    A commit settles it. Else the time does, for a run on the branch under care (or on none that is
    named) in one of this repository's folders.

    Args:
        run: With ``revision`` unknown; a known one is left as it is.
        history: When each revision went live, oldest first.
        base: The branch under care.
        roots: The folders of the repository's work trees.
        at_commit: The revision that a commit holds, or None where there is no such commit.
    """
    if run.revision != UNKNOWN_REVISION:
        return run
    revision = at_commit(run.commit) if run.commit else _by_time(run, history, base, roots)
    return run.model_copy(update={"revision": revision}) if revision else run


def _by_time(
    run: ObservedRun, history: Sequence[Live], base: str, *rest: Sequence[str]
) -> str | None:
    (roots,) = rest
    here = run.cwd is not None and any(
        run.cwd == root or run.cwd.startswith(root.rstrip("/") + "/") for root in roots
    )
    if not here or run.branch not in (None, base):
        return None
    return next((one.revision for one in reversed(history) if one.since <= run.at), None)
