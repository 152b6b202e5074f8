"""Globs name paths as people expect."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.rules.globs import is_inside, join, matches


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("cases/*.yml", "cases/a.yml", "cases/b/a.yml"),
        ("cases/**/*.yml", "cases/a.yml", "cases/a.yaml"),
        ("**/cases/*.yml", "x/y/cases/a.yml", "x/y/a.yml"),
        ("tests/**", "tests/a/b.py", "test/a.py"),
        ("./a?.yml", "ab.yml", "a/.yml"),
        ("[ab].yml", "a.yml", "c.yml"),
        ("[!ab].yml", "c.yml", "a.yml"),
        ("a.b", "a.b", "axb"),
        ("a[b", "a[b", "ab"),
    ],
)
def test_wildcards_mean_what_they_mean_everywhere(pattern: str, yes: str, no: str) -> None:
    assert matches(yes, pattern)
    assert not matches(no, pattern)


@settings(max_examples=60)
@given(st.text("ab/*?[]!-.", max_size=12))
def test_any_pattern_can_be_asked(pattern: str) -> None:
    assert matches("a/b", pattern) in (True, False)


@pytest.mark.parametrize("path", ["/a", "../a", "a/../../b", "C:/a", "a\\b", "~/a", "", " "])
def test_a_path_that_may_leave_its_root_is_not_inside(path: str) -> None:
    assert not is_inside(path)


def test_a_path_is_joined_to_the_folder_of_the_file_that_names_it() -> None:
    assert join("a/cases", "../fixtures/./x") == "a/fixtures/x"
    assert join("a", "../../x") is None
    assert join("a", "/x") is None
