"""The one owner of money and runs in a cycle: nothing is spent that was not reserved here.

Knows limits and counts; asks no ledger. Safe to use from many threads.
"""

import threading

from healbot.errors import BudgetError
from healbot.ports import Clock
from healbot.records.ledger import Spend
from healbot.records.run import Usage
from healbot.records.settings import RunWorstCase
from healbot.rules.budget import ROUNDING, Left, cost_of, price_of, runs_that_fit, set_aside


class Purse:
    """What a cycle may still spend, and what it has spent since it was last asked."""

    def __init__(self, left: Left, worst: RunWorstCase, clock: Clock) -> None:
        self._left = left
        self._stated = worst
        self._dearest = Spend()
        self._clock = clock
        self._lock = threading.Lock()
        self._reserved = 0
        self._held = 0
        self._spent = Spend()
        self._told = Spend()
        self._began = clock.monotonic()
        self._told_at = self._began

    def reserve(self) -> None:
        """Set one run's worst case aside.

        A run that reported more than the stated worst case raises what later ones set aside, those
        under way included.

        Raises:
            BudgetError: It does not fit into what is left, or the time is up.
        """
        with self._lock:
            gone, worst, left = self._spent, self._worst, self._now()
            if runs_that_fit(left, worst) < 1 or left.seconds <= 0:
                raise BudgetError(
                    f"The budget is spent after {gone.runs} runs of this cycle.",
                    "Raise budget in the settings, or wait for the next day or month; "
                    "finished runs are kept.",
                )
            self._reserved += 1

    def hold(self, tokens: int) -> None:
        """Set aside what one question to a model may take at most; ``pay`` gives it back.

        Raises:
            BudgetError: It does not fit into what is left, or the time is up.
        """
        with self._lock:
            left = self._now()
            usd = price_of(tokens, self._stated)
            if left.seconds <= 0 or left.tokens < tokens or left.usd + ROUNDING < usd:
                raise BudgetError(
                    "The budget leaves no room for another question to a model.",
                    "Raise budget in the settings, or wait for the next day or month.",
                )
            self._held += tokens

    def pay(self, held: int, tokens: int, usd: float | None) -> None:
        """Count a question that ``held`` was set aside for; None: counted at the stated price."""
        with self._lock:
            self._held -= held
            cost = price_of(tokens, self._stated) if usd is None else usd
            self._spent = self._spent.plus(Spend(tokens=tokens, usd=cost))

    @property
    def _worst(self) -> RunWorstCase:
        return set_aside(self._stated, self._dearest)

    def _now(self) -> Left:
        """Return what is left, less what is set aside; the lock is held."""
        gone, worst = self._spent, self._worst
        held_usd = price_of(self._held, self._stated)
        return Left(
            self._left.runs - gone.runs - self._reserved,
            self._left.tokens - gone.tokens - self._held - self._reserved * worst.tokens,
            self._left.usd - gone.usd - held_usd - self._reserved * worst.usd,
            self._left.seconds - (self._clock.monotonic() - self._began),
        )

    def give_back(self) -> None:
        """Give a reservation back: its run never came to an end."""
        with self._lock:
            self._reserved -= 1

    def count(self, usage: Usage) -> None:
        """Count what a run cost, whether it was made now or before a crash."""
        with self._lock:
            cost = cost_of(usage, self._stated)
            self._spent = self._spent.plus(cost)
            self._dearest = Spend(
                tokens=max(self._dearest.tokens, cost.tokens), usd=max(self._dearest.usd, cost.usd)
            )

    @property
    def priced(self) -> bool:
        """Whether one run's cost is known; until then only one at a time is started."""
        return self._spent.runs > 0

    def take(self) -> Spend:
        """Return what was spent since the last call, wall time included."""
        with self._lock:
            now = self._clock.monotonic()
            since = Spend(
                runs=self._spent.runs - self._told.runs,
                tokens=self._spent.tokens - self._told.tokens,
                usd=round(self._spent.usd - self._told.usd, 6),
                seconds=round(now - self._told_at, 3),
            )
            self._told, self._told_at = self._spent, now
            return since
