"""Lines decoded together are the lines decoded one by one, valid or broken."""

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from healbot.seam import lines
from healbot.seam.faults import SeamError

PIECE = st.sampled_from(
    ["{", "}", "[", "]", ",", ":", '"@@@@"', '"\\u0040@@@"', "@@@@", '"', "1", '"a"', '{"a":1}',
     "[1,2]", " ", "\r", "\t", "\x0b", "\ufeff", "NaN", "-", "é", "\\", '{"a":{"b":[null]}}']
)  # fmt: skip
LINE = st.lists(PIECE, max_size=5).map("".join) | st.just('{"a":1}') | st.just("7")


def one_by_one(content: bytes) -> tuple[list[tuple[int, int, str]], list[str], str]:
    """The straightforward reading: each line alone."""
    found, notes, offset = [], list[str](), 0
    for number, raw in enumerate(io.BytesIO(content), start=1):
        bare = (raw.removeprefix(lines.BOM) if number == 1 else raw).strip()
        try:
            if bare:
                found.append((number, offset, repr(lines.decode_line(bare))))
        except (ValueError, RecursionError):
            if raw.endswith(b"\n"):
                return found, notes, f"f, line {number}: no JSON"
            return found, [f"f, line {number}: cut off in mid-write; skipped."], ""
        offset += len(raw)
    return found, notes, ""


@given(st.lists(LINE, max_size=7), st.booleans(), st.sampled_from([1, 20, 1 << 16]))
@example(['{"a":[1', "2]}", '1,"@@@@",2'], True, 1 << 16)
@example(["[1", "2]", '1,"\\u0040@@@",2'], True, 1 << 16)
@example(["1],[2", "3"], True, 1 << 16)
@example(["[" * 100_000, "1"], True, 1 << 16)
def test_both_ways_agree(made: list[str], ends: bool, size: int) -> None:
    content = "\n".join(made).encode() + (b"\n" if ends else b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BATCH_BYTES", size)
        found, notes, told = [], list[str](), ""
        try:
            for number, offset, _, value in lines.read_lines(io.BytesIO(content), "f", notes):
                found.append((number, offset, repr(value)))
        except SeamError as error:
            told = error.what.split(" (")[0]
    assert (found, notes, told) == one_by_one(content)


def test_usual_lines_are_decoded_together_and_odd_ones_are_not() -> None:
    assert lines.decode_together([b'{"a": 1}\n', b" [2]\r\n", b"3"]) == [{"a": 1}, [2], 3]
    for odd in ([b"1\n", b"\n"], [b'"@@@@"\n'], [b'"\\u0040"\n'], [b"\xff\n"], [b"1,2\n"]):
        assert lines.decode_together(odd) is None
