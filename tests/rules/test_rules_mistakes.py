"""Mistakes are told in the user's words."""

from healbot.records.case import Case
from healbot.rules.mistakes import did_you_mean, listed, secrets, unknown_key, words


def test_a_far_word_gets_the_known_ones_instead_of_a_guess() -> None:
    assert did_you_mean("zzz", ("input", "split")) == ""
    assert unknown_key("zzz", ("input", "split")) == "unknown key 'zzz'; known here: input, split"


def test_case_and_underscores_do_not_hide_what_was_meant() -> None:
    assert did_you_mean("Tool_Called", ("tool-called", "tests")) == "did you mean 'tool-called'?"


def test_keys_that_no_user_writes_are_never_suggested() -> None:
    assert not {"origin", "folder", "asserts"} & set(words(Case))
    assert "assert" in words(Case)


def test_a_short_list_is_not_counted() -> None:
    assert listed(["a", "b"]) == "a\nb"


def test_a_password_in_a_url_is_a_secret_and_a_plain_url_is_not() -> None:
    assert list(secrets({"a": ["https://me:word@host/x", "https://host:80/x"]})) == [("a", 0)]
