"""What one run costs beyond the program itself: `python -m tests.measure.overhead`.

Starts a 50 ms program many times, 16 at once, through the command runner (workspace, home, look
before and after, report) and as a bare ``subprocess`` loop, in turns, and compares the medians.
Two such programs: one that sleeps, where all that we do shows, and one that computes.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from healbot.ports import Runner, Workspaces
from healbot.records.run import Job
from healbot.runners.command import CommandRunner, split
from healbot.runners.process import LocalProcesses
from healbot.runners.template import Preparation
from healbot.runners.workspace import RepoWorkspaces

sys.path.insert(0, str(Path(__file__).parents[1] / "runners"))
import rig

AT_ONCE = 16
RUNS = 64
"""Runs of one turn: four times as many as run at once."""
TURNS = 5
GOAL = 1.5
PROGRAMS = {
    "sleeps 50 ms": "sleep 0.05",
    "computes 50 ms": "sh -c 'i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done'",
}
FILES: dict[str, rig.Content] = {
    "README.md": "A small agent.\n",
    "agents/support/instructions.md": "baseline\n",
    "agents/support/skills/refund/SKILL.md": "---\nname: refund\ndescription: Refunds\n---\n",
    "agents/support/agent.py": "print('hello')\n",
    "agents/support/policy.py": "LIMIT = 60\n",
}
"""The repository whose workspace every run of ours gets: a small agent's."""


def _turn(one: Callable[[int], None]) -> float:
    """Return the milliseconds a run of one turn, runs going 16 at once."""
    begun = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, range(RUNS)))
    return (time.perf_counter() - begun) * 1000 / RUNS


def _ours(workspaces: Workspaces, runner: Runner) -> Callable[[int], None]:
    case, harness = rig.case(), rig.harness()

    def one(seed: int) -> None:
        with workspaces.open("one", harness, case) as (root, folder):
            trace = runner.attempt(Job(case=case, root=root, folder=folder, seed=seed))
        if trace.exit_code != 0:
            raise SystemExit(f"the program failed: {trace}")

    return one


def _bare(words: list[str], folder: Path) -> Callable[[int], None]:
    def one(_: int) -> None:
        subprocess.run(words, cwd=folder, check=True, capture_output=True, input=b"hello")

    return one


def measure(command: str, place: Path, *, sandboxed: bool) -> tuple[float, float]:
    """Return the median milliseconds a run, ours and bare."""
    agent = rig.agent(command=command)
    processes = LocalProcesses(path=rig.environment()["PATH"], bubblewrap=sandboxed)
    environment = rig.environment()
    workspaces = RepoWorkspaces(
        rig.MemoryRepo(one=FILES),
        agent,
        preparation=Preparation(agent.run[0], processes, environment),
        cache=place / "cache",
        left_out=(),
    )
    runner = CommandRunner(
        agent.run[0], processes=processes, environment=environment, temp=place / "temp"
    )
    ours, bare = _ours(workspaces, runner), _bare(split(command), place)
    for one in (ours, bare):
        one(0)
    pairs = [(_turn(ours), _turn(bare)) for _ in range(TURNS)]
    runner.close()
    workspaces.close()
    return statistics.median(pair[0] for pair in pairs), statistics.median(
        pair[1] for pair in pairs
    )


def main() -> int:
    """Print one line a program; the exit code is 1 where the goal is missed.

    Runs in bubblewrap are shown and not judged: the bare loop has no sandbox to pay for.
    """
    worst = 0.0
    sys.stdout.write(f"each run of ours in a fresh workspace of {len(FILES)} files\n")
    path = rig.environment()["PATH"]
    ways = [False, True] if LocalProcesses(path=path).sandboxed else [False]
    for sandboxed in ways:
        for name, command in PROGRAMS.items():
            with tempfile.TemporaryDirectory() as place:
                ours, bare = measure(command, Path(place), sandboxed=sandboxed)
            worst = max(worst, 0.0 if sandboxed else ours / bare)
            way = "bubblewrap" if sandboxed else "plain"
            sys.stdout.write(
                f"{name:16} {way:10} runner {ours:6.2f} ms a run, bare {bare:6.2f} ms,"
                f" ratio {ours / bare:.2f} (goal {GOAL}), {AT_ONCE} at once\n"
            )
    return 0 if worst <= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
