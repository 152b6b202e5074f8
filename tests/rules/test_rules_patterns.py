"""Patterns are read as JavaScript reads them."""

import pytest

from healbot.rules.patterns import Unscorable, found


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("item{s}", "zzz", False),
        ("item{s}", "item{s}", True),
        ("a{,2}b", "a{,2}b", True),
        ("a{2}", "caat", True),
        ("a{1,2}$", "ca", True),
        (r"(?<q>['\"])x\k<q>", "'x'", True),
        (r"(?<q>['\"])x\k<q>", "'x\"", False),
        (r"[^]", "\n", True),
        (r"a[]", "a", False),
        (r"[[]x", "[x", True),
        (r"\d", "\u0663", False),
        (r"a\sb", "a\u00a0b", True),
        (r"a[\s]b", "a\ufeffb", True),
        (r"^\S+$", "a\u00a0b", False),
        (r"\w", "\u00e9", False),
        (r"\/path\/", "/path/", True),
        (r"\h", "h", True),
        ("(?i)refund", "REFUND", True),
        (r"\u0041", "A", True),
        (r"(?<=\$)\d+", "$61", True),
    ],
)
def test_a_pattern_means_what_it_means_in_javascript(
    pattern: str, text: str, matches: bool
) -> None:
    assert found(pattern, text) is matches


@pytest.mark.parametrize("pattern", ["(", "[a", "*a", "a**", "\\", "(?P<x", "(?<n>a)(?<n>b)("])
def test_an_invalid_pattern_cannot_score(pattern: str) -> None:
    with pytest.raises(Unscorable, match="invalid"):
        found(pattern, "a")


def test_a_property_that_javascript_would_take_literally_cannot_score() -> None:
    with pytest.raises(Unscorable, match="plain letters"):
        found(r"\p{Lu}", "p")


def test_a_runaway_pattern_is_given_up_in_time() -> None:
    with pytest.raises(Unscorable, match="did not come to an end"):
        found("(a|aa)+$", "a" * 60 + "b", seconds=0.05)
