"""Efficacy: did what the loop optimises rise further than what it can't see? E and its two checks.

Truth gap = max(0, Δvisible − Δheld-out); a heal's score = 1 − min(gap / 0.25, 1); E is the mean.
Widening: the gaps' slope is positive and its interval excludes zero. Contamination: the share of
heals whose block holds held-out text. Knows heals; reads nothing.
"""

import heapq
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from healbot.seam.defaults import Limits
from healbot.seam.heals import Heal
from healbot.seam.heldout import HeldOut
from healbot.seam.trend import Trend, trend_of

WORST_MOST = 200


class Gap(NamedTuple):
    """One heal's two gains, the gap between them, and its score."""

    heal_id: str
    visible: float
    heldout: float
    gap: float
    score: float


@dataclass(frozen=True)
class EfficacyScore:
    """E with what is behind it; what is None could not be told.

    Attributes:
        scores: Of the heals that could be scored, in the order of time.
        worst: Those with the widest gaps, widest first.
        contamination: Share of the heals with text that hold held-out text.
        contaminated: Their ids.
    """

    score: float | None
    scores: Sequence[float]
    worst: tuple[Gap, ...]
    trend: Trend | None
    contamination: float | None
    contaminated: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_widening(self) -> bool:
        """Return whether the gap is told to widen."""
        return self.trend is not None and self.trend.is_widening


def truth_gap(heal: Heal, *, floor: float = 0.0) -> float | None:
    """Return max(0, Δvisible − Δheld-out − floor); None where a score is missing."""
    visible_before, visible_after, holdout_before, holdout_after, _ = heal.shares
    if (
        visible_before is None
        or visible_after is None
        or holdout_before is None
        or holdout_after is None
    ):
        return None
    gap = visible_after - visible_before - (holdout_after - holdout_before) - floor
    return gap if gap > 0 else 0.0


def efficacy_score(
    heals: Sequence[Heal], holdout: HeldOut | None, *, floor: float = 0.0, limits: Limits
) -> EfficacyScore:
    """Score the heals of a window, given in the order of time.

    Args:
        heals: Those that no gate blocked.
        holdout: The held-out set; None where it is not given.
        floor: A gap that two identical harnesses show, to be taken off.
        limits: The defaults, or what a user set.
    """
    could = [one for one in heals if holdout is None or holdout.could_move(one.signature)]
    scored: list[Heal] = []
    gaps = array("d")
    for heal in could:
        gap = truth_gap(heal, floor=floor)
        if gap is not None:
            scored.append(heal)
            gaps.append(gap)
    scores = array("d", (heal_score(gap, limits) for gap in gaps))
    score = math.fsum(scores) / len(scores) if scores else None
    trend = trend_of(gaps, limits.trend_z) if len(gaps) >= limits.trend_cycles else None
    told = [one for one in heals if one.tainted is not None]
    contaminated = tuple(one.heal_id for one in told if one.tainted)
    return EfficacyScore(
        score,
        scores,
        _worst(scored, gaps, limits),
        trend,
        len(contaminated) / len(told) if told else None,
        contaminated,
        tuple(_notes(heals, holdout, counts=(len(could), len(gaps), len(told)))),
    )


def heal_score(gap: float, limits: Limits) -> float:
    """Return a heal's score: 1 without a gap, 0 from ``gap_max``."""
    return 1 - min(gap / limits.gap_max, 1.0)


def _worst(heals: Sequence[Heal], gaps: Sequence[float], limits: Limits) -> tuple[Gap, ...]:
    places = heapq.nlargest(WORST_MOST, range(len(gaps)), key=gaps.__getitem__)
    return tuple(_gap(heals[place], gaps[place], limits) for place in places)


def _gap(heal: Heal, gap: float, limits: Limits) -> Gap:
    visible_before, visible_after, holdout_before, holdout_after, _ = heal.shares
    return Gap(
        heal.heal_id,
        (visible_after or 0.0) - (visible_before or 0.0),
        (holdout_after or 0.0) - (holdout_before or 0.0),
        gap,
        heal_score(gap, limits),
    )


def _notes(
    heals: Sequence[Heal], holdout: HeldOut | None, *, counts: tuple[int, int, int]
) -> Iterator[str]:
    if not heals:
        return
    could, scored, told = counts
    still = len(heals) - could
    if still:
        yield (
            f"E: {still} of {len(heals)} heals are null: no held-out case shares their signature, "
            "so the held-out score could not move."
        )
    if could > scored:
        yield (
            f"E: {could - scored} of {len(heals)} heals lack a visible or held-out score and are "
            "not scored."
        )
    if holdout is None:
        yield "E: contamination is null: no held-out set was given."
    elif not told:
        yield "E: contamination is null: no heal carries the text that it changed."
    else:
        if told < len(heals):
            yield f"E: {len(heals) - told} heals carry no text to look for held-out text in."
        if holdout.short:
            yield (
                f"E: {holdout.short} of {holdout.cases} held-out cases have no {holdout.words} "
                "words in a row; their text can't be found in heals."
            )
