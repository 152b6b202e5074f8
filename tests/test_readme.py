"""What the README shows is what there is: help, commands, settings, numbers of the demo."""

import re
import subprocess
import sys
from pathlib import Path

import yaml
from fakes import door

from healbot.lessons.folder import read_lesson
from healbot.rules.cases import read_cases
from healbot.rules.reading import read_settings

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def healbot(*words: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "healbot", *words],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "80"},
    )
    return ran.stdout


def block(after: str, language: str) -> str:
    return README.split(after, 1)[1].split(f"```{language}\n", 1)[1].split("```", 1)[0]


def test_the_help_is_the_one_that_healbot_prints() -> None:
    shown = README.split("<!-- help -->\n```\n", 1)[1].split("```\n<!-- /help -->", 1)[0]
    assert shown.strip() == healbot("--help").strip()


def test_every_command_that_is_named_exists() -> None:
    word = r"(?m)(?:^|`|bin/)healbot ((?:cases |pulls |runs )?[a-z][a-z-]*)"
    named = set(re.findall(word, README))
    prose = {"is", "improves", "reads"}
    for words in sorted(named - prose):
        assert door(*words.split(), "--help").out.lower().startswith("usage:"), words


def test_the_settings_example_is_valid() -> None:
    settings = read_settings(block("### Settings", "yaml"))
    assert settings.agents[0].name == "support"


def test_the_case_example_is_valid() -> None:
    settings = read_settings(block("### Settings", "yaml"))
    (case,) = read_cases({"cases/a.yml": block("### A case", "yaml")}, settings.agents[0])
    assert case.safety


def test_the_lesson_example_is_valid() -> None:
    lesson = read_lesson(block("### A lesson", "markdown").encode(), "lesson.md")
    assert lesson.seen_count == 4


def test_uninstalling_is_one_pipeline_that_names_every_ref_of_ours() -> None:
    assert "refs/healbot refs/heads/healbot" in README


def test_the_examples_are_plain_yaml() -> None:
    for text in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL):
        assert yaml.safe_load(text)
