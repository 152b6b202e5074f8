"""Harness, revision and canonical text: names that follow content and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from healbot.records.harness import Harness, HarnessFile
from healbot.records.record import canonical, digest_of

PATHS = st.text("ab/.é\udcff", min_size=1, max_size=8)
HARNESSES = st.dictionaries(PATHS, st.binary(max_size=12), max_size=4)


def harness(files: dict[str, bytes]) -> Harness:
    return Harness(files=tuple(HarnessFile(path=p, content=c) for p, c in files.items()))


@given(HARNESSES, HARNESSES)
def test_two_harnesses_have_one_revision_only_where_paths_and_bytes_are_the_same(
    one: dict[str, bytes], other: dict[str, bytes]
) -> None:
    assert (harness(one).revision == harness(other).revision) == (one == other)


def test_bytes_never_move_from_a_file_s_name_into_its_content() -> None:
    assert harness({"a": b"b1:c"}).revision != harness({"ab": b"1:c"}).revision
    assert harness({"a": b"", "b": b""}).revision != harness({"a": b"1:b0:"}).revision


def test_the_order_of_files_and_what_is_known_of_them_do_not_name_a_revision() -> None:
    one = HarnessFile(path="instructions.md", content=b"x")
    two = HarnessFile(path="skills/r/SKILL.md", content=b"y", skill="r", read_only="has scripts")
    plain = two.model_copy(update={"read_only": None, "skill": None})
    assert Harness(files=(one, two)).revision == Harness(files=(plain, one)).revision


@given(st.binary(max_size=40))
def test_bytes_that_are_no_text_survive_as_text(content: bytes) -> None:
    file = HarnessFile(path="instructions.md", content=content)
    assert file.text.encode("utf-8", "surrogateescape") == content


def test_replacing_a_file_changes_that_file_alone() -> None:
    before = harness({"a": b"1", "b": b"2"})
    after = before.replace("b", b"3")
    assert after.get("a") == before.get("a")
    assert after.get("b") == HarnessFile(path="b", content=b"3")
    assert before.get("b") == HarnessFile(path="b", content=b"2")
    assert before.replace("c", b"3") == before


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(VALUES)
def test_canonical_text_is_one_line_whatever_the_order_of_keys(value: object) -> None:
    def turned(one: object) -> object:
        if isinstance(one, dict):
            return {key: turned(one[key]) for key in reversed(one)}
        return [turned(inner) for inner in one] if isinstance(one, list) else one

    assert canonical(turned(value)) == canonical(value)
    assert "\n" not in canonical(value)
    assert digest_of(turned(value)) == digest_of(value)
