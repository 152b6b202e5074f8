"""What init writes works as it stands, comments included."""

import re

import pytest

from healbot.entry.starter import starter
from healbot.records.case import Split
from healbot.records.settings import SETTINGS_PATH, Mode, Settings
from healbot.rules.cases import match_paths, read_cases
from healbot.rules.lint import lint
from healbot.rules.reading import read_settings
from healbot.rules.splits import assign


@pytest.mark.parametrize("folder", [".", "agents/support", "agents/my agent: #1", "on"])
def test_the_files_are_read_back_as_they_are_meant(folder: str) -> None:
    files = starter(folder, name="support", command='python "my agent.py" --x: #y')
    settings = read_settings(files[SETTINGS_PATH])
    (agent,) = settings.agents
    assert (settings.mode, agent.dir, agent.name) == (Mode.MANUAL, folder, "support")
    assert agent.run[0].command == 'python "my agent.py" --x: #y'
    paths = match_paths(tuple(files), agent.cases)
    cases = read_cases({path: files[path] for path in paths}, agent)
    assert [case.split for case in cases] == [Split.TRAIN, Split.HELDOUT]
    assert lint(assign(cases, {}).cases, paths=tuple(files)) == ()


def test_other_file_names_are_written_and_usual_ones_stay_comments() -> None:
    text = starter(".", name="a", instructions="AGENTS.md", skills=".claude/skills")[SETTINGS_PATH]
    (agent,) = read_settings(text).agents
    assert (agent.instructions, agent.skills) == ("AGENTS.md", ".claude/skills")
    assert "\n    # instructions: AGENTS.md" in starter(".", name="a")[SETTINGS_PATH]


def test_every_comment_holds_a_key_that_works_and_the_default_where_it_says_so() -> None:
    text = starter("agents/a", name="a")[SETTINGS_PATH]
    opened = re.sub(r"^( *)# (?=[a-z_]+:|  [a-z_]+:)", r"\1", text, flags=re.MULTILINE)
    settings = read_settings(opened)
    assert settings.models.editor is not None
    plain = Settings.model_validate({"version": 1, "agents": [settings.agents[0]]})
    told_apart = {"mode", "protect", "models"}
    for name in set(Settings.model_fields) - told_apart:
        assert getattr(settings, name) == getattr(plain, name), name


def test_no_placeholder_is_left() -> None:
    assert not any("@" in text for text in starter("a", name="b").values())
