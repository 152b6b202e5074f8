"""Builds a report's material from records in memory: the way in for a program.

Knows no file. ``grade`` is the whole of SEAM in one call; the command line reads files and does the
same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from healbot.seam.blocks import Block, changed_block
from healbot.seam.defaults import DEFAULTS, Limits
from healbot.seam.failures import Failure, Sightings
from healbot.seam.faults import SeamError
from healbot.seam.heals import Heal, Intake
from healbot.seam.heldout import held_out
from healbot.seam.report import Material, Report, report_of
from healbot.seam.schema import HealEvent
from healbot.seam.surface import Outcomes, read_surface
from healbot.seam.window import Window, parse_length


@dataclass(frozen=True)
class Fixtures:
    """What heals are held against, decoded; what is None is not there.

    Attributes:
        surface: Lines as ``surface.jsonl`` has them.
        holdout: Lines as ``holdout.jsonl`` has them.
    """

    failures: Sequence[Failure] | None = None
    surface: Sequence[Mapping[str, object]] | None = None
    pre: Outcomes | None = None
    certified: Outcomes | None = None
    holdout: Sequence[Mapping[str, object]] | None = None
    protected: Sequence[str] | None = None


NO_FIXTURES = Fixtures()


def grade(
    events: Iterable[HealEvent],
    fixtures: Fixtures = NO_FIXTURES,
    *,
    window: str = "7d",
    limits: Limits = DEFAULTS,
) -> Report:
    """Grade heals: the last ``window`` up to the last event.

    Raises:
        SeamError: Two events share a ``heal_id``.
        FieldError: A fixture's line, or the window, can't be used.
    """
    every = tuple(events)
    holdout = None
    if fixtures.holdout is not None:
        holdout = held_out(fixtures.holdout, int(limits.contamination_words))
    intake = Intake(fixtures.protected, holdout)
    heals = sorted(
        (intake.take(event, place) for place, event in enumerate(every)), key=lambda one: one.at
    )
    if len({heal.heal_id for heal in heals}) < len(heals):
        raise SeamError("Two heal events share a heal_id.", "Give each heal its own.")
    span = last_window(heals, parse_length(window), until=None)

    def texts(heal: Heal) -> Block | None:
        return changed_block(every[heal.place].change)

    material = Material(
        heals=heals,
        texts=texts,
        sightings=sighted(heals, fixtures.failures, [span] if span else []),
        surface=None if fixtures.surface is None else read_surface(fixtures.surface),
        pre=fixtures.pre,
        certified=fixtures.certified,
        holdout=holdout,
        is_guarded=fixtures.protected is not None,
    )
    return report_of(material, span, limits=limits)


def last_window(heals: Sequence[Heal], length: float, *, until: float | None) -> Window | None:
    """Return the window up to an instant, or up to the last heal; None where there is no heal."""
    if until is None and not heals:
        return None
    end = heals[-1].at if until is None else until
    first = min(heals[0].at, end) if heals else end
    return Window(max(end - length, first) if length == float("inf") else end - length, end)


def sighted(
    heals: Sequence[Heal],
    failures: Iterable[Failure] | None,
    windows: Sequence[Window],
    *,
    is_open: bool = True,
) -> Sightings | None:
    """Pass a failure log through; the first window stays open at its end where nothing cut it.

    Failures seen after the last heal belong to it: recall and recurrence look past the heals.
    """
    if failures is None:
        return None
    if windows and is_open:
        windows = [Window(windows[0].start, float("inf")), *windows[1:]]
    sightings = Sightings([one for one in heals if one.touched is None], windows)
    for failure in failures:
        sightings.add(failure)
    return sightings
