"""A command killed at any effect and started again ends as if nothing had happened.

A sample of the crash points of each kind; ``python -m tests.measure.crashes`` goes through all.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from crashing import AUTO, CLOSE, MANUAL, MERGE, REMOTE, ROLLBACK, Findings, Scenario, Stage

pytestmark = pytest.mark.slow
Killed = Callable[[Scenario, str], Findings]
SAMPLE = [
    (AUTO, "after lease take#1"),  # before there is a state branch
    (AUTO, "before refs state+tip+s+s#1"),
    (AUTO, "after run#7"),  # in the middle of a batch
    (AUTO, "before save s: gated#1"),
    (AUTO, "after intent open-pull#1"),
    (AUTO, "after work tree#1"),  # the work tree is ahead of its branch
    (AUTO, "before save s: applied#1"),
    (AUTO, "before lease release#1"),
    (MANUAL, "after save post-check 1#1"),
    (MERGE, "before refs state+tip+main+before-a-ref#1"),
    (MERGE, "before save s: applied#1"),
    (CLOSE, "after intent close-pull#1"),
    (ROLLBACK, "after work tree#1"),
    (ROLLBACK, "before save s: rolled-back#1"),
    (REMOTE, "after push state+tip+main+before-a-ref#1"),  # the remote is ahead of this clone
    (REMOTE, "after work tree#1"),
]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """Kill a scenario at a point; each scenario's starting point is made once."""
    stages: dict[str, Stage] = {}

    def crash(scenario: Scenario, point: str) -> Findings:
        if scenario.name not in stages:
            folder: Path = tmp_path_factory.mktemp("stage")
            stages[scenario.name] = Stage(scenario, folder)
        return stages[scenario.name].survive(point)

    return crash


@pytest.mark.parametrize(
    ("scenario", "point"), SAMPLE, ids=[f"{one.name}-{point}" for one, point in SAMPLE]
)
def test_killed_and_started_again_nothing_is_doubled_lost_or_in_the_way(
    scenario: Scenario, point: str, killed: Killed
) -> None:
    assert killed(scenario, point) == Findings((), (), ())
