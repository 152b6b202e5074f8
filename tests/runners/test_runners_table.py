"""Each way of running has its runner."""

from pathlib import Path
from typing import Any

import pytest
import rig

from healbot.errors import InputError
from healbot.ports import Runner
from healbot.records.settings import RunSettings
from healbot.runners.process import LocalProcesses
from healbot.runners.table import runner_of


def runner(place: Path, **run: Any) -> Runner:
    return runner_of(
        RunSettings(**run),
        rig.agent(),
        processes=LocalProcesses(bubblewrap=False),
        environment={},
        temp=place,
    )


def test_a_run_entry_gets_the_runner_of_its_key(tmp_path: Path) -> None:
    ways: list[dict[str, Any]] = [
        {"command": "x"},
        {"http": "https://host/"},
        {"python": "a:b"},
    ]
    kinds = [type(runner(tmp_path, **way)).__name__ for way in ways]
    assert kinds == ["CommandRunner", "HttpRunner", "PythonRunner"]


def test_a_way_that_this_version_does_not_have_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run by preset"):
        runner(tmp_path, preset="claude-code")
