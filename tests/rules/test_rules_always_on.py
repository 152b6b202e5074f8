"""How much text is in the prompt on every run."""

from healbot.records.harness import Harness, HarnessFile
from healbot.rules.always_on import always_on_characters


def test_instructions_count_whole_and_skills_by_name_and_description() -> None:
    harness = Harness(
        files=(
            HarnessFile(path="AGENTS.md", content="Héllo\r\n".encode() + b"\xff"),
            HarnessFile(path="CLAUDE.md", content=b"@AGENTS.md", read_only="a pointer"),
            HarnessFile(
                path="skills/a/SKILL.md",
                content=b"---\nname: a\ndescription: Does it.\n---\nlong body\n",
                skill="a",
                read_only="scripts",
            ),
            HarnessFile(path="skills/bcd/SKILL.md", content=b"no front matter", skill="bcd"),
        )
    )
    assert always_on_characters(harness) == 8 + (1 + 8) + 3
