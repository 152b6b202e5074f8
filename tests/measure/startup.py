"""What `healbot --version` costs beside an empty interpreter: `python -m tests.measure.startup`.

Starts both in turns and compares the medians.
"""

import statistics
import subprocess
import sys
import time

TURNS = 25
GOAL = 3.0


def _milliseconds(*words: str) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    return (time.perf_counter() - begun) * 1000


def main() -> int:
    """Print one line; the exit code is 1 where the goal is missed."""
    pairs = [
        (_milliseconds("-m", "healbot", "--version"), _milliseconds("-c", "pass"))
        for _ in range(TURNS + 1)
    ][1:]
    ours = statistics.median(pair[0] for pair in pairs)
    empty = statistics.median(pair[1] for pair in pairs)
    sys.stdout.write(
        f"healbot --version {ours:.1f} ms, python -c pass {empty:.1f} ms,"
        f" ratio {ours / empty:.2f} (goal {GOAL})\n"
    )
    return 0 if ours / empty <= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
