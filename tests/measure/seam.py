"""Prints how fast SEAM is: a million events, and Monotonicity beside the plain formula.

Run it with ``python -m tests.measure.seam [--events N] [--pairs N] [--whole]``. The first part
starts the real command on files of that size and reads its time and peak memory. The second scores
a loop of 200 cycles with 8,000-character texts whole, and the straightforward version on a spread
of its pairs (all of them with ``--whole``: hours); each pair's answer must be the same. A smaller
loop is then scored whole by both, and the numbers must be identical.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from seam import straightforward

from healbot.seam.blocks import Block
from healbot.seam.defaults import DEFAULTS
from healbot.seam.monotonicity import loop_score, revisits

SECONDS_MOST, BYTES_MOST, FASTER_LEAST = 60.0, 1 << 30, 20.0
CYCLES, CHARACTERS = 200, 8_000
SMALL_CYCLES, SMALL_CHARACTERS = 30, 800
VOCABULARY = (
    "before after when tool times out wait seconds then ask answer look report stop read write "
    "check count compare order limit refund customer escalate never always once more twice each "
    "page price table list file name colleague amount above below first last retry fetch planner"
)
START = datetime(2026, 6, 2, tzinfo=UTC)
Write = Callable[[str], object]


def write_events(folder: Path, count: int, rng: random.Random) -> None:
    """Write heal events, four cycles a loop, with blocks, and as many failures, out of order."""
    words = VOCABULARY.split()
    step = timedelta(days=7) / max(count, 1)
    signatures = [f"timeout:tool_{n % 97}:flow_{n}" for n in range(max(1, count // 5))]
    with (folder / "heals.jsonl").open("w") as file:
        for n in range(count):
            visible = rng.random()
            event = {
                "heal_id": f"h_{n:07}",
                "ts": (START + step * n).isoformat(),
                "loop_id": f"loop_{n // 4:06}",
                "cycle": n % 4 + 1,
                "level": 2,
                "trigger": {"failure_signature": rng.choice(signatures), "evidence": "3 timeouts"},
                "change": {
                    "target": "planner_prompt",
                    "before_hash": f"{rng.getrandbits(48):012x}",
                    "after_text": " ".join(rng.choices(words, k=rng.randint(9, 24))) + ".",
                },
                "visible_before": visible / 2,
                "visible_after": visible,
                "holdout_before": visible / 2,
                "holdout_after": visible * 0.95,
                "tokens_spent": rng.randrange(50_000),
                "task_tokens": 11_000,
                "was_real_failure": n % 7 != 0,
                "score": visible,
            }
            file.write(json.dumps(event) + "\n")
    with (folder / "failures.jsonl").open("w") as file:
        for _ in range(count):
            at = START + timedelta(days=9) * rng.random()
            failure = {"failure_signature": rng.choice(signatures), "ts": at.isoformat()}
            file.write(json.dumps(failure) + "\n")


def grade_many(count: int, write: Write) -> bool:
    """Time the real command on so many events and failures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_events(folder, count, random.Random(7))  # noqa: S311 - a simulation
        size = sum(path.stat().st_size for path in folder.iterdir()) / 2**20
        command = [sys.executable, "-m", "healbot.seam", "--heals", str(folder / "heals.jsonl")]
        command += ["--failures", str(folder / "failures.jsonl")]
        begun, before = time.perf_counter(), os.times()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds, after = time.perf_counter() - begun, os.times()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    if done.returncode not in {0, 1, 2}:
        write(done.stderr)
        return False
    report = json.loads(done.stdout)
    processor = after.children_user + after.children_system
    processor -= before.children_user + before.children_system
    write(
        f"{count:,} heal events and {count:,} failures ({size:.0f} MiB): {seconds:.1f} s "
        f"({processor:.1f} s of processor), peak {peak / 2**20:.0f} MiB "
        f"(goals {SECONDS_MOST:.0f} s, {BYTES_MOST / 2**20:.0f} MiB)\n"
        f"  S {report['S']}  E {report['E']}  A {report['A']}  M {report['M']}\n"
    )
    return seconds < SECONDS_MOST and peak < BYTES_MOST


def texts(cycles: int, characters: int, rng: random.Random) -> list[str]:
    """Return the configs of a loop: fresh ones, small edits of earlier ones, plain returns."""
    vocabulary = ["".join(rng.choices("etaoinshrdlucmfwypvbgk", k=rng.randint(2, 9))) for _ in
                  range(800)]  # fmt: skip
    made: list[str] = []
    for cycle in range(cycles):
        fresh = "\n".join(" ".join(rng.choices(vocabulary, k=11)) for _ in range(characters // 40))[
            :characters
        ].ljust(characters, ".")
        if cycle % 4 == 1 and made:
            fresh = rng.choice(made)
        elif cycle % 4 == 2 and made:
            parts = rng.choice(made).split("\n")
            for _ in range(rng.choice([1, 3, len(parts) // 12, len(parts) // 6])):
                parts[rng.randrange(len(parts))] = " ".join(rng.choices(vocabulary, k=8))
            fresh = "\n".join(parts)
        made.append(fresh)
    return made


def beside(cycles: int, characters: int, pairs: int | None, write: Write) -> bool:
    """Score one loop by both versions; the plain one on a sample of pairs, where asked."""
    rng = random.Random(11)  # noqa: S311 - a simulation
    made = texts(cycles, characters, rng)
    scores = [rng.random() for _ in made]
    begun = time.process_time()
    found = set(revisits([Block(text) for text in made], limits=DEFAULTS))
    dips = sum(later < earlier for earlier, later in pairwise(scores))
    ours = loop_score(max(0, dips - 1), len(found), hit_cap=cycles >= 5, limits=DEFAULTS)
    fast = time.process_time() - begun
    every = [(i, j) for j in range(cycles) for i in range(j + 2, cycles)]
    chosen = every if pairs is None else rng.sample(every, pairs)
    begun = time.process_time()
    plain = {(i, j): straightforward.are_alike(made[i], made[j]) for i, j in chosen}
    slow = (time.process_time() - begun) * len(every) / len(chosen)
    same = all(((j, i) in found) == alike for (i, j), alike in plain.items())
    if pairs is None:
        same = same and straightforward.monotonicity(scores, made) == ours
    how = "whole" if pairs is None else f"from {len(chosen)} pairs"
    write(
        f"Monotonicity, {cycles} cycles of {characters:,} characters, {len(every):,} pairs: "
        f"{fast:.2f} s, straightforward {slow:,.1f} s ({how}), {slow / fast:,.0f} times faster "
        f"(goal {FASTER_LEAST:.0f}); {len(found)} returns, M {ours}; "
        f"{'identical' if same else 'DIFFERENT'}\n"
    )
    return same and slow / fast >= FASTER_LEAST


def main(argv: Sequence[str], write: Write) -> int:
    """Print the lines; the exit code is 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args(argv)
    good = grade_many(options.events, write)
    good &= beside(CYCLES, CHARACTERS, None if options.whole else options.pairs, write)
    good &= beside(SMALL_CYCLES, SMALL_CHARACTERS, None, write)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdout.write))
