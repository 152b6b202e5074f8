"""The slope of a series by Theil and Sen, with Sen's interval.

Knows numbers in order. A long series is first averaged in equal runs, because pairs grow with its
square.
"""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

POINTS_MOST = 400


class Trend(NamedTuple):
    """A slope per step, with its interval, endless where so few points can't bound it.

    Attributes:
        points: How many values it stands on, after averaging.
    """

    slope: float
    low: float
    high: float
    points: int

    @property
    def is_widening(self) -> bool:
        """Return whether it rises, and its interval excludes zero."""
        return self.slope > 0 and self.low > 0


def trend_of(values: Sequence[float], z: float) -> Trend:
    """Return the median slope over all pairs (Theil 1950, Sen 1968, ties as in Sen)."""
    points = averaged(values, POINTS_MOST)
    count = len(points)
    slopes = sorted(
        (points[right] - points[left]) / (right - left)
        for left in range(count)
        for right in range(left + 1, count)
    )
    spread = z * math.sqrt(_variance(points))
    high = round((len(slopes) + spread) / 2)
    low = round((len(slopes) - spread) / 2) - 1
    return Trend(
        statistics.median(slopes),
        slopes[low] if low >= 0 else -math.inf,
        slopes[high] if high < len(slopes) else math.inf,
        count,
    )


def averaged(values: Sequence[float], most: int) -> list[float]:
    """Return at most so many values: the series, or the means of equal consecutive runs."""
    if len(values) <= most:
        return list(values)
    edges = [place * len(values) // most for place in range(most + 1)]
    return [math.fsum(values[start:end]) / (end - start) for start, end in pairwise(edges)]


def _variance(points: Sequence[float]) -> float:
    def term(count: int) -> int:
        return count * (count - 1) * (2 * count + 5)

    ties = sum(term(count) for count in Counter(points).values() if count > 1)
    return max(0.0, (term(len(points)) - ties) / 18)
