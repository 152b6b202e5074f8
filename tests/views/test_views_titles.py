"""Titles and branch names: harmless, valid for git whatever the text, and read back."""

import re
import subprocess

import pytest
from hostile_samples import HOSTILE, active
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.views.titles import SLUG_LIMIT, TITLE_LIMIT, Branch, Title

AGENTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
HEX = "0123456789abcdef"
NASTY = st.text(st.sampled_from("@#:/.-`{}~^\\?*[ab1Gh\n\x1b"), max_size=80) | st.text(max_size=80)
TEMPLATES = ("fix({agent}): {summary}", "[{agent}] {summary} (healbot)", "{agent} {summary} {x}")


def git_takes(name: str) -> bool:
    asked = ["git", "check-ref-format", "--branch", name]
    return subprocess.run(asked, check=False, capture_output=True).returncode == 0


def test_a_title_is_the_settings_template_filled() -> None:
    title = Title(agent="support", summary="escalate refunds above the policy limit")
    assert title.render() == "fix(support): escalate refunds above the policy limit"
    assert Title.parse(title.render()) == title


@settings(max_examples=150)
@given(AGENTS, NASTY, st.sampled_from(TEMPLATES))
def test_a_title_reads_back_as_it_was_fitted(agent: str, summary: str, template: str) -> None:
    title = Title(agent=agent, summary=summary)
    text = title.render(template)
    assert "\n" not in text
    assert len(text) <= TITLE_LIMIT
    assert Title.parse(text, template) == title.fitted(template)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_title_holds_nothing_that_a_commit_list_would_link(text: str) -> None:
    title = Title(agent="support", summary=text).render()
    plain = title.replace("<", "‹").replace("&", "+")  # a title is text: these are shown as such
    assert [one for one in active(plain) if one not in {"formula", "footnote"}] == []
    assert "`" not in title


def test_a_title_of_another_shape_is_none() -> None:
    assert Title.parse("Update README") is None
    assert Title.parse("x", "no holes") is None


@settings(max_examples=60)
@given(st.text(max_size=30), NASTY, st.text(HEX, min_size=8, max_size=64))
def test_a_branch_is_valid_for_git_and_reads_back(agent: str, slug: str, candidate: str) -> None:
    branch = Branch(agent=agent, slug=slug, candidate=candidate)
    name = branch.render()
    assert git_takes(name)
    assert Branch.parse(name) == branch
    assert Branch.parse(f"refs/heads/{name}") == branch
    assert len(branch.slug) <= SLUG_LIMIT


@pytest.mark.parametrize("agent", ["a.lock", "..", "a..b", ".a", "a.", "@{", "a/b", "", "x.lock."])
def test_an_odd_agent_name_gives_a_valid_branch(agent: str) -> None:
    name = Branch(agent=agent, slug="x", candidate="0" * 64).render()
    assert git_takes(name)
    assert name.count("/") == 2


def test_a_branch_is_readable_and_ends_in_the_candidate() -> None:
    branch = Branch(agent="support", slug="Escalate refunds: above limit!", candidate="ab" * 32)
    assert branch.render() == "healbot/support/escalate-refunds-above-limit-abababab"


def test_somebody_elses_branch_is_none() -> None:
    for name in ("main", "healbot/state", "renovate/x-01234567", "healbot/a/b"):
        assert Branch.parse(name) is None


def test_a_candidate_that_is_no_digest_is_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("hexadecimal")):
        Branch(agent="a", slug="b", candidate="../../x")
