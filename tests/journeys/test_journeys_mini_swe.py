"""A real agent program that is not ours goes through the whole loop: mini-swe-agent.

Only its model is scripted, behind real HTTP on loopback. The ``command`` runner starts it, it
really executes its model's shell commands, and programs and hidden tests judge what it leaves.
"""

import importlib.util
import json
from pathlib import Path
from typing import NamedTuple

import pytest
from coder import BEFORE, DEFAULT_CLIENT, INSTRUCTIONS, RULE, make_repository
from crashing import journalled
from sandbox import git, healbot, plain_environment
from scripted_model import Request, ScriptedModel

from healbot.entry.unlocking import open_shop
from healbot.records.run import Run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("minisweagent") is None,
        reason="mini-swe-agent, the agent program under test, is not installed (group `agents`)",
    ),
]
KEY = "sk-known-to-the-scripted-model"
SECRET = "a-deploy-token-that-no-agent-may-see"
CLAIM = "double"


class Story(NamedTuple):
    """What a cycle of the agent's left behind, and what its model was asked meanwhile."""

    repo: Path
    printed: str
    requests: list[Request]
    runs: tuple[Run, ...]


def environment(model: ScriptedModel) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": model.key,
        "OPENAI_API_BASE": model.base_url,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "DEPLOY_TOKEN": SECRET,
    }


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    repo = make_repository(tmp_path_factory.mktemp("mini-swe") / "repo")
    with ScriptedModel(KEY) as model:
        done = healbot(repo, "cycle", environment=environment(model))
        requests = list(model.requests)
    assert done.returncode == 0, done.stderr
    shop = open_shop(repo, plain_environment())
    try:
        runs = journalled(shop)
    finally:
        shop.processes.close()
    return Story(repo, done.stdout, requests, runs)


def test_its_own_failures_and_a_lesson_end_in_a_merged_pull_request(story: Story) -> None:
    rule = (story.repo / INSTRUCTIONS).read_bytes().removeprefix(BEFORE.encode())
    assert rule.startswith(f"- {RULE}".encode()), story.printed
    assert rule.endswith(b"\r\n"), "the file's own line ends are kept"
    assert f"{CLAIM} 0 of 3 → 3 of 3" in story.printed
    parents = git(story.repo, "log", "-1", "--format=%P").split()
    assert len(parents) == 2, "the pull request is merged by a real merge commit"
    assert "Healbot-Revision:" in git(story.repo, "log", "-1", "--format=%B")


def test_the_model_gets_the_instructions_file_as_its_system_prompt(story: Story) -> None:
    merged = (story.repo / INSTRUCTIONS).read_bytes().decode()
    assert {one.system for one in story.requests} == {BEFORE, merged}


def test_only_the_variables_that_the_settings_name_reach_the_agent(story: Story) -> None:
    looked = [one.seen for one in story.requests if "OPENAI_API_BASE=" in one.seen]
    assert looked, "the agent ran env and told its model"
    assert all(f"OPENAI_API_KEY={KEY}" in seen for seen in looked)
    assert {one.key for one in story.requests} == {KEY}
    assert not [one for one in story.requests if SECRET in json.dumps(one.body)]
    assert "DEPLOY_TOKEN" not in "".join(looked)


def test_it_sees_its_repository_without_cases_checks_and_hidden_tests(story: Story) -> None:
    looked = "".join(one.seen for one in story.requests)
    assert "calc.py" in looked
    for hidden in ("noted.py", "test_double.py", "code.yml", "healbot.yml", "notes.md"):
        assert hidden not in looked


def test_every_run_reports_the_tokens_that_the_model_counted(story: Story) -> None:
    tokens = [run.usage.tokens for run in story.runs]
    assert all(tokens), "no run is of unknown cost"
    card = healbot(story.repo, "pulls", "show", "1", "--markdown").stdout
    row = next(line for line in card.splitlines() if line.startswith(f"| `{CLAIM}` |"))
    shown = int(row.rsplit("→", 1)[1].strip(" |").replace(",", ""))
    assert shown in tokens
    assert all(len(run.tool_calls or ()) == 3 for run in story.runs)


def test_a_rollback_brings_back_every_byte(story: Story) -> None:
    done = healbot(story.repo, "rollback", "--why", "the notes are noise")
    assert done.returncode == 0, done.stderr
    assert (story.repo / INSTRUCTIONS).read_bytes() == BEFORE.encode()
    reverted = git(story.repo, "log", "-1", "--format=%B")
    assert reverted.startswith("revert(")
    audit = healbot(story.repo, "audit", "--verify")
    assert audit.returncode == 0, audit.stdout + audit.stderr


def test_its_default_client_works_too(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "repo", client=DEFAULT_CLIENT)
    with ScriptedModel(KEY) as model:
        words = ("cases", "run", "-k", "what-is-there")
        done = healbot(repo, *words, environment=environment(model))
        asked = [one.system for one in model.requests]
    assert done.returncode == 0, done.stdout + done.stderr
    assert asked == [BEFORE] * 3
