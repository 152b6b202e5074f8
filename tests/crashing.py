"""The kill-9 rig: a command is killed at a chosen effect, started again, and what is left counted.

Knows scenarios, copies of a starting point, and what must hold afterwards whatever the point was.
The one that dies is ``victim.py``.
"""

import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from sandbox import NAME, ROOT, STARTS_VARIABLE, git, make_repository, plain_environment
from victim import AT, LOG

from healbot.cycle.evaluate import mixed_seed
from healbot.entry.audits import of_state
from healbot.entry.unlocking import open_shop
from healbot.entry.wiring import Shop
from healbot.records.run import Run

VICTIM = ROOT / "tests/victim.py"
QUICK = "gate: {repeats: 2, canary: {repeats: 2, passes: 2, second_passes: 3}}\n"
"""Fewer runs a decision: a cycle of 23 runs goes through every phase."""
PARALLEL = 4
JUDGED = (
    "opened", "measured", "diagnosed", "proposed", "probed", "earned", "gated",
    "pull-opened", "canaried",
)  # fmt: skip
MERGED = (*JUDGED, "applied", "closed")
QUEUED = (*JUDGED, "queued", "closed")
MANY = ("run", "begin")
"""Effects of which there is one a run."""


class Scenario(NamedTuple):
    """One command to be killed in.

    Attributes:
        kinds: The ledger's kinds when it is done.
        mode: The settings' mode.
        before: Commands that bring a fresh repository to where the command begins.
        merges, reverts: How many of each the base branch has in the end.
        pull: The state of the pull request in the end.
        remote: Whether a bare remote holds queue and state.
    """

    name: str
    command: tuple[str, ...]
    kinds: tuple[str, ...]
    mode: str = "auto"
    before: tuple[tuple[str, ...], ...] = ()
    merges: int = 1
    reverts: int = 0
    pull: str = "merged"
    remote: bool = False


CYCLE = ("cycle",)
AUTO = Scenario("auto cycle", CYCLE, MERGED)
MANUAL = Scenario("manual cycle", CYCLE, QUEUED, mode="manual", merges=0, pull="open")
MERGE = Scenario(
    "pulls merge", ("pulls", "merge", "1"), (*QUEUED, "applied"), mode="manual", before=(CYCLE,)
)
CLOSE = Scenario(
    "pulls close",
    ("pulls", "close", "1", "--why", "not like this"),
    (*QUEUED, "declined"),
    mode="manual",
    before=(CYCLE,),
    merges=0,
    pull="closed",
)
ROLLBACK = Scenario(
    "rollback",
    ("rollback", "--why", "it was worse"),
    (*MERGED, "rolled-back"),
    before=(CYCLE,),
    reverts=1,
)
REMOTE = Scenario("auto cycle, remote", CYCLE, MERGED, remote=True)
SCENARIOS = (AUTO, MANUAL, MERGE, CLOSE, ROLLBACK, REMOTE)


class Findings(NamedTuple):
    """What was found after a crash and a resume; all empty where it survived."""

    duplicates: tuple[str, ...]
    lost: tuple[str, ...]
    other: tuple[str, ...]

    @property
    def survived(self) -> bool:
        """Nothing doubled, nothing lost, nothing in the way."""
        return not any(self)


