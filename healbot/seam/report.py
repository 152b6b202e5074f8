"""The report of a window: four numbers, their alerts, the gates, and what could not be told.

Knows material that was read elsewhere; reads nothing and prints nothing. Axes are never averaged.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from healbot.seam.aftermath import AftermathScore, Baselines, aftermath_score
from healbot.seam.defaults import TOLERANCE, Limits
from healbot.seam.efficacy import EfficacyScore, efficacy_score
from healbot.seam.failures import Sightings
from healbot.seam.floor import NO_FLOOR, Floor
from healbot.seam.gates import Spending, govern
from healbot.seam.heals import Heal, Texts
from healbot.seam.heldout import HeldOut
from healbot.seam.monotonicity import Alike, MonotonicityScore, monotonicity_score
from healbot.seam.signal import SignalScore, signal_score
from healbot.seam.surface import Outcomes, SurfaceRun
from healbot.seam.window import Window, date_of

PLACES = 6
"""Decimals of a reported number."""
NAMED_MOST = 5
OK, ALERT, BLOCKED = 0, 1, 2


@dataclass(frozen=True)
class Material:
    """Everything that a report is made of.

    Attributes:
        heals: In the order of time, blocked ones too.
        surface: Runs by heal id; None where no surface was run.
        is_guarded: Whether a list of protected blocks was given.
        subtracts: Whether the floor is taken off.
        notes: What reading could not tell.
    """

    heals: Sequence[Heal]
    texts: Texts
    sightings: Sightings | None = None
    surface: Mapping[str, SurfaceRun] | None = None
    pre: Outcomes | None = None
    pre_by_heal: Mapping[str, Outcomes] | None = None
    certified: Outcomes | None = None
    holdout: HeldOut | None = None
    is_guarded: bool = False
    floor: Floor = NO_FLOOR
    subtracts: bool = False
    alike: Alike | None = None
    notes: tuple[str, ...] = ()

    @property
    def taken_off(self) -> Floor:
        """Return what is taken off each measure."""
        return self.floor if self.subtracts else NO_FLOOR


@dataclass(frozen=True)
class Report:
    """One window's report, with the evidence behind each number.

    Attributes:
        governed: How many heals say what they and their task spent.
        spenders: The heals that spent more than normal.
        heals: How many lie in the window, blocked ones too.
    """

    window: Window | None
    signal: SignalScore
    efficacy: EfficacyScore
    aftermath: AftermathScore
    monotonicity: MonotonicityScore
    blocked: tuple[Heal, ...]
    governed: int
    spenders: tuple[Heal, ...]
    is_guarded: bool
    heals: int
    limits: Limits
    alerts: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def axes(self) -> dict[str, float | None]:
        """Return the four numbers."""
        return {
            "S": self.signal.score,
            "E": self.efficacy.score,
            "A": self.aftermath.score,
            "M": self.monotonicity.score,
        }

    @property
    def exit_code(self) -> int:
        """Return 2 for a gate block or RECERTIFY, else 1 for an axis alert, else 0."""
        if self.blocked or self.aftermath.recertify_due:
            return BLOCKED
        return ALERT if self.alerts else OK

    @property
    def composite(self) -> float | None:
        """Return the least of the four, for whoever insists; None where one is not known."""
        known = [value for value in self.axes.values() if value is not None]
        return min(known) if len(known) == len(self.axes) else None

    @property
    def escalated(self) -> list[Heal]:
        """Return the heals that spent so much that a person looks, or broke the glass."""
        most = self.limits.budget_escalate
        return [one for one in self.spenders if (one.ratio or 0.0) > most]

    def spending(self, heal: Heal) -> Spending:
        """Return what is told of a heal's spending."""
        return govern(heal.ratio, break_glass=heal.break_glass, limits=self.limits)

    def document(self) -> dict[str, object]:
        """Return the report in its fixed shape."""
        elevated = len(self.spenders) - len(self.escalated)
        return {
            "window": self.window and f"{date_of(self.window.start)} .. {date_of(self.window.end)}",
            **{name: rounded(value) for name, value in self.axes.items()},
            "alerts": list(self.alerts),
            "gate_blocks": len(self.blocked) if self.is_guarded else None,
            "budget_elevated": elevated if self.governed else None,
            "contamination": rounded(self.efficacy.contamination),
            "recertify_due": self.aftermath.recertify_due,
            "notes": list(self.notes),
        }


def rounded(value: float | None) -> float | None:
    """Return a number as it is reported; one without an end as None."""
    return None if value is None or math.isinf(value) else round(value, PLACES) + 0.0


def report_of(
    material: Material, window: Window | None, number: int = 0, *, limits: Limits
) -> Report:
    """Make the report of a window.

    Args:
        material: Everything that was read.
        window: None where there is no event to make one of.
        number: Which of the windows that the sightings were made for.
        limits: The defaults, or what a user set.
    """
    until = window.end if window else 0.0
    inside = [one for one in material.heals if window and window.has(one.at)]
    scored = [one for one in inside if one.touched is None]
    blocked = tuple(one for one in inside if one.touched is not None)
    taken_off = material.taken_off
    signal = signal_score(scored, material.sightings, window=number, end=until, limits=limits)
    efficacy = efficacy_score(scored, material.holdout, floor=taken_off.gap or 0.0, limits=limits)
    aftermath = aftermath_score(
        _runs(material, scored, is_last=not number or _is_last(material, until)),
        _baselines(material, has_heals=bool(scored)),
        limits,
    )
    monotonicity = monotonicity_score(
        _loops(material.heals, window), material.texts, alike=material.alike, limits=limits
    )
    governed, spenders = _governed(inside, limits)
    found = Report(
        window, signal, efficacy, aftermath, monotonicity, blocked, governed, spenders,
        material.is_guarded, len(inside), limits, (),
    )  # fmt: skip
    return _completed(found, material, inside, limits=limits)


