"""The way back over several merges, and the pace of pull requests, in a real repository."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from fakes import Said, hire, support
from sandbox import INSTRUCTIONS, make_repository
from telling import CASES, ESCALATE, SETTINGS, answered, call, change, lines_of, script

TITLE = "- Always begin with a greeting.\n"


@pytest.fixture
def twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[bytes]]:
    """Make a repository with two merges on top of each other; tell the bytes before and after."""

    def greeted(texts: Mapping[str, str], task: str, draw: float) -> Said:
        said = support(texts, task, draw)
        begun = "greeting" in texts["instructions.md"]
        return said._replace(text=f"Dear customer! {said.text}" if begun else said.text)

    hire(monkeypatch, greeted)
    folder = make_repository(tmp_path / "repo", more="pulls: {per_week: 3}\n")
    script(folder)
    seen = [(folder / INSTRUCTIONS).read_bytes()]
    assert answered(folder, "cycle")["outcome"] == "merged"
    seen.append((folder / INSTRUCTIONS).read_bytes())
    more = "".join(
        f"- id: dear-{n}\n  split: {split}\n  tags: [dear]\n  input: {text}\n"
        "  assert: [{type: contains, value: Dear}]\n"
        for n, (split, text) in enumerate(
            (("train", "hello from the sea"), ("heldout", "hello out of a far town"))
        )
    )
    change(folder, CASES, "- id: hello\n", more + "- id: hello\n")
    other = ESCALATE.replace("escalate refunds", "greet").replace(
        "- Always escalate a refund.\\n", TITLE.replace("\n", "\\n")
    )
    change(folder, "agents/s/edits.yml", "", other)
    assert answered(folder, "cycle")["outcome"] == "merged"
    seen.append((folder / INSTRUCTIONS).read_bytes())
    assert len(set(seen)) == 3
    return folder, seen


def test_merges_are_undone_one_by_one_and_then_there_is_nothing_left(
    twice: tuple[Path, list[bytes]],
) -> None:
    folder, seen = twice
    for number, earlier in ((2, seen[1]), (1, seen[0])):
        assert answered(folder, "rollback", "--why", "w")["number"] == number
        assert (folder / INSTRUCTIONS).read_bytes() == earlier
    assert call(folder, "rollback", "--why", "w").code == 3
    assert [row["what"] for row in answered(folder, "history")][:2] == ["rolled-back"] * 2


@pytest.mark.parametrize("to", ["1", "revision"])
def test_going_back_past_two_merges_undoes_both(to: str, twice: tuple[Path, list[bytes]]) -> None:
    folder, seen = twice
    first = lines_of(folder, "audit")[0]["body"]
    word = first["baseline"][:10] if to == "revision" else to
    answered(folder, "rollback", "--to", word, "--why", "w")
    assert (folder / INSTRUCTIONS).read_bytes() == seen[0]
    last = call(folder, "rollback", "--why", "w")
    assert last.code == 3
    assert "still stands" in last.err
    assert (folder / INSTRUCTIONS).read_bytes() == seen[0]


def test_no_more_pull_requests_a_week_than_the_setting_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = hire(monkeypatch)
    folder = make_repository(tmp_path / "repo", more="pulls: {per_week: 1}\n")
    call(folder, "cycle")
    made = runner.runs
    done = call(folder, "cycle")
    assert done.code == 5
    assert "pulls.per_week is 1" in done.err
    assert runner.runs == made
    change(folder, SETTINGS, "per_week: 1", "per_week: 2")
    assert answered(folder, "cycle")["outcome"] == "healthy"
