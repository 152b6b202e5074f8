"""Run reports of every kind that a program could leave behind."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.records.record import digest_of
from healbot.records.run import Usage
from healbot.runners import report


def put(folder: Path, content: Any) -> Path:
    path = folder / "report.json"
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_whole_report_is_read(tmp_path: Path) -> None:
    call = {"name": "refund", "args": {"order": 1001}, "error": "forbidden"}
    got = report.read(
        put(
            tmp_path,
            {
                "tokens": 12,
                "usd": 0.5,
                "tool_calls": [call, {"name": "lookup"}],
                "skills_read": ["refund"],
                "rules_read": [],
                "else": 1,
            },
        )
    )
    assert (got.usage, got.notes) == (Usage(tokens=12, usd=0.5), ())
    assert got.tool_calls is not None
    assert [(one.name, one.args, one.error) for one in got.tool_calls] == [
        ("refund", {"order": 1001}, "forbidden"),
        ("lookup", None, None),
    ]
    assert (got.skills_read, got.rules_read) == (("refund",), ())


def test_what_is_not_reported_is_unknown_and_never_zero(tmp_path: Path) -> None:
    assert report.read(tmp_path / "nothing.json") == report.Report()
    assert report.read(put(tmp_path, {})) == report.Report()
    assert report.read(put(tmp_path, {"tokens": None})) == report.Report()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tokens", "-1"),
        ("tokens", "1.5"),
        ("tokens", "true"),
        ("tokens", '"12"'),
        ("tokens", "NaN"),
        ("tokens", "1e400"),
        ("tokens", "9" * 400),
        ("usd", "-0.01"),
        ("usd", "NaN"),
        ("usd", "Infinity"),
        ("usd", "[]"),
        ("tool_calls", "{}"),
        ("tool_calls", "[1]"),
        ("tool_calls", '[{"args": 1}]'),
        ("tool_calls", '[{"name": "x", "args": NaN}]'),
        ("tool_calls", '[{"name": "x", "args": ' + "[" * 100 + "]" * 100 + "}]"),
        ("skills_read", '"refund"'),
        ("skills_read", "[1]"),
        ("rules_read", '[""]'),
    ],
)
def test_an_unusable_field_is_unknown_with_a_reason_and_spares_the_others(
    tmp_path: Path, field: str, value: str
) -> None:
    other = "usd" if field == "tokens" else "tokens"
    got = report.read(put(tmp_path, f'{{"{field}": {value}, "{other}": 3}}'))
    assert getattr(got.usage, other) == 3
    values = {"tokens": got.usage.tokens, "usd": got.usage.usd, **got._asdict()}
    assert values[field] is None
    assert len(got.notes) == 1
    assert field in got.notes[0]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1", '"x"', "[" * 100_000, "\0", "9" * 5000, '{"a": "\\u12'], ids=repr
)
def test_what_is_no_json_object_counts_for_nothing(tmp_path: Path, text: str) -> None:
    got = report.read(put(tmp_path, text))
    assert got.usage == Usage()
    assert len(got.notes) == 1


def test_what_is_no_plain_file_is_never_followed_or_waited_for(tmp_path: Path) -> None:
    real = put(tmp_path, {"tokens": 1})
    (tmp_path / "link").symlink_to(real)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("link", "pipe", "folder", "zero"):
        got = report.read(tmp_path / name)
        assert got.usage == Usage()
        assert len(got.notes) == 1


def test_a_huge_report_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    with path.open("wb") as file:
        file.truncate(10_000_000_000)
    got = report.read(path)
    assert (got.usage, len(got.notes)) == (Usage(), 1)


def test_half_characters_do_not_reach_the_journal(tmp_path: Path) -> None:
    got = report.read(put(tmp_path, {"tool_calls": [{"name": "\ud800", "args": {"\udc00": 1}}]}))
    assert got.tool_calls is not None
    got.tool_calls[0].model_dump_json().encode("utf-8")
    digest_of(got.tool_calls[0])


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(["tokens", "usd", "tool_calls", "skills_read", "rules_read"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["name", "args", "error"]), inner)
            ),
            max_leaves=8,
        ),
    )
)
def test_no_content_ever_raises(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]
) -> None:
    got = report.read(put(tmp_path_factory.mktemp("report"), content))
    assert got.usage.tokens is None or got.usage.tokens >= 0
    for name in ("tokens", "usd"):
        if content.get(name) is None:
            assert getattr(got.usage, name) is None
