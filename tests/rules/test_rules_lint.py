"""Doubts about cases are told with file and line."""

from typing import Any

import pytest

from healbot.records.case import Case
from healbot.rules.lint import lint

SOUND = {"type": "contains", "value": "escalate"}


def _case(name: str = "a", **more: Any) -> Case:
    plain = {
        "id": name, "input": f"About {name}", "assert": [SOUND], "split": "train",
        "origin": f"c/{name}.yml:3", "folder": "c",
    }  # fmt: skip
    return Case.model_validate({**plain, **more})


HELD = _case("b", split="heldout")


def test_sound_cases_give_no_doubt() -> None:
    assert lint([_case(), HELD], paths=["c/a.yml", "c/b.yml"]) == ()


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"assert": []}, "has no assert and no check, so it can't be scored"),
        ({"assert": [{"type": "contians", "value": "x"}]}, "contians"),
        ({"assert": [{"type": "contains", "value": ""}]}, "needs a text"),
        ({"assert": [{"type": "regex", "value": ".*"}]}, "can't fail"),
        ({"checks": [{"command": "true"}]}, "can't fail"),
        ({"checks": [{"command": "python check.py || true"}]}, "can't fail"),
        ({"checks": [{"command": "python check.py"}]},
         "the check's script 'check.py' is not below 'c'"),
        ({"checks": [{"python": "check:ok"}]}, "the check's script 'check.py' is not below 'c'"),
        ({"checks": [{"python": "check"}]}, "is no module:function"),
        ({"checks": [{"tests": {"add": "hidden", "run": "x", "protect": ["t/**"]}}]},
         "the folder 'c/hidden' is missing or empty"),
        ({"workspace": "../../x"}, "leaves the repository"),
        ({"files": {"../x": "y"}}, "'../x' leaves the workspace"),
        ({"files": {"/etc/x": "y"}}, "'/etc/x' leaves the workspace"),
    ],
)  # fmt: skip
def test_what_makes_a_case_useless_or_unsafe_is_an_error(more: dict[str, Any], text: str) -> None:
    problems = lint([_case(**more), HELD], paths=["c/a.yml"])
    assert {(one.path, one.line, one.severity) for one in problems} == {("c/a.yml", 3, "error")}
    assert text in " ".join(one.text for one in problems)


def test_a_script_beside_the_case_file_is_found_and_one_outside_its_folder_is_not() -> None:
    paths = ["c/check.py", "c/checks/deep.py", "tools/judge.sh"]
    inside = [{"command": "python check.py"}, {"python": "checks.deep:f"}]
    assert lint([_case(checks=inside), HELD], paths=paths) == ()
    outside = lint([_case(checks=[{"command": "bash ../tools/judge.sh"}]), HELD], paths=paths)
    assert [one.severity for one in outside] == ["error"]


def test_nothing_is_said_of_missing_files_without_a_listing() -> None:
    assert lint([_case(checks=[{"command": "python check.py"}]), HELD]) == ()


def test_no_held_out_case_is_a_warning() -> None:
    (problem,) = lint([_case(), _case("c")])
    assert (problem.severity, "no case is held out" in problem.text) == ("warning", True)


def test_a_near_duplicate_is_a_warning_and_in_another_split_an_error() -> None:
    same = _case("c", input="About a!")
    assert [one.severity for one in lint([_case(), HELD, same])] == ["warning"]
    torn = same.model_copy(update={"split": HELD.split})
    (problem,) = lint([_case(), torn])
    assert (problem.path, problem.severity) == ("c/c.yml", "error")
    assert "'a' (c/a.yml:3), in another split" in problem.text
