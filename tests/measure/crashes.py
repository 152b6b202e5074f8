"""Prints what is left after ``kill -9`` at every effect of whole commands, resumed to their end.

Run it with ``python -m tests.measure.crashes [--every N] [--only NAME]``. Crash points are both
sides of every ledger entry, Intent, ref move, work tree move, lease and journalled run; each kills
the real command line in a fresh repository, which is then started again.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from crashing import SCENARIOS, Scenario, Stage

HEAD = ("scenario", "crash points", "survived", "duplicates", "lost", "other")


class Row(NamedTuple):
    """Counts over the crash points of one scenario."""

    name: str
    points: int
    survived: int
    duplicates: int
    lost: int
    other: int


def measured(scenario: Scenario, *, every: int) -> Row:
    """Kill a scenario at each of its points; failures are told on stderr as they come."""
    points = survived = duplicates = lost = other = 0
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(scenario, Path(folder))
        for point in stage.points(every=every):
            found = stage.survive(point)
            points += 1
            survived += found.survived
            duplicates += len(found.duplicates)
            lost += len(found.lost)
            other += len(found.other)
            if not found.survived:
                sys.stderr.write(f"{scenario.name}, {point}: {found}\n")
    return Row(scenario.name, points, survived, duplicates, lost, other)


def _say(row: Sequence[object]) -> None:
    sys.stdout.write("| " + " | ".join(str(one) for one in row) + " |\n")
    sys.stdout.flush()


def main() -> int:
    """Print the table; returns 1 where a point was not survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="of runs, only each so-manieth")
    parser.add_argument("--only", default="", help="scenarios whose name begins so")
    asked = parser.parse_args()
    _say(HEAD)
    sys.stdout.write("|---|" + "---:|" * (len(HEAD) - 1) + "\n")
    rows = []
    for scenario in SCENARIOS:
        if scenario.name.startswith(asked.only):
            rows.append(measured(scenario, every=asked.every))
            _say(rows[-1])
    return 0 if all(row.survived == row.points for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
