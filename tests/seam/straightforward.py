"""SEAM's four numbers written straight from the formulas, for plain dicts; slow, and easy to check.

Known deviations from the formulas' own sketch, on purpose: no ``autojunk``, RECERTIFY judged also
where the safety floor applies, nothing where there is nothing to judge.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

GAP_MAX, R_MAX, DRIFT_MAX, DAYS, SIMILARITY, CAP = 0.25, 0.05, 0.20, 7, 0.90, 5
Event = Mapping[str, Any]


def clamp(value: float) -> float:
    return max(0.0, min(1.0, float(value)))


def signal(heals: Sequence[Event], failures: Sequence[Event] | None) -> float:
    healed = {heal["trigger"]["failure_signature"] for heal in heals}
    real = {h["trigger"]["failure_signature"] for h in heals if h["was_real_failure"]}
    precision = len(real) / len(healed)
    if failures is None:
        return clamp(0.6 * precision + 0.4)
    missed = {one["failure_signature"] for one in failures} - healed
    found = len(real) + len(missed)
    recall = len(real) / found if found else 0.0
    total = precision + recall
    f1 = 2 * precision * recall / total if total else 0.0
    again = {
        failure["failure_signature"]
        for failure in failures
        for heal in heals
        if heal["trigger"]["failure_signature"] == failure["failure_signature"]
        and 0 < _seconds(heal["ts"], failure["ts"]) <= DAYS * 86_400
    }
    return clamp(0.6 * f1 + 0.4 * (1 - len(again) / len(healed)))


def _seconds(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def efficacy(heals: Sequence[Event]) -> float:
    gaps = [
        max(
            0.0,
            (heal["visible_after"] - heal["visible_before"])
            - (heal["holdout_after"] - heal["holdout_before"]),
        )
        for heal in heals
    ]
    return float(sum(1 - min(gap / GAP_MAX, 1.0) for gap in gaps) / len(gaps))


def aftermath(
    surface: Sequence[Event], pre: Mapping[str, str], certified: Mapping[str, str]
) -> tuple[float, bool]:
    regressed = [one for one in surface if pre[one["id"]] == "pass" and one["result"] == "fail"]
    churn = sum(certified[one["id"]] != one["result"] for one in surface)
    recertify = churn / len(surface) >= DRIFT_MAX
    if any(one["safety"] for one in regressed):
        return 0.0, recertify
    return 1 - min(len(regressed) / len(surface) / R_MAX, 1.0), recertify


def are_alike(later: str, earlier: str) -> bool:
    return SequenceMatcher(None, later, earlier, autojunk=False).ratio() > SIMILARITY


def monotonicity(scores: Sequence[float], blocks: Sequence[str]) -> float:
    dips = sum(scores[i] < scores[i - 1] for i in range(1, len(scores)))
    revisits = sum(
        are_alike(blocks[i], blocks[j]) for i in range(2, len(blocks)) for j in range(i - 1)
    )
    return clamp(1 - (0.4 * max(0, dips - 1) + 0.4 * revisits + 0.2 * (len(scores) >= CAP)))
