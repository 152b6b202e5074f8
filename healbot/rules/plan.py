"""The plan of a cycle: its worst case in runs, cut to what the budgets leave.

Pure. The bound is the forecast, so it must hold whatever the runs say; where everything does not
fit, further candidates go first, then new standings, then corpus cases other than safety ones.
"""

from collections.abc import Callable, Sequence

from pydantic import Field

from healbot.records.case import Case, Split, Standing
from healbot.records.record import Record, digest_of
from healbot.records.settings import GateSettings
from healbot.rules.matching import shape_of
from healbot.rules.stats import CaseCounts, max_runs

RETRIES = 3
"""The most replays of one failing case (the retry probe, by majority where it is noisy)."""
MOST_PROBES = 4


class Plan(Record):
    """What a cycle may do at most.

    Attributes:
        runs: The forecast: never more runs than this.
        least: What it needs with everything optional left out.
        left_out: Corpus cases that the canary does not run this time.
        earn: Cases that may earn a standing.
        parts: The forecast by phase of the cycle; adds up to ``runs``.
    """

    runs: int
    least: int
    left_out: tuple[str, ...] = ()
    earn: tuple[str, ...] = ()
    fallbacks: int = 0
    probes: int = 1
    parts: dict[str, int] = Field(default_factory=dict)


def plan_cycle(
    cases: Sequence[Case],
    standings: dict[str, Standing],
    *,
    numbers: GateSettings,
    editors: int,
    fit: int,
    salt: str,
) -> Plan:
    """Return the fullest plan whose worst case fits, or the least one where not even that does.

    Args:
        cases: All cases with their splits.
        standings: By case digest.
        numbers: The gate's.
        editors: How many editors may propose.
        fit: Runs that the budgets leave.
        salt: Rotates which corpus cases are looked at (the cycle's id).
    """
    train = [case for case in cases if case.split == Split.TRAIN]
    heldout = [case for case in cases if case.split == Split.HELDOUT]
    corpus = [case for case in heldout if case.digest in standings]
    plain = [case for case in (*train, *heldout) if case.digest not in standings]
    order = _by_worth(corpus, train, salt)
    safe = sum(case.safety for case in corpus)

    def parts(*, kept: int, earn: int, fallbacks: int, probes: int) -> dict[str, int]:
        new = [case for case in plain[:earn] if case.split != Split.TRAIN]
        canary = [*order[:kept], *new]
        safety = sum(case.safety for case in (*train, *canary))
        ceiling = max_runs(CaseCounts(len(train), len(heldout), len(canary), safety), numbers)
        return {
            "measure": len(train) * numbers.repeats,
            "diagnose": len(train) * RETRIES,
            "edit": 0,
            "probe": 0 if probes <= 1 else probes * len(train) * numbers.repeats,
            "earn": earn * numbers.canary.repeats,
            "gate": (1 + fallbacks) * ceiling.gate,
            "canary": ceiling.canary,
        }

    def worst(*, kept: int, earn: int, fallbacks: int, probes: int) -> int:
        return sum(parts(kept=kept, earn=earn, fallbacks=fallbacks, probes=probes).values())

    least = worst(kept=safe, earn=0, fallbacks=0, probes=1)
    kept = _most(safe, len(order), lambda n: worst(kept=n, earn=0, fallbacks=0, probes=1) <= fit)
    earn = _most(0, len(plain), lambda n: worst(kept=kept, earn=n, fallbacks=0, probes=1) <= fit)
    most = min(MOST_PROBES, max(1, editors * 2))
    probes = _most(1, most, lambda n: worst(kept=kept, earn=earn, fallbacks=0, probes=n) <= fit)
    fallbacks = _most(
        0,
        numbers.fallbacks if probes > 1 else 0,
        lambda n: worst(kept=kept, earn=earn, fallbacks=n, probes=probes) <= fit,
    )
    return Plan(
        runs=worst(kept=kept, earn=earn, fallbacks=fallbacks, probes=probes),
        least=least,
        left_out=tuple(case.id for case in order[kept:]),
        earn=tuple(case.id for case in plain[:earn]),
        fallbacks=fallbacks,
        probes=probes,
        parts=parts(kept=kept, earn=earn, fallbacks=fallbacks, probes=probes),
    )


def _most(least: int, most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number that fits, counting down; ``least`` where none does."""
    return next((n for n in range(most, least, -1) if fits(n)), least)


def _by_worth(corpus: Sequence[Case], train: Sequence[Case], salt: str) -> list[Case]:
    """Order corpus cases: safety first, then those most like a training case, then by rotation."""
    asked = [set(shape_of(other).asked) for other in train]

    def near(case: Case) -> float:
        words = set(shape_of(case).asked)
        return max((len(words & one) / (len(words | one) or 1) for one in asked), default=0.0)

    return sorted(
        corpus,
        key=lambda case: (not case.safety, -round(near(case), 1), digest_of([salt, case.digest])),
    )
