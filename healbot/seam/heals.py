"""What scoring keeps of a heal event: everything but its texts, so that a million fit in memory.

Knows one event at a time and the two fixtures that need its texts: the protected blocks and the
held-out set. Texts that Monotonicity needs later are read again, by the event's place.
"""

import math
import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from healbot.seam.blocks import Block, changed_block
from healbot.seam.gates import check_boundary, spending_ratio
from healbot.seam.heldout import HeldOut
from healbot.seam.outlines import GROUPS, Outline, outline_of
from healbot.seam.schema import Change, HealEvent, Shares

NO_HASH = -1
"""No text has it for a hash."""
_SHARES, _COUNTS = 5, len(GROUPS)


class Columns:
    """The numbers of many heals, side by side: a third of the room that objects would take.

    A heal's row is where its entries stand; a number that is missing is NaN.
    """

    __slots__ = ("before", "counts", "lengths", "places", "ratios", "shares")

    def __init__(self) -> None:
        """Begin without a heal."""
        self.shares = array("d")
        self.ratios = array("d")
        self.before = array("q")
        self.places = array("q")
        self.lengths = array("q")
        self.counts = bytearray()

    def add(
        self, shares: Shares, *, ratio: float | None, before: str | None, place: int,
        outline: Outline,
    ) -> int:  # fmt: skip
        """Take in one heal's numbers; returns its row."""
        if None in shares:
            self.shares.extend(math.nan if one is None else one for one in shares)
        else:
            self.shares.extend(shares)  # type: ignore[arg-type]  # none is missing
        self.ratios.append(math.nan if ratio is None else ratio)
        self.before.append(NO_HASH if before is None else hash(before))
        self.places.append(place)
        self.lengths.append(outline[0])
        self.counts += outline[1]
        return len(self.places) - 1


@dataclass(slots=True)
class Heal:
    """One heal without its texts; instants are seconds since 1970 in UTC.

    Attributes:
        in_force: When the change began to act.
        touched: The protected block that it touched; it is then scored nowhere.
        bounded: Whether the boundary could be told.
        tainted: Whether its block holds held-out text; None where it can't be told.
        columns, row: Where its numbers stand.
    """

    heal_id: str
    at: float
    loop_id: str
    cycle: int
    signature: str
    real: bool | None
    score_kind: str | None
    break_glass: str | None
    in_force: float
    revision: str | None
    touched: str | None
    bounded: bool
    tainted: bool | None
    columns: Columns
    row: int

    @property
    def shares(self) -> Shares:
        """Return visible before and after, held-out before and after, and the cycle's score."""
        start = self.row * _SHARES
        found = self.columns.shares[start : start + _SHARES]
        if math.isnan(sum(found)):
            return tuple(None if math.isnan(one) else one for one in found)  # type: ignore[return-value]  # five
        return tuple(found)  # type: ignore[return-value]  # five

    @property
    def ratio(self) -> float | None:
        """Return the tokens spent beside its task's."""
        value = self.columns.ratios[self.row]
        return None if math.isnan(value) else value

    @property
    def before(self) -> int:
        """Return a hash of the revision before it; ``NO_HASH`` where none is named."""
        return self.columns.before[self.row]

    @property
    def place(self) -> int:
        """Return where its line begins, or its number in a sequence."""
        return self.columns.places[self.row]

    @property
    def outline(self) -> Outline:
        """Return the outline of its changed block."""
        start, columns = self.row * _COUNTS, self.columns
        return columns.lengths[self.row], bytes(columns.counts[start : start + _COUNTS])


Texts = Callable[[Heal], Block | None]
"""Returns a heal's changed block, from wherever its event stands."""


@dataclass(frozen=True)
class Intake:
    """Turns events into heals.

    Attributes:
        protected: Exact text blocks; None where no list was given.
        holdout: The held-out set; None where none was given.
        columns: Where the heals' numbers are kept.
    """

    protected: Sequence[str] | None = None
    holdout: HeldOut | None = None
    columns: Columns = field(default_factory=Columns)

    def take(self, event: HealEvent, place: int) -> Heal:
        """Keep of an event what scoring needs."""
        at, change = event.ts.timestamp(), event.change
        touched, bounded, tainted = self.look_into(change)
        row = self.columns.add(
            (
                event.visible_before,
                event.visible_after,
                event.holdout_before,
                event.holdout_after,
                event.score,
            ),
            ratio=spending_ratio(event.tokens_spent, event.task_tokens),
            before=change.before_hash,
            place=place,
            outline=outline_of(change),
        )
        return Heal(
            event.heal_id,
            at,
            sys.intern(event.loop_id),
            event.cycle,
            sys.intern(event.failure_signature),
            event.was_real_failure,
            event.score_kind,
            event.break_glass,
            at if event.in_force_at is None else event.in_force_at.timestamp(),
            event.revision and sys.intern(event.revision),
            touched,
            bounded,
            tainted,
            self.columns,
            row,
        )

    def look_into(self, change: Change) -> tuple[str | None, bool, bool | None]:
        """Return what a change touched, whether that could be told, and whether it is tainted."""
        if self.protected is None:
            touched, bounded = None, False
        else:
            touched, bounded = check_boundary(change, self.protected)
        if self.holdout is None:
            return touched, bounded, None
        block = changed_block(change)
        tainted = None if block is None else not block.removed and self.holdout.is_in(block.text)
        return touched, bounded, tainted
