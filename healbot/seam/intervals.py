"""Bootstrap intervals of the four axes; they annotate, and never alert.

Knows axis scores and a seed. What is drawn again: signatures for S, heals for E, surface runs (or
the cases of the only one) for A, loops for M. Of very many units a part is drawn, and the spread
scaled to the whole (the m-out-of-n bootstrap).
"""

import math
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from healbot.seam.aftermath import AftermathScore
from healbot.seam.defaults import Limits
from healbot.seam.efficacy import EfficacyScore
from healbot.seam.monotonicity import MonotonicityScore
from healbot.seam.signal import SignalScore, composed

DRAWN_MOST = 2_000
UNITS_LEAST = 2
T = TypeVar("T")
Interval = tuple[float, float] | None


def interval(
    units: Sequence[T], statistic: Callable[[Sequence[T]], float], limits: Limits
) -> Interval:
    """Return the percentile interval of a statistic; None for fewer than two units."""
    if len(units) < UNITS_LEAST:
        return None
    rng = random.Random(int(limits.seed))  # noqa: S311 - a resampling, no secret
    drawn = min(len(units), DRAWN_MOST)
    found = sorted(statistic(rng.choices(units, k=drawn)) for _ in range(int(limits.resamples)))
    tail = (1 - limits.confidence) / 2
    low = found[math.floor(tail * (len(found) - 1))]
    high = found[math.ceil((1 - tail) * (len(found) - 1))]
    if drawn == len(units):
        return low, high
    point, shrink = statistic(units), math.sqrt(drawn / len(units))
    return point - (point - low) * shrink, point + (high - point) * shrink


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one value."""
    return math.fsum(values) / len(values)


def signal_interval(found: SignalScore, limits: Limits) -> Interval:
    """Return the interval of S over its signatures, healed and missed."""
    if found.score is None:
        return None
    kinds = [(one.real, one.recurred, True) for one in found.signatures]
    kinds += [(None, False, False) for _ in found.missed]

    def score(drawn: Sequence[tuple[bool | None, bool, bool]]) -> float:
        true = sum(real is True for real, _, _ in drawn)
        false = sum(real is False for real, _, _ in drawn)
        healed = [recurred for _, recurred, is_healed in drawn if is_healed]
        missed = len(drawn) - len(healed)
        below = 2 * true + false + missed if found.recall is not None else true + false
        above = 2 * true if found.recall is not None else true
        recurrence = sum(healed) / len(healed) if healed else 0.0
        return composed(above / below if below else 0.0, recurrence, limits)

    return interval(kinds, score, limits)


def efficacy_interval(found: EfficacyScore, limits: Limits) -> Interval:
    """Return the interval of E over its heals."""
    return interval(found.scores, mean, limits)


def aftermath_interval(found: AftermathScore, floor: float, limits: Limits) -> Interval:
    """Return the interval of A over its runs, or over the cases of its only run."""
    told = [one for one in found.runs if one.score is not None]
    if len(told) != 1:
        return interval([one.score for one in told if one.score is not None], mean, limits)
    only = told[0]
    plain = len(only.regressed) - len(only.safety)
    cases = [2] * len(only.safety) + [1] * plain + [0] * (only.size - len(only.regressed))

    def score(drawn: Sequence[int]) -> float:
        if max(drawn) > 1:
            return 0.0
        rate = max(0.0, sum(drawn) / len(drawn) - floor)
        return 1 - min(rate / limits.regress_max, 1.0)

    return interval(cases, score, limits)


def monotonicity_interval(found: MonotonicityScore, limits: Limits) -> Interval:
    """Return the interval of M over its loops."""
    return interval([one.score for one in found.loops if one.score is not None], mean, limits)
