"""``healbot check``: a person's edit meets the same gate, and no branch can judge itself."""

import json
from pathlib import Path

import pytest
from sandbox import INSTRUCTIONS, commit_all, git, make_repository
from telling import CASES, SETTINGS, answered, call, instructions, kinds

RULE = "- Before a refund above the limit, escalate to a colleague.\n"


def branch(folder: Path, text: str, path: str = INSTRUCTIONS, name: str = "edit") -> None:
    """Commit an added text on a branch of its own, and go back to main."""
    git(folder, "switch", "--quiet", "--create", name)
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text((place.read_text() if place.exists() else "") + text)
    commit_all(folder, "Escalate refunds")
    git(folder, "switch", "--quiet", "main")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r", mode="manual")


def test_an_edit_that_helps_is_admitted_and_nothing_is_written_to_the_branch(folder: Path) -> None:
    branch(folder, RULE)
    tip = git(folder, "rev-parse", "main")
    (done,) = answered(folder, "check", "edit")
    assert (done["verdict"], done["ref"]) == ("admitted", "edit")
    assert done["card"]["title"] == "Escalate refunds"
    assert done["pull"] is None
    assert git(folder, "rev-parse", "main") == tip
    assert kinds(folder) == [
        "opened", "proposed", "probed", "gated", "earned", "canaried", "closed",
    ]  # fmt: skip


def test_an_edit_that_does_nothing_is_refused_with_exit_code_1(folder: Path) -> None:
    branch(folder, "- Be nice.\n")
    done = call(folder, "check", "edit")
    assert done.code == 1
    assert "REJECTED. Rule no-gain" in done.out


def test_the_checked_out_branch_is_judged_against_main(folder: Path) -> None:
    branch(folder, RULE)
    git(folder, "switch", "--quiet", "edit")
    assert call(folder, "check").code == 0


def test_a_branch_cannot_weaken_the_cases_that_judge_it(folder: Path) -> None:
    branch(folder, "- Be nice.\n")
    git(folder, "switch", "--quiet", "edit")
    text = (folder / CASES).read_text()
    (folder / CASES).write_text(text.replace("value: escalate", "value: refund"))
    (folder / SETTINGS).write_text(
        (folder / SETTINGS).read_text() + "gate: {gain: 0.01, canary: {passes: 1}}\n"
    )
    commit_all(folder, "Weaken")
    git(folder, "switch", "--quiet", "main")
    done = call(folder, "check", "edit")
    assert done.code == 1
    assert "2 other files differ too and are not judged" in done.err


def test_a_branch_without_a_change_of_the_harness_has_nothing_to_judge(folder: Path) -> None:
    branch(folder, "more\n", path="notes.txt")
    (done,) = answered(folder, "check", "edit")
    assert (done["outcome"], done["verdict"]) == ("nothing-to-judge", None)


def test_a_new_skill_is_judged_and_shown_on_the_card(folder: Path) -> None:
    skill = "---\nname: refunds\ndescription: When a refund is asked for.\n---\nEscalate it.\n"
    branch(folder, skill, path="agents/s/skills/refunds/SKILL.md")
    (done,) = answered(folder, "check", "edit", code=1)
    (change,) = done["card"]["changes"]
    assert (change["path"], change["added"]) == ("agents/s/skills/refunds/SKILL.md", 5)


def test_what_a_bot_might_not_do_is_told_and_judged_all_the_same(folder: Path) -> None:
    place = folder / INSTRUCTIONS
    place.write_text("# Support\n\n## Safety\n\n- Never share data.\n")
    (folder / SETTINGS).write_text((folder / SETTINGS).read_text() + "protect: ['## Safety']\n")
    commit_all(folder, "Protect")
    branch(folder, "- Escalate every refund.\n")
    done = call(folder, "check", "edit")
    assert done.code == 0
    assert "a bot might not do this" in done.err


def test_a_conflict_and_an_unknown_name_are_told(folder: Path) -> None:
    branch(folder, RULE)
    place = folder / INSTRUCTIONS
    place.write_text(place.read_text() + "- Something else.\n")
    commit_all(folder, "Else")
    done = call(folder, "check", "edit")
    assert (done.code, "without a conflict" in done.err) == (3, True)
    assert call(folder, "check", "no-such").code == 3
    assert call(folder, "check", "main").code == 3


def test_runs_of_a_check_are_counted_and_never_used_again(folder: Path) -> None:
    branch(folder, RULE)
    (first,) = answered(folder, "check", "edit")
    (second,) = answered(folder, "check", "edit")
    assert 0 < second["spent"]["runs"] <= first["spent"]["runs"]  # standings stay earned
    done = answered(folder, "cycle")
    assert done["outcome"] == "queued"
    today = json.loads(call(folder, "status", "--json").out)["agents"][0]["today"]
    assert today["runs"] == sum(one["spent"]["runs"] for one in (first, second, done))
    assert "escalate" not in instructions(folder)
