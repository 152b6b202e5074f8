"""Protected paths are found from the root and from the agent's folder."""

import pytest

from healbot.rules.touched import edited


@pytest.mark.parametrize(
    ("changed", "glob", "folder", "found"),
    [
        ("tests/a/b.py", "tests/**", "", True),
        ("tests", "tests/**", "", True),
        ("agents/s/tests/b.py", "tests/**", "agents/s", True),
        ("agents/s/tests/b.py", "tests/**", "agents/t", False),
        ("agents/s/tests/b.py", "agents/s/tests", "agents/s", True),
        ("mytests/b.py", "tests/**", "", False),
        ("a/b/conftest.py", "**/conftest.py", "", True),
        ("conftest.py", "**/conftest.py", ".", True),
        ("src/x.py", "src/*.py", "", True),
        ("src/y/x.py", "src/*.py", "", False),
        ("tests/x.py", "./tests/", "", True),
        ("Tests/x.py", "tests/**", "", False),
        ("agents", "tests/**", "agents/s", True),
        ("x.py", "**", "", True),
    ],
)
def test_a_glob_protects_what_it_names_and_all_below(
    changed: str, glob: str, folder: str, found: bool
) -> None:
    assert (edited([changed], [glob], folder) is not None) is found


def test_without_globs_nothing_is_protected() -> None:
    assert edited(["tests/a.py", "agents"], [], "agents/s") is None
