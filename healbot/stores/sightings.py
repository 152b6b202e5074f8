"""Failures seen in use, from both places that keep them: this clone, and the state branch.

Knows the observe store and the published lines; decides nothing. A session that both have is one.
"""

from collections.abc import Iterator
from datetime import datetime

from healbot.ports import Store
from healbot.rules.recurrence import Seen, seen_again, seen_in, seen_on
from healbot.stores.observed import ObservedRuns


class Sightings:
    """What one agent's users met."""

    def __init__(self, agent: str, *, here: ObservedRuns, store: Store) -> None:
        self._agent, self._here, self._store = agent, here, store

    def since(self, at: datetime, revision: str) -> dict[str, int]:
        """Return the kinds of failure that recurred under a revision, with counts of sessions."""
        return dict(seen_again((*self._kept(), *self._published()), revision=revision, since=at))

    def _kept(self) -> Iterator[Seen]:
        return seen_in(self._here.all(), self._agent)

    def _published(self) -> Iterator[Seen]:
        state = self._store.load()
        prefix = f"agents/{self._agent}/runs/"
        for path in state.files:
            if path.startswith(prefix):
                yield from seen_on((self._store.read(state, path) or b"").splitlines())
