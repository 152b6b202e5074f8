"""Attempting cases: many runs side by side, each journalled the moment it is finished.

Knows how one run is made (workspace, runner, checks) and how many go at once; it decides nothing.
A run that the journal has is not made again: that is the whole of resuming.
"""

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

from healbot.cycle.purse import Purse
from healbot.errors import NotNowError
from healbot.ports import Check, Clock, Journal, Runner, Voice, Workspaces
from healbot.records.case import Case
from healbot.records.harness import Harness
from healbot.records.run import Job, Run, RunKey, Trace, Usage

BEAT_SECONDS = 20.0
"""How often the lease is kept alive while runs are under way."""


class Wanted(NamedTuple):
    """One run that a decision asks for."""

    harness: Harness
    case: Case
    repeat: int


class Way(NamedTuple):
    """One way of running an agent, and the folders that it is run in."""

    runner: Runner
    workspaces: Workspaces


class Evaluator:
    """Makes runs of one agent at one commit.

    Args:
        ways: By the name that a case's row has; an only way has the empty name.
    """

    def __init__(
        self,
        ways: Mapping[str, Way],
        *,
        checks_of: Callable[[Case], Sequence[Check]],
        journal: Journal,
        clock: Clock,
        voice: Voice,
    ) -> None:
        self._ways = ways
        self._checks_of = checks_of
        self._journal = journal
        self._clock = clock
        self._voice = voice
        self._stopping = threading.Event()

    def key(self, harness: Harness, case: Case, repeat: int) -> RunKey:
        """Return a run's address."""
        return RunKey(
            revision=harness.revision,
            case=case.digest,
            runner=self._ways[case.way].runner.digest,
            repeat=repeat,
        )

    def find(self, key: RunKey) -> Run | None:
        """Return a finished run from the journal, or None."""
        return self._journal.find(key)

    def run(
        self,
        wanted: Sequence[Wanted],
        *,
        sha: str,
        seed: int,
        parallel: int,
        purse: Purse,
        beat: Callable[[], None],
    ) -> tuple[Run, ...]:
        """Return the runs, in the order wanted; made where the journal has none.

        Raises:
            BudgetError: The budget ended; what was finished is kept.
            HealbotError: A workspace could not be prepared.
        """
        found = {place: self._known(one, purse) for place, one in enumerate(wanted)}
        todo = [place for place, run in found.items() if run is None]
        pool = ThreadPoolExecutor(max_workers=parallel)
        running: dict[Future[Run], int] = {}
        try:
            while todo or running:
                while todo and len(running) < (parallel if purse.priced else 1):
                    place = todo.pop(0)
                    purse.reserve()
                    future = pool.submit(self._attempt, wanted[place], sha, seed=seed)
                    running[future] = place
                done, _ = wait(running, timeout=BEAT_SECONDS, return_when=FIRST_COMPLETED)
                beat()
                for future in done:
                    found[running.pop(future)] = self._settle(future, purse)
        except KeyboardInterrupt:
            self._stopping.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            for future in running:
                if not future.cancelled() and future.exception() is None:
                    self._settle(future, purse)  # it came to its end, so it was spent as well
            raise
        pool.shutdown()
        return tuple(run for _, run in sorted(found.items()) if run is not None)

    def _known(self, one: Wanted, purse: Purse) -> Run | None:
        """Return a journalled run, counted, or None.

        A start that a crash cut off was spent as well: counted ahead of any further run.
        """
        key = self.key(*one)
        run = self._journal.find(key)
        for _ in range(self._journal.lost(key)):
            purse.count(Usage())
        if run is not None:
            purse.count(run.usage)
            self._voice.tick(run.case_id, run.outcome)
        return run

    def _settle(self, future: "Future[Run]", purse: Purse) -> Run:
        purse.give_back()
        run = future.result()
        purse.count(run.usage)
        self._voice.tick(run.case_id, run.outcome)
        return run

    def _attempt(self, one: Wanted, sha: str, *, seed: int) -> Run:
        key = self.key(*one)
        started_at = self._clock.now()
        way = self._ways[one.case.way]
        with way.workspaces.open(sha, one.harness, one.case) as (root, folder):
            self._journal.begin(key)
            job = Job(case=one.case, root=root, folder=folder, seed=mixed_seed(seed, key))
            trace = way.runner.attempt(job)
            results = tuple(check.score(one.case, trace) for check in self._checks_of(one.case))
        if self._stopping.is_set():
            raise NotNowError("Interrupted.")  # what was cut off is no outcome, and is not kept
        run = Run(
            key=key,
            case_id=one.case.id,
            started_at=started_at,
            checks=results,
            **{name: getattr(trace, name) for name in _SHARED},
        )
        self._journal.put(run)
        return run


class Bench(NamedTuple):
    """An evaluator at one commit, under one purse: what a phase needs to have runs made."""

    evaluator: Evaluator
    sha: str
    seed: int
    parallel: int
    purse: Purse
    beat: Callable[[], None]

    def run(self, wanted: Sequence[Wanted]) -> tuple[Run, ...]:
        """Return the runs, in the order wanted; see ``Evaluator.run``."""
        return self.evaluator.run(
            wanted,
            sha=self.sha,
            seed=self.seed,
            parallel=self.parallel,
            purse=self.purse,
            beat=self.beat,
        )


_SHARED = tuple(name for name in Trace.model_fields if name in Run.model_fields)


def mixed_seed(seed: int, key: RunKey) -> int:
    """Mix the settings' seed with revision, case and repeat into 31 bits, on every machine alike.

    The runner's digest is left out: the same numbers serve a changed command or commit.
    """
    text = f"{seed}|{key.revision}|{key.case}|{key.repeat}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1
