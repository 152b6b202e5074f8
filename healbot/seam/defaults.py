"""Every default of SEAM, by name, with its limits and what it is for.

Knows numbers only. Each is a flag and a key of ``seam.toml``; the sources are the formulas' own
defaults, and where those are silent, the project's specification.
"""

from dataclasses import dataclass, field
from typing import Any

DAY = 86_400.0
UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": DAY, "w": 7 * DAY}
TOLERANCE = 1e-9
"""Floating-point dust: an axis at its threshold by the formula does not alert."""


def _option(default: float, text: str, *, low: float = 0.0, high: float = 1.0) -> Any:
    return field(default=default, metadata={"help": text, "low": low, "high": high})


@dataclass(frozen=True, slots=True)
class Limits:
    """All numbers that a user may set; shares unless their name says otherwise.

    ``*_days`` are days, ``*_words``, ``*_cycles``, ``*_dips`` and ``*_cases`` counts, ``budget_*``
    ratios of tokens.
    """

    gap_max: float = _option(0.25, "Truth gap at which a heal scores 0.", low=1e-6)
    regress_max: float = _option(0.05, "Local regression rate at which A is 0.", low=1e-6)
    drift_max: float = _option(0.20, "Anchored drift from which RECERTIFY is due.")
    recurrence_days: float = _option(
        7, "Days after a heal in which its failure must not return.", high=3650
    )
    similarity: float = _option(0.90, "Above it, two changed blocks are the same again.")
    revisit_cycles: float = _option(
        2, "Cycles that lie between a config and its return.", low=1, high=1000
    )
    trend_cycles: float = _option(5, "Heals from which the gap's trend is told.", low=3, high=10**6)
    trend_z: float = _option(1.96, "Width of the trend's interval, in deviations.", high=10)
    free_dips: float = _option(1, "Dips in a loop that cost nothing.", high=1000)
    depth_cycles: float = _option(
        5, "Cycles from which a loop has run into its cap.", low=1, high=10**6
    )
    dip_penalty: float = _option(0.4, "What each further dip costs.")
    revisit_penalty: float = _option(0.4, "What each return to an earlier config costs.")
    cap_penalty: float = _option(0.2, "What running into the cap costs.")
    f1_weight: float = _option(0.6, "Weight of F1 (or precision) in S.")
    recurrence_weight: float = _option(0.4, "Weight of what did not recur in S.")
    contamination_words: float = _option(
        8, "Words in a row that count as held-out text.", low=1, high=1000
    )
    alert_s: float = _option(0.70, "Alert below it.")
    alert_e: float = _option(0.80, "Alert below it.")
    alert_a: float = _option(0.90, "Alert below it.")
    alert_m: float = _option(0.60, "Alert below it.")
    alert_contamination: float = _option(0.05, "Alert above it.")
    budget_elevated: float = _option(3, "Ratio of tokens above which it is logged.", high=10**6)
    budget_escalate: float = _option(6, "Ratio of tokens above which a person looks.", high=10**6)
    confidence: float = _option(0.95, "Of the bootstrap intervals.", low=0.5, high=0.9999)
    resamples: float = _option(1000, "Of the bootstrap.", low=10, high=100_000)
    seed: float = _option(0, "Of the bootstrap.", high=2**53)


COUNTS = frozenset(
    ["revisit_cycles", "trend_cycles", "free_dips", "depth_cycles", "contamination_words",
     "resamples", "seed"]
)  # fmt: skip
"""Numbers that have to be whole."""
_FIELDS = tuple(Limits.__dataclass_fields__.values())
NAMES = tuple(one.name for one in _FIELDS)
HELP: dict[str, str] = {one.name: str(one.metadata["help"]) for one in _FIELDS}
RANGES: dict[str, tuple[float, float]] = {
    one.name: (one.metadata["low"], one.metadata["high"]) for one in _FIELDS
}
DEFAULTS = Limits()


def is_allowed(name: str, value: float) -> bool:
    """Return whether a number may stand for that name; NaN may not."""
    low, high = RANGES[name]
    return low <= value <= high and (name not in COUNTS or float(value).is_integer())
