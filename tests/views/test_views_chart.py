"""Pictures: text stays text, nothing runs, nothing is fetched, and those who can't see are told."""

from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from healbot.views.chart import SVG, Picture, Series, bars, can_draw, dots, lying_bars

pytestmark = pytest.mark.skipif(not can_draw(), reason="the extra report is not installed")

HOSTILE = '<script>alert(1)</script> & "x"'
PICTURE = Picture(
    "p-1",
    "A title",
    f"tells {HOSTILE}",
    ["one", HOSTILE],
    [Series("first", [1, 7]), Series("second", [None, 2])],
)


@pytest.mark.parametrize("draw", [dots, bars, lying_bars])
def test_a_picture_is_named_and_holds_no_script_no_comment_and_no_address(
    draw: Callable[[Picture], str],
) -> None:
    text = draw(PICTURE)
    root = ET.fromstring(text)  # noqa: S314 - made here
    tags = {one.tag.removeprefix(f"{{{SVG}}}") for one in root.iter()}
    assert "script" not in tags
    assert "<!--" not in text
    assert text.count("http") == text.count(SVG)
    assert root.get("role") == "img"
    assert (root[0].text, root[1].text) == ("A title", PICTURE.tells)
    said = "".join(root.itertext())
    assert "first" in said
    assert "second" in said


def test_colours_are_the_page_s_own_and_the_same_numbers_draw_the_same_picture() -> None:
    text = dots(PICTURE, " %")
    assert "var(--ink)" in text
    assert "var(--first)" in text
    assert ">8 %<" in text
    assert text == dots(PICTURE, " %")


@pytest.mark.parametrize(("most", "last"), [(1, 1), (3, 3), (6, 6), (126, 150), (1000, 1000)])
def test_axes_of_counts_have_whole_round_numbers(most: int, last: int) -> None:
    text = bars(Picture("p", "t", "d", ["a"], [Series("s", [most])]))
    assert f">{last}<" in text
    assert ">0.5<" not in text
