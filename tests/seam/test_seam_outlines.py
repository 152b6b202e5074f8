"""An outline never rules out two texts that are alike."""

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from healbot.seam.blocks import Block
from healbot.seam.defaults import DEFAULTS, Limits
from healbot.seam.monotonicity import revisits
from healbot.seam.outlines import NO_TEXT, NOT_TOLD, may_be_alike, outline, outline_of
from healbot.seam.schema import Change

TEXT = st.text("etao xyzé\ud800漢", max_size=30)
LONG = "e" * 300 + "rest"


@given(TEXT, TEXT, st.sampled_from([0.0, 0.5, 0.9, 0.99, 1.0]))
@example(LONG, LONG + "e", 0.9)
@example(LONG, "e" * 260 + "rest" * 12, 0.9)
@example("", "", 0.0)
def test_what_is_alike_is_never_ruled_out(left: str, right: str, threshold: float) -> None:
    alike = [*revisits([Block(left), None, Block(right)], limits=_limits(threshold))]
    outlines = outline(left, None, None), outline(None, right, None)
    assert may_be_alike(*outlines, threshold) or not alike


def _limits(threshold: float) -> Limits:
    return replace(DEFAULTS, similarity=threshold)


def test_texts_of_other_letters_or_lengths_are_ruled_out() -> None:
    one = outline("sell tickets to everyone", None, None)
    assert not may_be_alike(one, outline("a banana, a papaya, a mango", None, None), 0.9)
    assert not may_be_alike(one, outline("sell", None, None), 0.9)
    assert may_be_alike(one, outline("sell tickets to everyone!", None, None), 0.9)


def test_a_heal_without_text_is_no_return_and_a_computed_block_may_be_one() -> None:
    nothing = outline_of(Change())
    computed = outline_of(Change(after_text="a", before_text="b"))
    written = outline_of(Change(after_text="a"))
    assert (nothing[0], computed[0], written[0]) == (NO_TEXT, NOT_TOLD, 1)
    assert not may_be_alike(nothing, computed, 0.9)
    assert may_be_alike(computed, written, 0.9)
