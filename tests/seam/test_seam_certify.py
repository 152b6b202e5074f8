"""A baseline has an owner and a date, and no alert stands over it unless a reason does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from seam.samples import Desk, event, lines

ROOT = Path(__file__).resolve().parents[2]
WORDS = ["certify", "--heals", "h", "--surface", "s", "--pre", "p", "--out", "certified.json"]
OWNER = ["--owner", "R. Doe"]


@pytest.fixture
def desk() -> Desk:
    made = Desk()
    made.put("h", lines(event()))
    made.put("s", lines({"id": "a", "result": "pass"}, {"id": "b", "result": "fail"}))
    made.put("p", {"a": "pass", "b": "fail"})
    return made


def test_what_it_writes_is_the_baseline_that_the_report_reads(desk: Desk) -> None:
    assert desk.run(*WORDS, *OWNER) == 0
    made = json.loads(desk.files["certified.json"])
    assert (made["owner"], made["date"]) == ("R. Doe", "2026-06-10")
    assert made["outcomes"] == {"a": "pass", "b": "fail"}
    words = ["--heals", "h", "--surface", "s", "--pre", "p", "--certified", "certified.json"]
    assert desk.run(*words) == 0
    assert json.loads(desk.out)["recertify_due"] is False


def test_it_is_refused_while_an_alert_stands_and_writes_nothing(desk: Desk) -> None:
    desk.put("p", {"a": "pass", "b": "pass"})
    assert desk.run(*WORDS, *OWNER) == 1
    assert "not certified: A<0.90" in desk.told
    assert "certified.json" not in desk.files


def test_a_reason_forces_it_and_stays_in_it(desk: Desk) -> None:
    desk.put("p", {"a": "pass", "b": "pass"})
    assert desk.run(*WORDS, *OWNER, "--force") == 3
    assert desk.run(*WORDS, *OWNER, "--force", "--why", "b was retired") == 0
    made = json.loads(desk.files["certified.json"])
    assert (made["why"], made["forced_over"]) == ("b was retired", ["A<0.90"])


def test_recertify_does_not_stand_in_the_way_of_its_own_answer(desk: Desk) -> None:
    desk.put("c", {"a": "fail", "b": "pass"})
    assert desk.run(*WORDS, *OWNER, "--certified", "c") == 0


@pytest.mark.parametrize(
    "words",
    [
        WORDS,
        [*WORDS, *OWNER, "--date", "soon"],
        [*WORDS[:-2], *OWNER],
        ["certify", "--heals", "h", "--out", "c", *OWNER],
        [*WORDS, *OWNER, "--surface", "empty"],
        [*WORDS, *OWNER, "--nope"],
    ],
)
def test_without_owner_date_place_or_outcomes_nothing_is_certified(
    desk: Desk, words: list[str]
) -> None:
    desk.put("empty", "")
    assert desk.run(*words) == 3
    assert "certified.json" not in desk.files


def test_the_first_baseline_needs_no_heal(desk: Desk) -> None:
    desk.put("h", "")
    assert desk.run(*WORDS, *OWNER) == 0


def test_the_module_writes_the_whole_file_or_nothing(tmp_path: Path, desk: Desk) -> None:
    for name in ("h", "s", "p"):
        (tmp_path / name).write_bytes(desk.files[name])
    command = [sys.executable, "-m", "healbot.seam", *WORDS, *OWNER]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    told = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert told.returncode == 3  # this door has no clock
    assert b"--date" in told.stderr
    command += ["--date", "2026-06-10"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["certified.json", "h", "p", "s"]
