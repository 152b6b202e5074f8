"""The evidence behind a report: which heals, cases, signatures and loops; the worst first.

Knows reports only. Each list shows at most so many entries and says how many there are.
"""

from collections.abc import Iterable, Sequence

from healbot.seam.defaults import Limits
from healbot.seam.floor import Floor
from healbot.seam.intervals import (
    Interval,
    aftermath_interval,
    efficacy_interval,
    monotonicity_interval,
    signal_interval,
)
from healbot.seam.report import Report, rounded

Facts = dict[str, object]


def explained(report: Report, most: int) -> Facts:
    """Return the evidence behind each axis and gate, at most ``most`` entries a list."""
    return {
        "S": _signal(report, most),
        "E": _efficacy(report, most),
        "A": _aftermath(report, most),
        "M": _monotonicity(report, most),
        "gates": _gates(report, most),
    }


def intervals_of(report: Report, floor: Floor, limits: Limits) -> Facts:
    """Return the bootstrap interval of each axis, with how it was made.

    Args:
        report: What to draw again.
        floor: What was taken off, so that A is drawn as it was scored.
        limits: Confidence, resamples and seed among them.
    """
    found: dict[str, Interval] = {
        "S": signal_interval(report.signal, limits),
        "E": efficacy_interval(report.efficacy, limits),
        "A": aftermath_interval(report.aftermath, floor.regression or 0.0, limits),
        "M": monotonicity_interval(report.monotonicity, limits),
    }
    return {
        "confidence": limits.confidence,
        "resamples": int(limits.resamples),
        "seed": int(limits.seed),
        **{name: one and [rounded(one[0]), rounded(one[1])] for name, one in found.items()},
    }


def listed(entries: Iterable[object], most: int) -> Facts:
    """Return the first entries, and how many there are."""
    every = list(entries)
    return {"count": len(every), "first": every[:most]}


def _signal(report: Report, most: int) -> Facts:
    found = report.signal
    by = {kind: [one.name for one in found.signatures if one.real is kind] for kind in _KINDS}
    return {
        "precision": rounded(found.precision),
        "recall": rounded(found.recall),
        "f1": rounded(found.f1),
        "recurrence": rounded(found.recurrence),
        "real": listed(by[True], most),
        "flakes": listed(by[False], most),
        "not_told": listed(by[None], most),
        "never_healed": listed(found.missed, most),
        "recurred": listed((one.name for one in found.signatures if one.recurred), most),
        "immature": listed(found.immature, most),
    }


_KINDS = (True, False, None)


def _efficacy(report: Report, most: int) -> Facts:
    found = report.efficacy
    worst: Sequence[Facts] = [
        {
            "heal_id": one.heal_id,
            "delta_visible": rounded(one.visible),
            "delta_holdout": rounded(one.heldout),
            "truth_gap": rounded(one.gap),
            "score": rounded(one.score),
        }
        for one in found.worst[:most]
    ]
    trend = found.trend and {
        "slope": rounded(found.trend.slope),
        "interval": [rounded(found.trend.low), rounded(found.trend.high)],
        "points": found.trend.points,
        "widening": found.is_widening,
    }
    return {
        "heals": {"count": len(found.scores), "first": worst},
        "trend": trend,
        "contaminated": listed(found.contaminated, most),
    }


def _aftermath(report: Report, most: int) -> Facts:
    found = report.aftermath
    ordered = sorted(found.runs, key=lambda one: (one.score is None, one.score))
    runs = [
        {
            "heal_id": one.heal_id or None,
            "score": rounded(one.score),
            "surface_size": one.size,
            "local_regress": rounded(one.local_regress),
            "regressed": listed(one.regressed, most),
            "safety_regressed": list(one.safety),
        }
        for one in ordered
    ]
    return {
        "runs": listed(runs, most),
        "anchored_drift": rounded(found.drift),
        "churned": listed(found.churned, most),
    }


def _monotonicity(report: Report, most: int) -> Facts:
    found = report.monotonicity
    ordered = sorted(found.loops, key=lambda one: (one.score is None, one.score))
    loops = [
        {
            "loop_id": one.loop_id,
            "score": rounded(one.score),
            "cycles": one.cycles,
            "scored_on": one.scored_on,
            "scores": [rounded(score) for score in one.scores[:most]],
            "extra_dips": one.extra_dips,
            "revisits": listed((list(pair) for pair in one.revisits), most),
            "hit_cap": one.hit_cap,
        }
        for one in ordered[:most]
    ]
    return {"loops": {"count": len(ordered), "first": loops}}


def _gates(report: Report, most: int) -> Facts:
    blocked = ({"heal_id": one.heal_id, "block": one.touched} for one in report.blocked)
    budget = (
        {
            "heal_id": heal.heal_id,
            "ratio": rounded(one.ratio),
            "band": one.band,
            "escalates": one.escalates,
            "log": one.log,
        }
        for heal in sorted(report.spenders, key=lambda heal: -(heal.ratio or 0.0))
        for one in [report.spending(heal)]
    )
    return {"blocked": listed(blocked, most), "budget": listed(budget, most)}
