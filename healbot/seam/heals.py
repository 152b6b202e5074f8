"""What scoring keeps of a heal event: everything but its texts, so that a million fit in memory.

Knows one event at a time and the two fixtures that need its texts: the protected blocks and the
held-out set. Texts that Monotonicity needs later are read again, by the event's place.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from healbot.seam.blocks import Block, changed_block
from healbot.seam.gates import check_boundary, spending_ratio
from healbot.seam.heldout import HeldOut
from healbot.seam.schema import HealEvent


@dataclass(slots=True)
class Heal:
    """One heal without its texts; instants are seconds since 1970 in UTC.

    Attributes:
        in_force: When the change began to act.
        ratio: Tokens spent beside its task's.
        before: A hash of the revision before it: a million names would not fit.
        touched: The protected block that it touched; it is then scored nowhere.
        bounded: Whether the boundary could be told.
        tainted: Whether its block holds held-out text; None where it can't be told.
        place: Where its line begins, or its number in a sequence.
    """

    heal_id: str
    at: float
    loop_id: str
    cycle: int
    signature: str
    real: bool | None
    visible_before: float | None
    visible_after: float | None
    holdout_before: float | None
    holdout_after: float | None
    score: float | None
    score_kind: str | None
    ratio: float | None
    break_glass: str | None
    in_force: float
    revision: str | None
    before: int | None
    touched: str | None
    bounded: bool
    tainted: bool | None
    place: int


Texts = Callable[[Heal], Block | None]
"""Returns a heal's changed block, from wherever its event stands."""


@dataclass(frozen=True)
class Intake:
    """Turns events into heals.

    Attributes:
        protected: Exact text blocks; None where no list was given.
        holdout: The held-out set; None where none was given.
    """

    protected: Sequence[str] | None = None
    holdout: HeldOut | None = None

    def take(self, event: HealEvent, place: int) -> Heal:
        """Keep of an event what scoring needs."""
        at, change = event.ts.timestamp(), event.change
        boundary = check_boundary(change, self.protected) if self.protected is not None else None
        return Heal(
            event.heal_id,
            at,
            sys.intern(event.loop_id),
            event.cycle,
            sys.intern(event.failure_signature),
            event.was_real_failure,
            event.visible_before,
            event.visible_after,
            event.holdout_before,
            event.holdout_after,
            event.score,
            event.score_kind,
            spending_ratio(event.tokens_spent, event.task_tokens),
            event.break_glass,
            at if event.in_force_at is None else event.in_force_at.timestamp(),
            event.revision and sys.intern(event.revision),
            None if change.before_hash is None else hash(change.before_hash),
            boundary and boundary.touched,
            boundary is not None and boundary.is_known,
            self._is_tainted(event),
            place,
        )

    def _is_tainted(self, event: HealEvent) -> bool | None:
        if self.holdout is None:
            return None
        block = changed_block(event.change)
        return None if block is None else not block.removed and self.holdout.is_in(block.text)
