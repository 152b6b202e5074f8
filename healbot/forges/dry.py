"""The forge of a dry run: Intents are told, not performed; their effects exist in memory only.

Knows a real forge to read from; changes nothing anywhere.
"""

from collections.abc import Callable

from healbot.ports import ForgeReader
from healbot.records.intent import (
    ClosePull,
    Effect,
    Intent,
    MergePull,
    OpenPull,
    ReopenPull,
    UpdatePull,
)
from healbot.records.pull import Pull

NO_SHA = "0" * 40


class DryForge:
    """``ForgeReader`` and ``ForgeWriter`` over a real reader."""

    def __init__(self, real: ForgeReader, tell: Callable[[Intent], None]) -> None:
        self._real = real
        self._tell = tell
        self._pulls: dict[int, Pull] = {}

    def pulls(self) -> tuple[Pull, ...]:
        """Return the real pull requests and the ones that would be there."""
        known = {one.number: one for one in self._real.pulls()} | self._pulls
        return tuple(known[number] for number in sorted(known))

    def pull(self, number: int) -> Pull | None:
        """Return one, or None."""
        return self._pulls.get(number) or self._real.pull(number)

    def find(self, intent: Intent) -> Effect | None:
        """Nothing was done before."""
        del intent
        return None

    def perform(self, intent: Intent) -> Effect:
        """Tell the Intent, and remember what it would have left."""
        self._tell(intent)
        match intent:
            case OpenPull():
                number = max((one.number for one in self.pulls()), default=0) + 1
                self._pulls[number] = _opened(number, intent)
                return Effect(key=intent.key, number=number, sha=NO_SHA)
            case UpdatePull():
                self._set(intent.number, body=intent.body, draft=intent.draft)
            case MergePull():
                self._set(intent.number, state="merged", closed_by=intent.by, merged_sha=NO_SHA)
            case ClosePull():
                self._set(intent.number, state="closed", closed_by=intent.by)
            case ReopenPull():
                self._set(intent.number, state="open", closed_by="")
            case _:
                pass
        return Effect(key=intent.key, sha=NO_SHA)

    def _set(self, number: int, **fields: object) -> None:
        pull = self.pull(number)
        if pull:
            self._pulls[number] = pull.model_copy(update=fields)


def _opened(number: int, intent: OpenPull) -> Pull:
    return Pull(
        number=number,
        key=intent.key,
        agent=intent.agent,
        title=intent.title,
        body=intent.body,
        branch=intent.branch,
        head_sha=NO_SHA,
        base_ref=intent.base_ref,
        labels=intent.labels,
        reviewers=intent.reviewers,
        opened_at=intent.at,
    )
