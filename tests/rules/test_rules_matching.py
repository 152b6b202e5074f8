"""Near-duplicates are told from siblings, and quickly."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.records.case import Case, Message
from healbot.rules.matching import clusters, near, shape_of

LONG = "Order 1001 asks for a refund of 61.20. The limit is 60."


def _case(text: str, **more: object) -> Case:
    return Case.model_validate({"id": "a", "input": text, **more})


def _near(one: Case, other: Case) -> bool:
    verdicts = {near(shape_of(one), shape_of(other)), near(shape_of(other), shape_of(one))}
    assert len(verdicts) == 1
    return verdicts.pop()


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        LONG.upper().replace(". ", "!\n\n"),
        LONG + " Please.",
        LONG.replace("asks", "aks"),
        "The limit is 60. Order 1001 asks for a refund of 61.20.",
    ],
)
def test_spelling_order_and_small_words_do_not_make_another_case(text: str) -> None:
    assert _near(_case(LONG), _case(text))


@pytest.mark.parametrize(
    "text",
    [
        LONG.replace("61.20", "59.20"),
        LONG.replace("1001", "1002"),
        "Cancel order 1001.",
        "Order 1001 asks where its parcel is, 61.20 was paid and 60 was promised.",
    ],
)
def test_another_number_or_another_wish_makes_another_case(text: str) -> None:
    assert not _near(_case(LONG), _case(text))


def test_short_texts_that_differ_in_one_telling_word_are_two_cases() -> None:
    assert not _near(_case("Is the shop open on Monday?"), _case("Is the shop open on Sunday?"))


def test_the_same_words_in_another_setting_are_two_cases() -> None:
    plain = _case("Fix the failing test.")
    assert not _near(plain, _case("Fix the failing test.", workspace="fixtures/b"))
    assert not _near(plain, _case("Fix the failing test.", tools={"look": 1}))
    assert not _near(
        plain, _case("Fix the failing test.", files={"a.py": "def broken(): return 0"})
    )


def test_a_conversation_is_compared_by_what_the_user_says() -> None:
    talk = Case(id="a", messages=(Message(user="Refund order 1001."), Message(user="Now.")))
    assert _near(talk, _case("Refund order 1001. Now."))


def test_texts_without_a_word_are_near_only_when_equal() -> None:
    assert _near(_case("?!"), _case("?!"))
    assert not _near(_case("?!"), _case("!!!"))
    assert _near(_case("返金してください。注文 1001"), _case("返金してください 注文 1001"))


def test_near_duplicates_of_near_duplicates_are_one_cluster() -> None:
    cases = [
        _case(LONG),
        _case("Cancel order 7."),
        _case(LONG + " Please."),
        _case(LONG + " Now, please."),
    ]
    assert clusters(cases) == ((0, 2, 3), (1,))


_LINES = st.lists(
    st.sampled_from(["refund", "order", "cancel", "1", "2", "please", "now"]),
    min_size=1,
    max_size=9,
)


@settings(max_examples=40)
@given(st.lists(_LINES, max_size=9))
def test_looking_at_candidates_only_finds_what_looking_at_all_pairs_finds(
    lines: list[list[str]],
) -> None:
    cases = [_case(" ".join(line)) for line in lines]
    groups = clusters(cases)
    where = {at: index for index, group in enumerate(groups) for at in group}
    assert sorted(where) == list(range(len(cases)))
    for one in range(len(cases)):
        for other in range(one):
            if _near(cases[one], cases[other]):
                assert where[one] == where[other]


@pytest.mark.parametrize("numbered", [True, False])
def test_two_thousand_cases_take_seconds(numbered: bool) -> None:
    words = [f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}x" for n in range(400)]
    texts = [
        f"Please look at the {words[n % 400]} and the {words[n * 7 % 397]} of the customer who "
        f"asked about {words[n * 13 % 389]} {n if numbered else words[n * 3 % 383]} today"
        for n in range(2_000)
    ]
    start = time.perf_counter()
    assert len(clusters([_case(text) for text in texts])) > 1
    assert time.perf_counter() - start < 20
