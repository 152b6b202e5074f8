"""YAML comes out as the plainest data, or as one sentence with file and line."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.errors import InputError
from healbot.rules.yamls import parse_yaml

_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: 2020-01-01", {"a": "2020-01-01"}),
        ("a: yes\nb: on\nc: true", {"a": "yes", "b": "on", "c": True}),
        ("a: ~\nb:\nc: null", {"a": None, "b": None, "c": None}),
        ("a: 1_000\nb: 0x1F\nc: 1.5\nd: '5'", {"a": "1_000", "b": 31, "c": 1.5, "d": "5"}),
        ("a: !!str 5", {"a": "5"}),
        ("base: &b {x: 1, y: 2}\nc: {<<: *b, y: 3}",
         {"base": {"x": 1, "y": 2}, "c": {"x": 1, "y": 3}}),
        ("", None),
    ],
)  # fmt: skip
def test_only_plain_types_come_out(text: str, data: object) -> None:
    assert parse_yaml(text, "x.yml").data == data


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: 1\nb: 2\na: 3", "x.yml:3: the key 'a' stands here twice, first in line 1."),
        ("a:\n\t- b", "x.yml:2: a tab can't indent in YAML; use spaces."),
        ("a: 1\n---\nb: 2", "x.yml:2: begins a second document; one is read."),
        ("&a [*a]", "x.yml:1: the alias *a names no anchor above it."),
        ("a: !!python/object:os.system x", "is not read here."),
        ("? [a, b]\n: 1", "x.yml:1: a key must be a plain word."),
        ("- " * 60, "x.yml:1: is nested more than 50 levels deep."),
        ("[" * 100_000, "x.yml:1: is no"),
        (_BOMB, "holds more than 200,000 values, aliases written out."),
        ("a: [1, 2", "x.yml:1: is no YAML ("),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_with_its_line(text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "x.yml")
    assert what in caught.value.what
    assert "\n" not in caught.value.what


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text("ab:#-é\n\"' ", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@given(_PLAIN)
def test_what_a_writer_of_yaml_wrote_is_read_back(data: object) -> None:
    assert parse_yaml(yaml.safe_dump(data), "x.yml").data == data


@settings(max_examples=100)
@given(st.text("ab:-&*[]{}!\n\t '\"|>?#", max_size=30))
def test_any_text_is_read_or_refused_and_never_crashes(text: str) -> None:
    try:
        parse_yaml(text, "x.yml")
    except InputError as error:
        assert error.what.startswith("x.yml:")  # noqa: PT017 - either outcome is fine
