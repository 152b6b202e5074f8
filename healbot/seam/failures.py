"""The failure log, kept as what recall and recurrence ask of it: who failed, when, under what.

Knows signatures, instants and revisions; a million failures pass through, and only the instants of
healed signatures, and the names of those never healed, are kept.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from healbot.seam import fields
from healbot.seam.fields import Data
from healbot.seam.heals import Heal
from healbot.seam.window import Window

NO_REVISION = -1


class Failure(NamedTuple):
    """One real failure.

    Attributes:
        at: Seconds since 1970.
        revision: What the run ran under, where known.
        zoned: Whether its time named a zone.
    """

    signature: str
    at: float
    revision: str | None
    zoned: bool


def parse_failure(value: object) -> Failure:
    """Read one decoded line of a failure log.

    Raises:
        FieldError: It is none.
    """
    data: Data = fields.mapping(value, "failure")
    at, zoned = fields.instant(data.get("ts"), "ts")
    return Failure(
        fields.named(data, "failure_signature"),
        at.timestamp(),
        fields.text(data, "revision"),
        zoned,
    )


class Sightings:
    """When each healed signature failed, and which signatures failed that nobody healed."""

    def __init__(self, heals: Sequence[Heal], windows: Sequence[Window]) -> None:
        """Prepare for the failures of some heals; windows after the first do not overlap."""
        self._times: dict[str, array[float] | None] = dict.fromkeys(one.signature for one in heals)
        self._under: dict[str, array[int]] = {}  # beside the times, where a revision is named
        self._is_sorted = False
        self._windows = windows
        self._starts = [window.start for window in windows[1:]]
        self._unhealed: list[set[str]] = [set() for _ in windows]
        self._revisions: dict[str, int] = {}
        self._since: dict[str, float] = {}
        for heal in heals:
            if heal.revision is not None:
                first = self._since.get(heal.revision, heal.in_force)
                self._since[heal.revision] = min(first, heal.in_force)
        self._names: list[str] = []
        self.count = 0
        self.last: float | None = None

    def add(self, failure: Failure) -> None:
        """Take one failure in."""
        self.count += 1
        self.last = failure.at if self.last is None else max(self.last, failure.at)
        signature = failure.signature
        if signature not in self._times:
            for number in self._windows_of(failure.at):
                self._unhealed[number].add(signature)
            return
        self._is_sorted = False
        times = self._times[signature]
        if times is None:
            times = self._times[signature] = array("d")
        if failure.revision is not None and signature not in self._under:
            self._under[signature] = array("q", [NO_REVISION] * len(times))
        if self._under and signature in self._under:
            self._under[signature].append(self._number(failure.revision))
        times.append(failure.at)

    def _windows_of(self, at: float) -> Iterator[int]:
        """The first window overlaps the others, which are in order and apart."""
        if self._windows and self._windows[0].has(at):
            yield 0
        part = bisect_right(self._starts, at)
        if part and self._windows[part].has(at):
            yield part

    def missed(self, window: int) -> frozenset[str]:
        """Return the signatures that failed in a window and that no heal ever targeted."""
        return frozenset(self._unhealed[window] if self._windows else ())

    def has_seen(self, signature: str) -> bool:
        """Return whether a healed signature is in the log at all."""
        return self._times.get(signature) is not None

    def came_back(self, heal: Heal, within: float) -> bool:
        """Return whether its failure was seen after the heal was in force, under it, in time.

        A failure at the same instant is the heal's own trigger; one under a revision that is known
        to be older never met the heal.
        """
        if not self._is_sorted:
            self._sort()
        times = self._times.get(heal.signature)
        if times is None:
            return False
        place, end = bisect_right(times, heal.in_force), heal.in_force + within
        under = self._under.get(heal.signature)
        while place < len(times) and times[place] <= end:
            if under is None or self._is_under(heal, under[place]):
                return True
            place += 1
        return False

    def _is_under(self, heal: Heal, number: int) -> bool:
        if number == NO_REVISION:
            return True
        name = self._names[number]
        if name == heal.revision:
            return True
        since = self._since.get(name)
        return hash(name) != heal.before and (since is None or since >= heal.in_force)

    def _sort(self) -> None:
        for signature, times in self._times.items():
            under = self._under.get(signature)
            if times is None or len(times) == 1:
                continue
            if under is None:
                self._times[signature] = array("d", sorted(times))
            else:
                pairs = sorted(zip(times, under, strict=True))
                self._times[signature] = array("d", [at for at, _ in pairs])
                self._under[signature] = array("q", [one for _, one in pairs])
        self._is_sorted = True

    def _number(self, revision: str | None) -> int:
        if revision is None:
            return NO_REVISION
        if revision not in self._revisions:
            self._revisions[revision] = len(self._names)
            self._names.append(revision)
        return self._revisions[revision]
