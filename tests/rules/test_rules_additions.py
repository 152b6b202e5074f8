"""healbot's own additions: placed well, once, and taken out again."""

from pathlib import Path

import pytest

from healbot.errors import EditError
from healbot.records.edit import Edit
from healbot.records.harness import Harness, HarnessFile
from healbot.rules.additions import id_of, ids_in, mark, path_of, to_add, to_remove
from healbot.rules.edits import apply
from healbot.rules.structure import blocks_of

FOLDER = Path(__file__).parents[1] / "data" / "instructions"
SAMPLES = {
    str(path.relative_to(FOLDER)): path.read_bytes()
    for path in sorted(FOLDER.rglob("*"))
    if path.is_file() and path.name not in {"SOURCES.md", ".gitattributes"}
}
ID = id_of("support/refund-limit")
RULE = f"Escalate above the limit. {mark(ID)}"


def harness(content: str | bytes) -> Harness:
    raw = content.encode() if isinstance(content, str) else content
    return Harness(files=(HarnessFile(path="instructions.md", content=raw),))


def added(content: str, *protect: str, rule: str = "Escalate above the limit.") -> str:
    before = harness(content)
    hunk = to_add(before, "instructions.md", rule, addition_id=ID, protect=protect)
    return apply(before, Edit(hunks=(hunk,))).harness.files[0].text


def test_an_id_is_short_and_the_same_for_the_same_key() -> None:
    assert id_of("a/b") == id_of("a/b") != id_of("a/c")
    assert len(ID) == 8
    assert ids_in(f"x {mark(ID)} y <!-- healbot:protect -->") == (ID,)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# Agent\n", f"# Agent\n\n- {RULE}\n"),
        ("# Agent", f"# Agent\n\n- {RULE}"),
        ("Words.\n\n", f"Words.\n\n- {RULE}\n"),
        ("# A\n\n* one\n* two\n", f"# A\n\n* one\n* two\n* {RULE}\n"),
        ("+ one\n  - nested\n", f"+ one\n  - nested\n+ {RULE}\n"),
        ("- one\n  goes on\n", f"- one\n  goes on\n- {RULE}\n"),
        ("1. one\n2. two\n", f"1. one\n2. two\n\n- {RULE}\n"),
        ("# A\r\n\r\n- one\r\n", f"# A\r\n\r\n- one\r\n- {RULE}\r\n"),
        ("| a |\n|---|\n| b |\n", f"| a |\n|---|\n| b |\n\n- {RULE}\n"),
        ("---\nname: a\n---\n", f"---\nname: a\n---\n\n- {RULE}\n"),
        ("# A\n\n```\nopen\n", f"# A\n\n- {RULE}\n\n```\nopen\n"),
        ("# A\n\n<!-- open\n", f"# A\n\n- {RULE}\n\n<!-- open\n"),
        ("```\nclosed\n```\n", f"```\nclosed\n```\n\n- {RULE}\n"),
    ],
)
def test_a_rule_stands_as_late_as_it_can_in_the_files_own_style(before: str, after: str) -> None:
    assert added(before) == after
    change = to_remove(harness(after), ID)
    removed = apply(harness(after), change).harness.files[0].text
    assert removed == before or removed.rstrip("\n") == before.rstrip("\n")


def test_a_rule_stays_out_of_protected_blocks() -> None:
    text = "# A\n\nHello.\n\n## Safety\n\nNever refund.\n"
    assert added(text, "## Safety") == f"# A\n\nHello.\n\n- {RULE}\n\n## Safety\n\nNever refund.\n"
    whole = "<!-- healbot:protect -->\nAll of it.\n"
    assert added(whole) == f"- {RULE}\n\n{whole}"
    marked = "Hello.\n\n<!-- healbot:protect -->\nNever refund.\n"
    assert added(marked) == f"Hello.\n\n- {RULE}\n\n<!-- healbot:protect -->\nNever refund.\n"


def test_a_rule_is_one_line_however_it_was_written() -> None:
    assert added("# A\n", rule="- Escalate\n  above the limit.  ") == f"# A\n\n- {RULE}\n"


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ("# A\n", "  "),
        ("# A\n", "Nothing <!-- hidden --> here"),
        ("# A\n", "``` a fence"),
        ("# A\n", "# a heading"),
        ("---\nname: unclosed\n", "Escalate."),
        (f"- {RULE}\n", "Escalate."),
        ("", "Escalate."),
    ],
)
def test_a_rule_with_no_place_or_no_shape_is_refused(content: str, rule: str) -> None:
    with pytest.raises(EditError):
        added(content, rule=rule)


def test_an_addition_is_found_and_taken_out_wherever_it_was_moved() -> None:
    moved = harness(f"# A\n\n> - {RULE}\n\ntext\n")
    assert path_of(moved, ID) == "instructions.md"
    assert path_of(moved, "00000000") is None
    assert apply(moved, to_remove(moved, ID)).harness.files[0].text == "# A\n\ntext\n"
    with pytest.raises(EditError, match="no file of the harness"):
        to_remove(moved, "00000000")


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_takes_a_rule_and_gives_it_back(name: str) -> None:
    before = harness(SAMPLES[name])
    if name.startswith("derived/unclosed"):
        with pytest.raises(EditError, match="no place"):
            to_add(before, "instructions.md", "Escalate.", addition_id=ID)
        return
    hunk = to_add(before, "instructions.md", "Escalate above the limit.", addition_id=ID)
    after, inverse = apply(before, Edit(hunks=(hunk,)))
    assert [one.content for one in blocks_of(after.files[0].text)].count(RULE) >= 1
    assert apply(after, inverse).harness == before
    removed = apply(after, to_remove(after, ID)).harness.files[0].content
    assert removed.rstrip(b"\r\n") == before.files[0].content.rstrip(b"\r\n")
