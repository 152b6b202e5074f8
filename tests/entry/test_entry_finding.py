"""Agents are found where people keep them, pointers are followed, and no link leads outside."""

from pathlib import Path

import pytest

from healbot.entry.finding import survey


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


SKILL = "---\nname: a\ndescription: b\n---\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"instructions.md": "# A\n", "agent.py": ""},
         (".", "instructions.md", "skills", "python3 agent.py")),
        ({"bot/instructions.md": "# A\n", "bot/main.py": "", "uv.lock": ""},
         ("bot", "instructions.md", "skills", "uv run main.py")),
        ({"AGENTS.md": "# A\n\nDo.\n", ".agents/skills/a/SKILL.md": SKILL, "main.py": "print(1)"},
         (".", "AGENTS.md", ".agents/skills", "")),
        ({"AGENTS.md": "# A\n\nDo.\n", "main.py": "import sys\nsys.stdin.read()"},
         (".", "AGENTS.md", "skills", "python3 main.py")),
        ({"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": "# A\n\nDo.\n"},
         (".", "AGENTS.md", "skills", "")),
        ({"CLAUDE.md": "@docs/agents.md\n", "docs/agents.md": "# A\n\nDo.\n"},
         (".", "docs/agents.md", "skills", "")),
        ({"AGENTS.md": "CLAUDE.md", "CLAUDE.md": "# A\n", ".claude/skills/a/SKILL.md": SKILL},
         (".", "CLAUDE.md", ".agents/skills", "")),
        ({"AGENTS.md": "# Guide\n\nSee [CLAUDE.md](CLAUDE.md).\n", "CLAUDE.md": "# A\n\nDo.\n"},
         (".", "CLAUDE.md", "skills", "")),
        ({".claude/CLAUDE.md": "# A\n\nDo.\n", "package.json": '{"scripts": {"agent": "x"}}'},
         (".", ".claude/CLAUDE.md", "skills", "npm run --silent agent")),
        ({".github/copilot-instructions.md": "# A\n\nDo.\n", "Makefile": "agent:\n\techo\n"},
         (".", ".github/copilot-instructions.md", "skills", "make -s agent")),
        ({"instructions.md": "x", "pyproject.toml": '[project]\nscripts = {ask = "a:b"}\n'},
         (".", "instructions.md", "skills", "ask")),
    ],
)  # fmt: skip
def test_an_agent_is_found_with_what_runs_it(
    tmp_path: Path, files: dict[str, str], expected: tuple[str, str, str, str]
) -> None:
    write(tmp_path, files)
    (agent,) = survey(tmp_path).agents
    skills = ".claude/skills" if ".claude/skills/a/SKILL.md" in files else expected[2]
    found = (agent.folder, agent.instructions, agent.skills, agent.program.command)
    assert found == (*expected[:2], skills, expected[3])


def test_all_agents_of_a_repository_are_found_and_the_coding_guide_is_named(tmp_path: Path) -> None:
    write(tmp_path, {f"agents/{name}/instructions.md": "x" for name in ("a", "b")})
    write(tmp_path, {"AGENTS.md": "# Guide\n\nDo.\n", "docs/instructions.md": "How to install."})
    found = survey(tmp_path)
    assert [one.folder for one in found.agents] == ["agents/a", "agents/b"]
    assert "AGENTS.md at the root is left out" in found.notes[0]


def test_a_link_is_followed_inside_and_never_outside(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Theirs\n\nDo.\n")
    root = tmp_path / "repo"
    write(root, {"CLAUDE.md": "# Ours\n\nDo.\n"})
    (root / "AGENTS.md").symlink_to("../secret.md")
    found = survey(root)
    assert [one.instructions for one in found.agents] == ["CLAUDE.md"]
    assert "outside of this repository" in found.notes[0]
    (root / "AGENTS.md").unlink()
    (root / "AGENTS.md").symlink_to("CLAUDE.md")
    assert [one.instructions for one in survey(root).agents] == ["CLAUDE.md"]


def test_pointers_in_a_circle_and_vendored_agents_are_none(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "@CLAUDE.md\n", "CLAUDE.md": "@AGENTS.md\n"})
    write(tmp_path, {"node_modules/x/instructions.md": "x", "sub/.git": "gitdir: x"})
    write(tmp_path, {"sub/instructions.md": "x"})
    assert survey(tmp_path).agents == ()


def test_evals_are_found_beside_an_agent(tmp_path: Path) -> None:
    write(tmp_path, {"instructions.md": "x", "promptfooconfig.yaml": "tests: []\n"})
    assert survey(tmp_path).evals == ("promptfooconfig.yaml",)
