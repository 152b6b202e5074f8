"""Spans of time: a window's length in words, its ends, and the weeks or days that it falls into.

Knows no clock. Instants are seconds since 1970 in UTC; weeks begin on Monday.
"""

import math
import re
from datetime import UTC, datetime
from typing import NamedTuple

from healbot.seam.defaults import DAY, UNITS
from healbot.seam.faults import FieldError

ALL = "all"
_LENGTH = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([smhdw])")
PARTS = {"day": DAY, "week": 7 * DAY}
_MONDAY = 4 * DAY  # 1970 began on a Thursday


class Window(NamedTuple):
    """From ``start`` to ``end``, both included."""

    start: float
    end: float

    def has(self, at: float) -> bool:
        """Return whether an instant lies in it."""
        return self.start <= at <= self.end


def parse_length(text: str) -> float:
    """Return the seconds of ``7d``, ``36h``, ``2w`` …; endless for ``all``.

    Raises:
        FieldError: It is no length.
    """
    if text == ALL:
        return math.inf
    found = _LENGTH.fullmatch(text)
    if not found or not float(found[1]):
        raise FieldError("window", f"has to be a length such as 7d, 36h or all, is {text!r}")
    return float(found[1]) * UNITS[found[2]]


def partition(at: float, part: str) -> Window:
    """Return the day or week that holds an instant; its end is the last microsecond."""
    length = PARTS[part]
    origin = _MONDAY if part == "week" else 0.0
    start = math.floor((at - origin) / length) * length + origin
    return Window(start, start + length - 1e-6)


def date_of(at: float) -> str:
    """Return the UTC date of an instant."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()
