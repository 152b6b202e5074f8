"""Certifying: a person signs the outcomes as they are now, as the baseline that drift is told from.

Knows a report and outcomes; writes nothing. It is refused while an axis alerts, unless it is forced
with a reason, which the baseline keeps. RECERTIFY does not stand in its way: this is its answer.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from healbot.seam.faults import SeamError
from healbot.seam.report import Report, rounded
from healbot.seam.surface import SurfaceRun


@dataclass(frozen=True)
class Signature:
    """Who certifies, when, and over what.

    Attributes:
        on: The date, ISO 8601.
        why: The reason, where an alert is overruled.
    """

    owner: str
    on: str
    is_forced: bool = False
    why: str = ""


def check_signature(signature: Signature) -> None:
    """Hold the words against what a signature needs.

    Raises:
        SeamError: The owner, the date or the reason is missing or can't be used.
    """
    if not signature.owner.strip():
        raise SeamError("A baseline needs an owner.", "Give --owner NAME.")
    try:
        date.fromisoformat(signature.on)
    except ValueError as error:
        raise SeamError(
            f"A baseline needs a date, not {signature.on!r}.", "Give --date YYYY-MM-DD."
        ) from error
    if signature.is_forced and not signature.why.strip():
        raise SeamError("Forcing a baseline over an alert needs a reason.", "Give --why TEXT.")


def latest_outcomes(runs: Mapping[str, SurfaceRun], report: Report) -> dict[str, bool]:
    """Return each case's latest outcome that could be told, in the order of the report's runs."""
    latest: dict[str, bool] = {}
    for run in report.aftermath.runs:
        outcomes = runs[run.heal_id].outcomes
        latest |= {case: passed for case, passed in outcomes.items() if passed is not None}
    return latest


def baseline(outcomes: Mapping[str, bool], report: Report, signature: Signature) -> str:
    """Return the text of ``certified.json``.

    Raises:
        SeamError: There is no outcome to certify.
    """
    if not outcomes:
        raise SeamError(
            "There is no outcome to certify: no case of the surface passed or failed.",
            "Give --surface with a run after the last heal.",
        )
    words = {True: "pass", False: "fail"}
    document = {
        "owner": signature.owner,
        "date": signature.on,
        "forced_over": list(report.alerts),
        "why": signature.why if report.alerts else "",
        "report": {name: rounded(value) for name, value in report.axes.items()},
        "gate_blocks": len(report.blocked),
        "outcomes": {case: words[passed] for case, passed in sorted(outcomes.items())},
    }
    return json.dumps(document, indent=2) + "\n"
