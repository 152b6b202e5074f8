"""Foreign text does nothing on GitHub, shown with GitHub's own renderer."""

import html
import re

import pytest
from hostile_samples import HOSTILE, active, rendered, tags
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.views.plain import cell, cleaned, code, one_line, plain, plain_block, plain_lines

LIMIT = 300
NASTY_CHARS = "@#`$<>&:*_[]()!|~\\/.-+=^'\" \n\tab1Gh\u200b\x1b"
NASTY = st.text(st.sampled_from(NASTY_CHARS), max_size=60)


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", page)).strip()


def test_the_corpus_of_hostile_texts_is_no_token_effort() -> None:
    assert len(set(HOSTILE)) >= 60


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_one_paragraph_with_nothing_active(text: str) -> None:
    page = rendered(plain(text, LIMIT))
    assert tags(page) <= {"p", "code"}
    assert page.count("<p>") <= 1
    assert active(page) == []
    assert text_of(page) == one_line(text, LIMIT)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_id_is_one_code_span(text: str) -> None:
    page = rendered(code(text, LIMIT))
    assert tags(page) <= {"p", "code"}
    assert page.count("<code>") == (1 if one_line(text, LIMIT) else 0)
    assert text_of(page) == (one_line(text, LIMIT) or "(none)")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_cell_stays_in_its_column(text: str) -> None:
    head = "| a | b | c |\n| --- | --- | --- |\n"
    page = rendered(f"{head}| {cell(plain(text, LIMIT))} | {cell(code(text, LIMIT))} | end |")
    assert tags(page) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}
    assert (page.count("<tr>"), page.count("<td>")) == (2, 3)
    assert "<td>end</td>" in page
    assert active(page) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_block_stays_in_its_fence(text: str) -> None:
    page = rendered(f"{plain_block(text, LIMIT, 'diff')}\n\nafter")
    assert tags(page) == {"pre", "code", "p"}
    assert page.endswith("<p>after</p>\n")
    assert active(page) == []


@settings(max_examples=300)
@given(NASTY | st.text(max_size=60))
def test_no_text_at_all_is_active_or_loses_a_visible_character(text: str) -> None:
    page = rendered(plain(text, LIMIT))
    assert tags(page) <= {"p", "code"}
    assert active(page) == []
    assert text_of(page) == one_line(text, LIMIT).strip()


@settings(max_examples=150)
@given(NASTY, NASTY)
def test_texts_side_by_side_do_not_act_together(one: str, other: str) -> None:
    page = rendered(
        f"A {plain(one, 60)}; {code(other, 60)}: {plain(other, 60)}.\nB {plain(one, 60)}"
    )
    assert tags(page) <= {"p", "code", "br"}
    assert active(page) == []


@settings(max_examples=150)
@given(NASTY)
def test_no_block_gets_out_of_its_fence(text: str) -> None:
    page = rendered(f"{plain_block(text, LIMIT)}\n\nafter")
    assert tags(page) == {"pre", "code", "p"}
    assert page.endswith("<p>after</p>\n")


def test_ordinary_prose_stays_prose_and_ids_become_code() -> None:
    told = "Compare the amount (61.20, at 12:30) with agents/support/x.md, don't ask @bob."
    assert plain(told, LIMIT) == (
        "Compare the amount (61.20, at 12:30) with `agents/support/x.md`, don't ask `@bob`."
    )


def test_prose_in_other_scripts_stays_prose() -> None:
    assert "`" not in plain("返金は上限を超えたら担当者へ。 अनुरोध की जाँच करें — größer, naïve", LIMIT)


def test_the_limit_counts_what_a_reader_sees_and_shows_the_cut() -> None:
    assert one_line("abcdef", 4) == "abc…"
    assert len(text_of(rendered(plain("@a " * 500, 50)))) <= 50


@given(st.text(max_size=40))
@settings(max_examples=100)
def test_cleaning_twice_changes_no_more_and_nothing_is_hidden(text: str) -> None:
    once = one_line(text, LIMIT)
    assert one_line(once, LIMIT) == once
    assert not re.search("[\x00-\x08\x0e-\x1b\x7f\u200b-\u200f\u202a-\u202e]", cleaned(text))


def test_a_terminal_escape_goes_with_its_arguments() -> None:
    assert cleaned("\x1b[1;31mred\x1b[0m \x1b]0;title\x07x") == "red x"


def test_a_block_names_what_a_reviewer_could_not_see() -> None:
    assert plain_lines("+pay\u200b \u202eevil\r\n+x\ry", LIMIT) == [
        "+pay⟨U+200B⟩ ⟨U+202E⟩evil",
        "+x␍y",
    ]


def test_a_block_leaves_emoji_and_joining_scripts_alone() -> None:
    assert plain_lines("⚠\ufe0f نمی\u200cخواهم", LIMIT) == ["⚠\ufe0f نمی\u200cخواهم"]


def test_the_eyes_of_these_tests_see_what_they_look_for() -> None:
    seen = [bool(active(rendered(text)) or tags(rendered(text)) - {"p"}) for text in HOSTILE]
    assert sum(seen) >= 60