def _governed(heals: Sequence[Heal], limits: Limits) -> tuple[int, tuple[Heal, ...]]:
    """Return how many heals could be judged, and those that spent more than normal."""
    least = min(limits.budget_elevated, limits.budget_escalate)
    governed, spenders = 0, []
    for heal in heals:
        ratio = heal.ratio
        if ratio is not None:
            governed += 1
            if ratio > least:
                spenders.append(heal)
    return governed, tuple(spenders)


def _completed(
    found: Report, material: Material, inside: Sequence[Heal], *, limits: Limits
) -> Report:
    notes = [*material.notes, *_empty_notes(found), *_gate_notes(found, inside)]
    for axis in (found.signal, found.efficacy, found.aftermath, found.monotonicity):
        notes += axis.notes
    if material.surface is None:
        notes.append("A is null: no surface run was given; recertify_due is null.")
    elif not found.aftermath.runs:
        notes.append("A is null: no surface case was run after a heal of this window.")
    if material.subtracts:
        notes.append("The A/A floor was taken off gap, regression and churn.")
    return Report(
        **{name: getattr(found, name) for name in _PARTS},
        alerts=tuple(_alerts(found, limits)),
        notes=tuple(notes),
    )


_PARTS = (
    "window", "signal", "efficacy", "aftermath", "monotonicity", "blocked", "governed",
    "spenders", "is_guarded", "heals", "limits",
)  # fmt: skip


def _alerts(found: Report, limits: Limits) -> list[str]:
    alerts = []
    least = {"S": limits.alert_s, "E": limits.alert_e, "A": limits.alert_a, "M": limits.alert_m}
    for name, value in found.axes.items():
        if value is not None and value < least[name] - TOLERANCE:
            alerts.append(f"{name}<{_threshold(least[name])}")
        if name == "E":
            if found.efficacy.is_widening:
                alerts.append("E widening")
            contamination = found.efficacy.contamination or 0.0
            if contamination > limits.alert_contamination + TOLERANCE:
                alerts.append(f"contamination>{_threshold(limits.alert_contamination)}")
    return alerts


def _threshold(value: float) -> str:
    return f"{value:.2f}" if round(value, 2) == value else repr(value)


def _empty_notes(found: Report) -> list[str]:
    if found.window is None:
        return ["No heal event: S, E, A and M are null."]
    return [] if found.heals else ["No heal in the window: S, E, A and M are null."]


def _gate_notes(found: Report, inside: Sequence[Heal]) -> list[str]:
    notes = [
        f"Gate: heal {one.heal_id} touches a protected block; blocked, escalated, not scored."
        for one in found.blocked[:NAMED_MOST]
    ]
    if not found.is_guarded:
        notes.append("gate_blocks is null: no protected blocks were given (--protected).")
    unknown = sum(not one.bounded for one in inside)
    if found.is_guarded and unknown:
        notes.append(
            f"Gate: {unknown} of {len(inside)} heals lack before_text or after_text; whether they "
            "touch a protected block can't be told."
        )
    if inside and not found.governed:
        notes.append("budget_elevated is null: no heal says what it and its task spent.")
    high = found.escalated
    notes += [f"Budget: heal {one.heal_id} {found.spending(one).log}" for one in high[:NAMED_MOST]]
    if len(high) > NAMED_MOST:
        notes.append(f"Budget: {len(high) - NAMED_MOST} more heals above the limit (--explain).")
    return notes


def _loops(heals: Sequence[Heal], window: Window | None) -> list[list[Heal]]:
    """Return the loops with a heal in the window, each with all its cycles up to its end."""
    loops: dict[str, list[Heal]] = {}
    if window is None:
        return []
    for heal in heals:
        if heal.touched is None and heal.at <= window.end:
            loops.setdefault(heal.loop_id, []).append(heal)
    return [cycles for cycles in loops.values() if cycles[-1].at >= window.start]


def _is_last(material: Material, until: float) -> bool:
    return not material.heals or until >= material.heals[-1].at


def _runs(material: Material, heals: Sequence[Heal], *, is_last: bool) -> list[SurfaceRun]:
    """Return the runs of these heals, in their order; one that names no heal comes last."""
    if material.surface is None:
        return []
    runs = [material.surface[one.heal_id] for one in heals if one.heal_id in material.surface]
    nameless = material.surface.get("")
    return [*runs, nameless] if nameless and is_last else runs


def _baselines(material: Material, *, has_heals: bool) -> Baselines:
    """Return what the runs are compared with; without a heal nothing can have regressed by one."""
    off = material.taken_off
    return Baselines(
        material.pre if has_heals else None,
        material.pre_by_heal,
        material.certified,
        off.regression or 0.0,
        off.churn or 0.0,
    )
