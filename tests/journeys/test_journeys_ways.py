"""One agent, several ways of running it: an edit must pass on each of them."""

from pathlib import Path

import pytest
from sandbox import git, interpreter, make_repository
from telling import SETTINGS, answered, call, change, instructions, lines_of

DEAF = """\
import sys
task = sys.stdin.read()
print("refunded" if "refund" in task else "Hello, how can I help?")
"""
SAME = 'exec(open("agent.py").read())\n'


def two_ways(folder: Path, second: str, name: str = "") -> Path:
    """Make the sandbox with a second program beside the first."""
    make_repository(folder)
    (folder / "agents/s/second.py").write_text(second)
    python = interpreter()
    text = (folder / SETTINGS).read_text()
    start = text.index("    run:")
    end = text.index("\n", start)
    named = f", name: {name}" if name else ""
    runs = (
        "    run:\n"
        f'      - {{command: "{python} -S -E agent.py", name: first}}\n'
        f'      - {{command: "{python} -S -E second.py"{named}}}'
    )
    change(folder, SETTINGS, text[start:end], runs)
    return folder


def test_an_edit_that_helps_on_both_ways_is_merged_and_its_card_shows_both(tmp_path: Path) -> None:
    folder = two_ways(tmp_path / "r", SAME)
    done = answered(folder, "cycle")
    assert done["outcome"] == "merged"
    assert {row["case"] for row in done["card"]["rows"]} >= {
        "refund-over@first", "refund-over@command", "hello@first", "hello@command",
    }  # fmt: skip
    assert "escalate" in instructions(folder)


def test_an_edit_that_helps_on_one_way_only_is_refused(tmp_path: Path) -> None:
    folder = two_ways(tmp_path / "r", DEAF, name="deaf")
    done = answered(folder, "cycle")
    assert done["outcome"] == "refused"
    assert "escalate" not in instructions(folder)
    assert "refund-over@deaf" in done["note"]


def test_runs_of_one_way_never_answer_for_another(tmp_path: Path) -> None:
    folder = two_ways(tmp_path / "r", SAME)
    answered(folder, "cycle")
    places = [(run["case"], run["revision"], run["repeat"]) for run in lines_of(folder, "journal")]
    assert len(places) == len(set(places))
    cases = {run["case"] for run in lines_of(folder, "journal")}
    assert all(
        len({run["runner"] for run in lines_of(folder, "journal") if run["case"] == case}) == 1
        for case in cases
    )


def test_two_ways_of_one_name_are_told(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    two = "run: [{command: a}, {command: b}]\n    # "
    change(folder, SETTINGS, "run:", two)
    done = call(folder, "status")
    assert done.code == 3
    assert "two ways of running are called 'command'" in done.err


@pytest.mark.parametrize("word", ["list", "lint"])
def test_cases_are_listed_once_a_way(word: str, tmp_path: Path) -> None:
    folder = two_ways(tmp_path / "r", SAME)
    assert git(folder, "status", "--porcelain") == ""
    done = call(folder, "cases", word)
    assert done.code == 0, done.err
    assert ("hello@first" in done.out) == (word == "list")
