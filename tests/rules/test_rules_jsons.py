"""JSON keeps lines, and refuses what YAML's reader refuses."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.errors import InputError
from healbot.rules.jsons import parse_json, parse_jsonl

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=6),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text('ab"\\', max_size=3), inner),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=60)
@given(_JSON)
def test_what_is_written_is_read_back(data: object) -> None:
    assert parse_json(json.dumps(data, indent=2), "x.json").data == data


def test_keys_have_lines() -> None:
    document = parse_json('{"a": [1, {"b": "x"}],\n\t"c": {"d":\n null}}', "x.json")
    assert [document.line(path) for path in (("a", 1, "b"), ("c", "d"))] == [1, 2]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"a": 1,\n"a": 2}', "x.json:2: the key 'a' stands twice, first in line 1."),
        ('{"a": 1,\n}', "x.json:"),
        ("[" * 100_000, "x.json:1: is nested more than 50 levels deep."),
        ("[NaN]", "x.json:1: is no JSON (NaN is no number)."),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(text, "x.json")
    assert what in caught.value.what


def test_json_lines_are_one_list_and_a_bad_line_is_named() -> None:
    assert parse_jsonl('{"a": 1}\n\n{"b": 2}\n', "x.jsonl").data == [{"a": 1}, {"b": 2}]
    assert parse_jsonl('{"a": 1}\n\n{"b": 2}\n', "x.jsonl").line((1, "b")) == 3
    with pytest.raises(InputError, match=r"^x.jsonl:3: is no JSON"):
        parse_jsonl('{"a": 1}\n\n{"b":\n', "x.jsonl")
