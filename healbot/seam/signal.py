"""Signal: was the failure worth healing, and did the heal hold? S, at the level of signatures.

precision = TP/(TP+FP), recall = TP/(TP+FN), F1; recurrence = healed signatures seen again within
the recurrence window after any heal that targeted them, over healed signatures.
S = 0.6·F1 + 0.4·(1 − recurrence), within 0 and 1. Knows heals and sightings; reads nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from healbot.seam.defaults import DAY, Limits
from healbot.seam.failures import Sightings
from healbot.seam.heals import Heal

NAMED_MOST = 5


class Signature(NamedTuple):
    """The one verdict on a signature.

    Attributes:
        real: Whether any heal on it was of a real failure; None where no probe told.
        recurred: Whether it was seen again in time after any of its heals.
    """

    name: str
    real: bool | None
    recurred: bool


@dataclass(frozen=True)
class SignalScore:
    """S with what is behind it; what is None could not be told.

    Attributes:
        missed: Real signatures that were never healed.
        immature: Heals too young for their failure to have had time to return.
    """

    score: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    recurrence: float | None
    signatures: tuple[Signature, ...]
    missed: tuple[str, ...]
    immature: tuple[str, ...]
    notes: tuple[str, ...]


def signal_score(
    heals: Sequence[Heal], sightings: Sightings | None, *, window: int, end: float, limits: Limits
) -> SignalScore:
    """Score the heals of a window.

    Args:
        heals: Those that no gate blocked.
        sightings: The failure log; None where there is none.
        window: Which of the windows that the sightings were made for.
        end: The last instant that is known, in seconds since 1970.
        limits: The defaults, or what a user set.
    """
    within = limits.recurrence_days * DAY
    verdicts = _verdicts(heals, sightings, within)
    missed = tuple(sorted(sightings.missed(window))) if sightings else ()
    known_until = max(end, sightings.last or end) if sightings else end
    young = tuple(one.heal_id for one in heals if one.in_force + within > known_until)
    if not heals:
        return SignalScore(None, None, None, None, None, (), missed, (), ())
    true = sum(one.real is True for one in verdicts)
    false = sum(one.real is False for one in verdicts)
    precision = true / (true + false) if true + false else None
    recurrence = sum(one.recurred for one in verdicts) / len(verdicts)
    notes = _notes(verdicts, sightings, young)
    if sightings is None:
        score = None if precision is None else composed(precision, recurrence, limits)
        return SignalScore(score, precision, None, None, None, verdicts, (), young, notes)
    recall = true / (true + len(missed)) if true + len(missed) else None
    f1 = None if precision is None else 2 * true / (2 * true + false + len(missed))
    score = None if f1 is None else composed(f1, recurrence, limits)
    return SignalScore(score, precision, recall, f1, recurrence, verdicts, missed, young, notes)


def composed(quality: float, recurrence: float, limits: Limits) -> float:
    """Return S from F1 (or precision) and recurrence, clamped to 0 and 1."""
    score = limits.f1_weight * quality + limits.recurrence_weight * (1 - recurrence)
    return max(0.0, min(1.0, score))


def _verdicts(
    heals: Sequence[Heal], sightings: Sightings | None, within: float
) -> tuple[Signature, ...]:
    real: dict[str, bool | None] = {}
    recurred: dict[str, bool] = {}
    for heal in heals:
        name = heal.signature
        before = real.get(name)
        real[name] = True if heal.real or before else (heal.real if before is None else before)
        again = recurred.get(name, False)
        recurred[name] = again or (sightings is not None and sightings.came_back(heal, within))
    return tuple(Signature(name, real[name], recurred[name]) for name in sorted(real))


def _notes(
    verdicts: Sequence[Signature], sightings: Sightings | None, young: Sequence[str]
) -> tuple[str, ...]:
    notes = []
    unknown = sum(one.real is None for one in verdicts)
    if unknown == len(verdicts):
        notes.append("S: no heal says whether its failure was real (was_real_failure); S is null.")
    elif unknown:
        notes.append(
            f"S: {unknown} of {len(verdicts)} healed signatures have no was_real_failure; they "
            "count in neither precision nor recall."
        )
    if young:
        notes.append(
            f"S rests on {len(young)} immature heals, younger than the recurrence window at the "
            f"log's end: {', '.join(young[:NAMED_MOST])}{' …' if len(young) > NAMED_MOST else ''}."
        )
    if sightings is None:
        notes.append(
            "S: no failure log, so recall is null and no recurrence could be seen; "
            "S = 0.6·precision + 0.4·(1 − recurrence) with a recurrence of 0."
        )
        return tuple(notes)
    absent = sum(one.real is True and not sightings.has_seen(one.name) for one in verdicts)
    if absent:
        notes.append(f"S: {absent} signatures healed as real are not in the failure log.")
    return tuple(notes)
