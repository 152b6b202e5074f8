"""Which failures were seen again in use: of what kind, since when, in how many distinct sessions.

Pure; knows observed sessions and their published lines. A kind is a signature's first two parts,
since the third is the check in an observed one and the case's tag in one of the loop.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from healbot.records.observed import Session
from healbot.records.run import Outcome
from healbot.rules.privacy import word_for
from healbot.rules.signature import observed_signature

DISTINCT_SESSIONS = 2
"""From so many distinct sessions on a failure seen in use is new evidence."""


class Seen(NamedTuple):
    """One failed step: its session's key, when it ended, under which revision, how it failed."""

    session: str
    at: datetime
    revision: str
    signature: str


def kinds_of(signature: str) -> frozenset[str]:
    """Return a signature's kind, and the one in which its second word is a digest.

    Two signatures are of one kind where these meet: on either side the word may stand as a digest.
    """
    error, _, rest = signature.partition(":")
    word = rest.partition(":")[0]
    return frozenset((f"{error}:{word}", f"{error}:{word_for(word)}"))


def seen_in(sessions: Iterable[Session], agent: str) -> Iterator[Seen]:
    """Yield the failed steps of an agent's sessions."""
    for session in sessions:
        for step in session.steps:
            if step.verdict == Outcome.FAIL and step.agent == agent:
                yield Seen(session.key, step.at, step.revision, observed_signature(step))


def seen_on(lines: Iterable[bytes]) -> Iterator[Seen]:
    """Yield the failed steps among published lines; the last line about a step holds.

    A damaged line is passed over.
    """
    found: dict[object, Seen] = {}
    for number, line in enumerate(lines):
        try:
            raw = json.loads(line)
            if raw["verdict"] == Outcome.FAIL:
                at = datetime.fromisoformat(raw["at"])
                zoned = at if at.tzinfo else at.replace(tzinfo=UTC)
                words = (str(raw[name]) for name in ("session", "revision", "signature"))
                session, revision, signature = words
                found[raw.get("step", number)] = Seen(session, zoned, revision, signature)
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    yield from found.values()


def seen_again(seen: Iterable[Seen], *, revision: str, since: datetime) -> Mapping[str, int]:
    """Return the kinds of failure that recurred, each with the number of its distinct sessions.

    Only what failed under a revision, after an instant, counts.
    """
    sessions: dict[str, set[str]] = {}
    for one in seen:
        if one.revision == revision and one.at > since:
            for kind in kinds_of(one.signature):
                sessions.setdefault(kind, set()).add(one.session)
    counts = {kind: len(keys) for kind, keys in sessions.items()}
    return {kind: count for kind, count in counts.items() if count >= DISTINCT_SESSIONS}
