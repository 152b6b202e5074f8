"""The harness's layout: which files it holds, and which of them an edit may touch."""

from collections.abc import Mapping

import pytest

from healbot.errors import HarnessChangedError, HealbotError, InputError
from healbot.records.harness import Harness
from healbot.records.settings import AgentSettings
from healbot.rules.layout import harness_of, instructions_path, pointer_target

PLAIN = "100644"


def agent(instructions: str = "instructions.md", skills: str = "skills") -> AgentSettings:
    return AgentSettings.model_validate(
        {
            "dir": "agents/support",
            "instructions": instructions,
            "skills": skills,
            "cases": "cases",
            "run": {"command": "true"},
        }
    )


def read(
    files: Mapping[str, str | tuple[str, str]],
    settings: AgentSettings | None = None,
    *,
    opened: bool = False,
) -> Harness:
    """Lay out files given as content, or as (mode, content)."""
    whole = {path: (PLAIN, one) if isinstance(one, str) else one for path, one in files.items()}
    return harness_of(
        {path: mode for path, (mode, _) in whole.items()},
        lambda path: whole[path][1].encode(),
        settings or agent(),
        open_skills_with_files=opened,
    )


def test_instructions_and_skills_are_the_harness_and_nothing_else_is() -> None:
    harness = read(
        {
            "instructions.md": "Be kind.\n",
            "agent.py": "code",
            "skills/refund/SKILL.md": "refund",
            "skills/refund/LICENSE.txt": "MIT",
            "skills/refund/ReadMe.zh.md": "words",
            "skills/notes.txt": "no skill",
            "skills/empty/readme": "no skill either",
            "other/skills/x/SKILL.md": "elsewhere",
        }
    )
    assert [file.path for file in harness.files] == ["instructions.md", "skills/refund/SKILL.md"]
    assert [file.skill for file in harness.files] == [None, "refund"]
    assert all(file.read_only is None and not file.needs_person for file in harness.files)
    assert instructions_path(harness, agent()) == "instructions.md"


def test_other_names_for_both_are_settings() -> None:
    files = {"AGENTS.md": "x", ".claude/skills/a/SKILL.md": "y", "skills/b/SKILL.md": "z"}
    harness = read(files, agent("./AGENTS.md", ".claude/skills/"))
    assert [file.path for file in harness.files] == [".claude/skills/a/SKILL.md", "AGENTS.md"]


@pytest.mark.parametrize("sibling", ["run.sh", "scripts/README.py.txt", "data/x.json", "skill.md"])
def test_a_skill_with_other_files_is_read_only_or_waits_for_a_person(sibling: str) -> None:
    files: dict[str, str | tuple[str, str]] = {
        "instructions.md": "x",
        "skills/a/SKILL.md": "y",
        f"skills/a/{sibling}": "z",
    }
    if sibling == "scripts/README.py.txt":
        files["skills/a/scripts/x.py"] = "code"
    shut = read(files).get("skills/a/SKILL.md")
    assert shut is not None
    assert shut.read_only is not None
    assert "skills/a" in shut.read_only
    assert not shut.needs_person
    wide = read(files, opened=True).get("skills/a/SKILL.md")
    assert wide is not None
    assert (wide.read_only, wide.needs_person) == (None, True)


def test_a_licence_that_is_a_symlink_is_an_other_file() -> None:
    files: dict[str, str | tuple[str, str]] = {
        "instructions.md": "x",
        "skills/a/SKILL.md": "y",
        "skills/a/LICENSE": ("120000", "/etc/passwd"),
    }
    file = read(files).get("skills/a/SKILL.md")
    assert file is not None
    assert file.read_only is not None


@pytest.mark.parametrize(
    "special",
    ["instructions.md", "skills", "skills/a", "skills/a/SKILL.md"],
)
@pytest.mark.parametrize(("mode", "name"), [("120000", "symlink"), ("160000", "submodule")])
def test_a_harness_path_that_is_a_symlink_or_submodule_is_refused(
    special: str, mode: str, name: str
) -> None:
    files: dict[str, str | tuple[str, str]] = {"instructions.md": "x"}
    files[special] = (mode, "elsewhere")
    with pytest.raises(HarnessChangedError, match=f"{special} is a {name}"):
        read(files)


def test_a_path_through_a_symlinked_folder_is_refused() -> None:
    with pytest.raises(HarnessChangedError, match="docs is a symlink"):
        read({"docs": ("120000", "../x")}, agent("docs/AGENTS.md"))


@pytest.mark.parametrize(
    "path", ["../AGENTS.md", "/etc/passwd", "a/../../b", "~/x", "C:/x", "a\\b"]
)
@pytest.mark.parametrize("which", ["instructions", "skills", "pointer"])
def test_a_path_that_leaves_the_folder_is_refused(path: str, which: str) -> None:
    settings = agent(**{which: path}) if which != "pointer" else agent()
    content = f"@{path}\n" if which == "pointer" else "x"
    with pytest.raises(InputError, match="leaves the agent's folder"):
        read({"instructions.md": content}, settings)


def test_missing_instructions_are_named_with_a_next_step() -> None:
    with pytest.raises(InputError, match=r"no instructions\.md in agents/support") as missing:
        read({"AGENTS.md": "x"})
    assert "set instructions:" in missing.value.next_step


def test_a_pointer_is_followed_and_kept_read_only() -> None:
    files: dict[str, str | tuple[str, str]] = {
        "CLAUDE.md": "\ufeff@docs/AGENTS.md\r\n",
        "docs/AGENTS.md": "@./RULES.md",
        "docs/RULES.md": "The rules.\n",
    }
    harness = read(files, agent("CLAUDE.md"))
    assert instructions_path(harness, agent("CLAUDE.md")) == "docs/RULES.md"
    assert [(file.path, file.read_only) for file in harness.files] == [
        ("CLAUDE.md", "CLAUDE.md only points to docs/AGENTS.md"),
        ("docs/AGENTS.md", "docs/AGENTS.md only points to ./RULES.md"),
        ("docs/RULES.md", None),
    ]
    moved = read(files | {"CLAUDE.md": "@docs/RULES.md"}, agent("CLAUDE.md"))
    assert moved.revision != harness.revision


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"instructions.md": "@instructions.md"}, "in a circle"),
        ({"instructions.md": "@a.md", "a.md": "@instructions.md"}, "in a circle"),
        ({"instructions.md": "@gone.md"}, "gone.md, which is not there"),
        ({"instructions.md": "@a.md", "a.md": ("120000", "x")}, "a.md is a symlink"),
        (
            {"instructions.md": "@skills/a/SKILL.md", "skills/a/SKILL.md": "x"},
            "both the instructions",
        ),
        (
            {
                "instructions.md": "@skills/a/more.md",
                "skills/a/SKILL.md": "x",
                "skills/a/more.md": "y",
            },
            "in the skill folder",
        ),
    ],
)
def test_a_pointer_that_leads_nowhere_good_is_refused(
    files: dict[str, str | tuple[str, str]], said: str
) -> None:
    with pytest.raises(HealbotError, match=said):
        read(files)


def test_text_around_an_import_makes_a_file_of_its_own() -> None:
    assert pointer_target(b"@AGENTS.md\n") == "AGENTS.md"
    assert pointer_target(b"See @AGENTS.md\n") is None
    assert pointer_target(b"@AGENTS.md\nAnd more.\n") is None
    assert pointer_target(b"CLAUDE.md") is None
    assert pointer_target(b"\xff") is None
