"""Adding runs that were observed in use: read, dated, redacted, kept here, published as allowed.

Knows the order and the wiring. Nothing is kept or published that was not redacted before.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from healbot.cycle.published import is_news, observed_before, observed_line, observed_path
from healbot.cycle.reading import harness_at
from healbot.entry.outside import workspaces_of
from healbot.entry.wiring import Shop
from healbot.errors import HealbotError, NotNowError, StaleError
from healbot.records.observed import UNKNOWN_REVISION, ObservedRun, Session
from healbot.records.record import canonical
from healbot.records.settings import AgentSettings
from healbot.rules.dating import Live, dated, timeline
from healbot.rules.observing import Read, cleaned, read_runs
from healbot.rules.signature import observed_signature, own_words

ATTEMPTS = 8
"""How often publishing is tried that somebody else's write overtakes."""


class Outcome(NamedTuple):
    """What an addition did; lines are numbered from 1."""

    new: int
    extended: int
    known: int
    damaged: tuple[int, ...]
    ours: tuple[int, ...]
    unknown_revision: int
    dropped: int
    published: int
    level: str

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "runs": {"new": self.new, "extended": self.extended, "known": self.known},
            "lines_skipped": len(self.damaged) + len(self.ours),
            "damaged_lines": list(self.damaged),
            "own_lines": list(self.ours),
            "unknown_revision": self.unknown_revision,
            "dropped": self.dropped,
            "published": {"lines": self.published, "level": self.level},
        }


def add(shop: Shop, agent: AgentSettings, lines: Iterator[bytes]) -> Outcome:
    """Add run records to the store, and a line for each new one to the state branch."""
    read = read_runs(lines, _own_folders(shop))
    runs = _dated(shop, agent, read)
    store = shop.observed
    limit = shop.clock.now() - timedelta(days=shop.settings.privacy.keep_days)
    kept = [one for one in runs if one.at >= limit]
    added = store.add(kept)
    level = shop.settings.privacy.level()
    published = _publish(shop, agent, (*added.new, *added.extended, *added.known))
    unknown = [one for one in kept if one.revision == UNKNOWN_REVISION]
    dropped = len(runs) - len(kept) + store.drop_before(limit)
    return Outcome(
        len(added.new), len(added.extended), len(added.known), read.damaged, read.ours,
        len(unknown), dropped, published, level,
    )  # fmt: skip


def counted(sessions: Sequence[Session]) -> dict[str, int]:
    """Return how many distinct sessions each failure signature was seen in."""
    counts: dict[str, int] = {}
    for session in sessions:
        said = {observed_signature(one) for one in session.steps if one.verdict == "fail"}
        for signature in sorted(said):
            counts[signature] = counts.get(signature, 0) + 1
    return counts


def _own_folders(shop: Shop) -> tuple[str, ...]:
    outside = workspaces_of(shop.repo.private)
    places = (outside, outside.parent, shop.repo.private)
    return tuple(str(path) for one in places for path in (one, one.resolve()))


def _dated(shop: Shop, agent: AgentSettings, read: Read) -> list[ObservedRun]:
    """Date by git's history what has no revision, then redact: the folder's name goes by that."""
    waiting = [one for one in read.runs if one.revision == UNKNOWN_REVISION]

    @lru_cache(maxsize=512)
    def revision_at(commit: str) -> str | None:
        sha = shop.repo.resolve(f"{commit}^{{commit}}") if _is_sha(commit) else None
        if sha is None:
            return None
        try:
            opened = shop.settings.limits.open_skills_with_files
            return harness_at(shop.repo, sha, agent, open_skills=opened).revision
        except HealbotError:
            return None

    history: tuple[Live, ...] = ()
    if any(one.commit is None and one.cwd for one in waiting):
        folder = agent.dir.strip("/")
        paths = () if folder in ("", ".") else (folder,)
        line = shop.repo.log(shop.base_sha, paths, first_parent=True)
        history = timeline((one.at, revision_at(one.sha)) for one in reversed(line))
    roots = [str(path) for one in shop.repo.worktrees() for path in (one, one.resolve())]
    return [
        cleaned(
            dated(
                one.model_copy(update={"agent": agent.name}),
                history,
                base=shop.base_ref,
                roots=roots,
                at_commit=revision_at,
            )
        )
        for one in read.runs
    ]


def _is_sha(text: str) -> bool:
    return 7 <= len(text) <= 64 and set(text.lower()) <= set("0123456789abcdef")  # noqa: PLR2004 - git's own


def _publish(shop: Shop, agent: AgentSettings, runs: Sequence[ObservedRun]) -> int:
    """Append lines that are news to the state branch; returns how many."""
    if not runs:
        return 0
    level = shop.settings.privacy.level()
    words = own_words(shop.written_cases(agent))
    for _ in range(ATTEMPTS):
        state = shop.store.load()
        changes: dict[str, bytes] = {}
        told: dict[str, dict[str, str]] = {}
        count = 0
        for run in runs:
            path = observed_path(agent.name, run)
            if path not in told:
                told[path] = observed_before(shop.store.read(state, path) or b"")
            if is_news(run, told[path]):
                before = changes.get(path, shop.store.read(state, path) or b"")
                line = canonical(observed_line(run, level, words=words))
                changes[path] = before + line.encode("utf-8", "replace") + b"\n"
                told[path][run.digest] = run.revision
                count += 1
        if not changes:
            return 0
        message = f"{agent.name}: {count} observed runs"
        try:
            shop.store.save(state, changes, message=message, at=shop.clock.now())
        except StaleError:
            continue
        return count
    raise NotNowError("The state branch keeps moving.", "Run the command again in a minute.")
