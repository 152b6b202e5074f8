"""Edits: anchors, line ends, and the way back, byte for byte."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.errors import EditError
from healbot.records.edit import Edit, Hunk
from healbot.records.harness import Harness, HarnessFile
from healbot.rules.edits import apply, attempt, decode, hunks_between

FOLDER = Path(__file__).parents[1] / "data" / "instructions"
SAMPLES = {
    str(path.relative_to(FOLDER)): path.read_bytes()
    for path in sorted(FOLDER.rglob("*"))
    if path.is_file() and path.name not in {"SOURCES.md", ".gitattributes"}
}

PIECES = [
    b"a", b"b", b"ab", b" ", b"\n", b"\r", b"\r\n", b"\xff", b"\xc3", b"\xa9", b"\xef\xbb\xbf",
    "é".encode(), "日本".encode(), b"---\n", b"```\n", b"- rule\n", b"\x00", b"\xe2\x80\xa8",
]  # fmt: skip
contents = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)
texts = st.one_of(
    contents.map(lambda raw: raw.decode("utf-8", "surrogateescape")), st.text(max_size=8)
)


def harness(content: bytes, path: str = "instructions.md") -> Harness:
    return Harness(files=(HarnessFile(path=path, content=content),))


def hunk(op: str, anchor: str = "", text: str = "", *, path: str = "instructions.md") -> Hunk:
    return Hunk.model_validate({"path": path, "op": op, "anchor": anchor, "text": text})


def edited(content: bytes, *hunks: Hunk) -> bytes:
    before = harness(content)
    after, inverse = apply(before, Edit(hunks=hunks))
    assert apply(after, inverse).harness == before
    return after.files[0].content


def test_each_operation_changes_what_it_names_and_nothing_else() -> None:
    assert edited(b"one\ntwo\n", hunk("replace", "two", "2")) == b"one\n2\n"
    assert edited(b"one\ntwo\n", hunk("insert-after", "one\n", "1.5\n")) == b"one\n1.5\ntwo\n"
    assert edited(b"one\ntwo\n", hunk("insert-before", "two", "1.5\n")) == b"one\n1.5\ntwo\n"
    assert edited(b"one\ntwo\n", hunk("delete", "one\n")) == b"two\n"
    assert edited(b"one\n", hunk("append", text="two")) == b"one\ntwo\n"


def test_an_append_keeps_a_missing_final_line_end_missing() -> None:
    assert edited(b"one", hunk("append", text="two\n")) == b"one\ntwo"
    assert edited(b"a\r\nb", hunk("append", text="two\n")) == b"a\r\nb\r\ntwo"


def test_hunks_written_with_plain_line_ends_fit_a_file_with_others() -> None:
    replaced = hunk("replace", "one\ntwo", "1\n2\n3")
    assert edited(b"one\r\ntwo\r\n", replaced) == b"1\r\n2\r\n3\r\n"
    assert edited(b"one\rtwo\r", replaced) == b"1\r2\r3\r"
    assert edited(b"x\r\ny\r\n", hunk("append", text="z")) == b"x\r\ny\r\nz\r\n"
    assert edited(b"a\r\none\r\nb\r\n", hunk("delete", "\none")) == b"a\r\nb\r\n"


def test_odd_bytes_outside_the_edit_survive() -> None:
    odd = b"\xef\xbb\xbfone\xff\r\nkeep\n\xe9\rtwo"
    assert edited(odd, hunk("replace", "keep", "kept")) == odd.replace(b"keep", b"kept")


@pytest.mark.parametrize(
    ("anchor", "count"), [("three", 0), ("o", 2), ("aa", 2), ("", None), ("one\nthree", 0)]
)
def test_an_anchor_that_is_not_there_exactly_once_is_refused_with_its_count(
    anchor: str, count: int | None
) -> None:
    with pytest.raises(EditError) as refused:
        apply(harness(b"one two aaa\n"), Edit(hunks=(hunk("replace", anchor, "x"),)))
    assert "instructions.md" in refused.value.what
    assert ("empty anchor" if count is None else f"found {count} times") in refused.value.what


def test_hunks_apply_in_order_and_all_or_none() -> None:
    assert edited(b"one\n", hunk("append", text="two"), hunk("replace", "two", "2")) == b"one\n2\n"
    before = harness(b"one\n")
    with pytest.raises(EditError):
        apply(before, Edit(hunks=(hunk("append", text="two"), hunk("delete", "nowhere"))))
    assert before == harness(b"one\n")


@pytest.mark.parametrize(
    ("content", "change", "said"),
    [
        (b"one\n", hunk("replace", "one", "one"), "changes nothing"),
        (b"one\n", hunk("delete", "one\n"), "left empty"),
        (b"", hunk("append", text="one"), "is empty"),
        (b"one\n", hunk("append", text="x", path="other.md"), "not one of the harness's files"),
        (b"one\n", hunk("append", text="\ud800"), "no file can hold"),
    ],
)
def test_an_edit_that_says_nothing_or_takes_all_is_refused(
    content: bytes, change: Hunk, said: str
) -> None:
    with pytest.raises(EditError, match=said):
        apply(harness(content), Edit(hunks=(change,)))


def places(text: str) -> list[str]:
    """Return a few unique lines of a text, from its beginning, middle and end."""
    lines = [line for line in text.splitlines() if line.strip() and text.count(line) == 1]
    return list(dict.fromkeys([*lines[:2], *lines[len(lines) // 2 :][:2], *lines[-2:]]))


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_comes_back_from_every_operation_byte_for_byte(name: str) -> None:
    content = SAMPLES[name]
    before = harness(content)
    tried = 0
    for anchor in places(before.files[0].text):
        for change in (
            hunk("replace", anchor, "New words.\nOn two lines."),
            hunk("insert-after", anchor, "\n- A rule."),
            hunk("insert-before", anchor, "- A rule.\n"),
            hunk("delete", anchor),
            hunk("append", text="- A rule."),
        ):
            outcome = attempt(before, Edit(hunks=(change,)))
            if not isinstance(outcome, tuple):
                assert outcome.rule == "empty"  # a pointer file of one line
                continue
            if change.anchor:
                raw = change.anchor.encode("utf-8", "surrogateescape")
                head, _, tail = content.partition(raw)
                assert outcome.harness.files[0].content.startswith(head)
                assert outcome.harness.files[0].content.endswith(tail)
            assert apply(outcome.harness, outcome.inverse).harness == before
            tried += 1
    assert tried


@st.composite
def edits_of(draw: st.DrawFn) -> tuple[Harness, Edit]:
    content = draw(contents)
    text = content.decode("utf-8", "surrogateescape")
    hunks = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        anchor = text[start : start + draw(st.integers(0, 12))]
        op = draw(st.sampled_from(["replace", "insert-after", "insert-before", "delete", "append"]))
        added = "" if op == "delete" else draw(texts) or "x"
        hunks.append(hunk(op, "" if op == "append" else anchor, added))
    return harness(content), Edit(hunks=tuple(hunks))


@settings(max_examples=600)
@given(edits_of())
def test_whatever_applies_is_undone_exactly(pair: tuple[Harness, Edit]) -> None:
    before, edit = pair
    outcome = attempt(before, edit)
    if isinstance(outcome, tuple):
        assert outcome.harness != before
        assert apply(outcome.harness, outcome.inverse).harness == before


def test_line_ends_that_the_file_would_change_come_back_too() -> None:
    assert edited(b"a\nb", hunk("replace", "a\nb", "x\r\ny")) == b"x\r\ny"


@settings(max_examples=300)
@given(contents, contents)
def test_any_two_states_of_a_file_are_one_exact_hunk_apart(one: bytes, other: bytes) -> None:
    if one and other and one != other:
        change = hunks_between("instructions.md", decode(one), decode(other))
        assert edited(one, *change) == other
