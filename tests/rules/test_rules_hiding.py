"""What judges an agent is not in its workspace."""

from typing import Any

from healbot.records.case import Case
from healbot.records.settings import Settings
from healbot.rules.hiding import excluded_paths, scripts_of

PATHS = (
    ".github/healbot.yml", ".github/workflows/ci.yml", ".healbot/lessons/a.md", "README.md",
    "agents/a/agent.py", "agents/a/instructions.md", "agents/a/skills/x/SKILL.md",
    "agents/a/cases/one.yml", "agents/a/cases/fixtures/orders/1.json", "agents/a/cases/notes.txt",
    "agents/a/checks/refund.py", "agents/a/checks/data.json", "agents/a/hidden/test_x.py",
    "agents/b/instructions.md", "agents/b/eval/two.yml", "tools/judge.sh", "tools/lib.py",
    "edits/answers.yml", "tests/test_a.py",
)  # fmt: skip


def _settings(**more: Any) -> Settings:
    agents = [
        {"dir": "agents/a", "cases": "agents/a/cases", "run": {"command": "python agent.py"}},
        {"dir": "agents/b", "cases": "agents/b/eval/*.yml", "run": {"command": "x"}},
    ]
    return Settings.model_validate({"version": 1, "agents": agents, **more})


def _case(*checks: dict[str, Any], **more: Any) -> Case:
    place = {"origin": "agents/a/cases/one.yml:1", "folder": "agents/a/cases"}
    return Case.model_validate({"id": "one", "input": "x", "checks": checks, **place, **more})


def test_settings_lessons_and_every_agents_cases_are_hidden_and_nothing_else() -> None:
    hidden = excluded_paths(PATHS, settings=_settings(), cases=[_case()])
    assert hidden == {
        ".github/healbot.yml", ".healbot/lessons/a.md", "agents/a/cases/one.yml",
        "agents/a/cases/fixtures/orders/1.json", "agents/a/cases/notes.txt",
        "agents/b/eval/two.yml",
    }  # fmt: skip


def test_a_checks_script_is_hidden_and_a_folder_of_checks_whole() -> None:
    cases = [_case({"command": "bash ../../../tools/judge.sh"}, {"python": "checks.refund:f"})]
    hidden = excluded_paths(PATHS, settings=_settings(), cases=cases)
    assert {"tools/judge.sh", "agents/a/checks/refund.py", "agents/a/checks/data.json"} <= hidden
    assert "tools/lib.py" not in hidden


def test_hidden_tests_and_a_cases_workspace_are_hidden() -> None:
    tests = {"tests": {"add": "../hidden/", "run": "python -m pytest -q"}}
    hidden = excluded_paths(
        PATHS, settings=_settings(), cases=[_case(tests, workspace="../../../tools")]
    )
    assert {"agents/a/hidden/test_x.py", "tools/judge.sh", "tools/lib.py"} <= hidden
    assert "tests/test_a.py" not in hidden


def test_a_scripted_editors_answers_are_hidden() -> None:
    settings = _settings(editors=[{"scripted": "edits/answers.yml"}])
    assert "edits/answers.yml" in excluded_paths(PATHS, settings=settings, cases=[])


def test_instructions_skills_and_the_agents_program_stay_whatever_a_case_says() -> None:
    wide = Settings.model_validate(
        {"version": 1, "agents": [{"dir": "agents/a", "cases": "agents", "run": {"command": "x"}}]}
    )
    case = _case({"command": "cat ../instructions.md"}, workspace="..")
    hidden = excluded_paths(PATHS, settings=wide, cases=[case])
    kept = {"agents/a/instructions.md", "agents/a/skills/x/SKILL.md", "agents/a/agent.py"}
    assert not kept & hidden
    assert "agents/a/cases/one.yml" in hidden


def test_scripts_are_looked_for_from_case_agent_and_root() -> None:
    case = _case(
        {"command": "python checks/refund.py && tools/judge.sh"},
        {"command": "python -m checks.refund"},
    )
    found = scripts_of([case], PATHS, roots=["agents/a"])
    assert found == {"agents/a/checks/refund.py", "tools/judge.sh"}