class Stage:
    """A scenario's starting point, made once and copied for every crash."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        self._folder = folder
        self._template = folder / "template"
        more = QUICK + ("forge: {remote: origin}\n" if scenario.remote else "")
        repo = make_repository(self._template / "repo", mode=scenario.mode, more=more)
        if scenario.remote:
            git(repo, "init", "--quiet", "--bare", "../bare.git")
            git(repo, "remote", "add", "origin", "../bare.git")
            git(repo, "push", "--quiet", "origin", "main")
        for words in scenario.before:
            done = start(self._template, words)
            assert done.returncode == 0, done.stderr

    def points(self, *, every: int = 1) -> tuple[str, ...]:
        """Return the crash points: both sides of every effect; of runs only each so-manieth."""
        kept = []
        for effect in self.effects:
            name, _, number = effect.rpartition("#")
            if name not in MANY or int(number) % every == 0:
                kept.append(effect)
        return tuple(f"{side} {effect}" for effect in kept for side in ("before", "after"))

    def survive(self, point: str) -> Findings:
        """Kill a fresh copy at a point, start the command again, and say what is wrong."""
        place = self._copy(point)
        done = start(place, self.scenario.command, {AT: point})
        assert done.returncode == -signal.SIGKILL, f"{point} was not reached: {done.stderr}"
        shop = open_shop(place / "repo", plain_environment())
        finished = {mixed_seed(0, run.key) for run in journalled(shop)}
        starts = starts_in(place)
        other = []
        if not _over(shop, self.scenario):
            again = start(place, self.scenario.command)
            if again.returncode:
                other.append(f"started again, it exits {again.returncode}: {again.stderr[-300:]}")
        findings = self._survey(place, finished, starts)
        shutil.rmtree(place)
        return findings._replace(other=(*other, *findings.other))

    @cached_property
    def effects(self) -> tuple[str, ...]:
        """Return the effects of the command where nothing kills it."""
        place = self._copy("recorded")
        log = place / "effects"
        done = start(place, self.scenario.command, {LOG: str(log)})
        assert done.returncode == 0, done.stderr
        effects = tuple(log.read_text().splitlines())
        findings = self._survey(place, set(), starts_in(place))
        assert findings.survived, findings
        shutil.rmtree(place)
        return effects

    def _copy(self, name: str) -> Path:
        place = self._folder / "".join(one if one.isalnum() else "-" for one in name)
        shutil.copytree(self._template, place, symlinks=True)
        return place

    def _survey(self, place: Path, finished: set[int], before: Counter[int]) -> Findings:
        """Count what is there.

        Args:
            place: The copy.
            finished: Seeds of the runs that were journalled when the command was killed.
            before: How often the agent had been started with each seed by then.
        """
        scenario, repo = self.scenario, place / "repo"
        shop = open_shop(repo, plain_environment())
        duplicates, lost = _ledger(shop, scenario)
        more, less = _world(shop, scenario)
        starts = starts_in(place)
        again = [seed for seed in finished if starts[seed] != before[seed]]
        if again:
            duplicates.append(f"{len(again)} finished runs were made again")
        doubled = sum(count - 1 for count in starts.values())
        if doubled > PARALLEL:
            duplicates.append(f"{doubled} runs were made again, more than were in flight")
        paid = sum(entry.spent.runs for entry in shop.chain(shop.agent(None)).entries)
        if paid < starts.total():
            lost.append(f"{starts.total()} runs were started and {paid} are accounted for")
        other = _in_the_way(shop, scenario)
        return Findings((*duplicates, *more), (*lost, *less), tuple(other))


def start(
    place: Path, words: Sequence[str], more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command of the victim's in a copy, to whatever end."""
    environment = plain_environment(
        **{STARTS_VARIABLE: str(place / "starts"), "PYTHONPATH": str(ROOT)}, **(more or {})
    )
    return subprocess.run(
        (sys.executable, str(VICTIM), *words, "--repo", str(place / "repo")),
        check=False, capture_output=True, text=True, env=environment,
    )  # fmt: skip


def starts_in(place: Path) -> Counter[int]:
    """Return how often the agent was started, by seed: one seed is one run's address."""
    file = place / "starts"
    lines = file.read_text().splitlines() if file.exists() else []
    return Counter(int(line.split("\t")[0]) for line in lines)


def journalled(shop: Shop) -> tuple[Run, ...]:
    """Return every finished run of the clone."""
    folder = shop.repo.private / "journal"  # a closed cycle's are settled, without their texts
    kept = [path for name in ("runs", "settled") for path in (folder / name).glob("??/*")]
    files = [path for path in kept if len(path.name) == len("0" * 64)]
    return tuple(Run.model_validate_json(path.read_bytes()) for path in files)


def _kinds(shop: Shop) -> tuple[str, ...]:
    return tuple(entry.body.kind for entry in shop.chain(shop.agent(None)).entries)


def _over(shop: Shop, scenario: Scenario) -> bool:
    return _kinds(shop) == scenario.kinds


def _ledger(shop: Shop, scenario: Scenario) -> tuple[list[str], list[str]]:
    """Return entries that are there too often, and what of the chain is lost or out of order."""
    facts = of_state(shop, shop.agent(None), "")
    here, wanted = Counter(_kinds(shop)), Counter(scenario.kinds)
    duplicates = [f"entry {kind} doubled" for kind in here - wanted]
    lost = [f"entry {kind} lost" for kind in wanted - here]
    if not duplicates and not lost and _kinds(shop) != scenario.kinds:
        lost.append("entries out of order")
    lost += [f"chain: {one}" for one in _texts(facts["broken"])]
    return duplicates, lost


def _world(shop: Shop, scenario: Scenario) -> tuple[list[str], list[str]]:
    """Return what of pull requests, merges and reverts is there too often, and too seldom."""
    pulls = shop.forge.pulls()
    commits = shop.repo.log(shop.base_sha)
    counted = {
        "pull request": (len(pulls), 1),
        "head ref": (len(shop.repo.refs("refs/healbot/pulls/")), 1),
        "merge": (sum(len(one.parents) > 1 for one in commits), scenario.merges),
        "revert": (sum(one.message.startswith("revert(") for one in commits), scenario.reverts),
        "branch": (
            len(shop.repo.refs(f"refs/heads/healbot/{NAME}/")),
            int(scenario.pull == "open"),
        ),
    }
    more = [f"{here} of {name}" for name, (here, wanted) in counted.items() if here > wanted]
    less = [f"{here} of {name}" for name, (here, wanted) in counted.items() if here < wanted]
    less += [f"pull request is {one.state}" for one in pulls if one.state != scenario.pull]
    return more, less


def _in_the_way(shop: Shop, scenario: Scenario) -> list[str]:
    """Return what would hinder a person or the next cycle: a lease, a work tree left behind."""
    found = []
    if shop.permit.holder(NAME):
        found.append("the lease is held")
    dirty = git(shop.repo.folder, "status", "--porcelain")
    if dirty:
        found.append(f"the work tree is not clean: {dirty}")
    head = git(shop.repo.folder, "rev-parse", "HEAD")
    if head != shop.base_sha:
        found.append("the work tree is not at the tip")
    return found


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return [str(one) for one in value]
