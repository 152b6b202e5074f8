"""Documents keep lines, and refuse what no text file holds."""

import pytest

from healbot.errors import InputError
from healbot.rules.documents import decode
from healbot.rules.yamls import parse_yaml


def test_a_place_has_the_line_of_its_deepest_step_that_stands_there() -> None:
    document = parse_yaml("a:\n  - b: 1\n    c: 2\nd: 3\n", "x.yml")
    assert document.line(("a", 0, "c")) == 3
    assert document.line(("a", 0, "missing")) == 2
    assert document.line(("nowhere",)) == 1
    assert document.known(("a", 0, "literal['x']")) == ("a", 0)


def test_bytes_that_are_no_utf8_are_refused_with_their_line() -> None:
    with pytest.raises(InputError) as caught:
        decode(b"a: 1\nb: \xff\n", "x.yml")
    assert caught.value.what == "x.yml:2: this file is not UTF-8."


def test_a_byte_order_mark_is_passed_over_and_a_control_character_is_not() -> None:
    assert decode("\ufeffa: 1", "x.yml") == "a: 1"
    with pytest.raises(InputError, match=r"x.yml:2: holds the control character U\+0000"):
        decode("a: 1\nb: \x00", "x.yml")
