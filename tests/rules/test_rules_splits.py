"""Splits are stable, recorded once, and never torn through near-duplicates."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.errors import InputError
from healbot.records.case import Case, Split
from healbot.rules.splits import HELDOUT_SHARE, assign, conflicts

WORDS = ("parcel", "invoice", "voucher", "address", "warranty", "colour", "delivery", "receipt")


def _case(number: int, **more: object) -> Case:
    text = f"Question {number} about the {WORDS[number % len(WORDS)]}"
    place = {"origin": f"c/{number}.yml:1", "folder": "c"}
    return Case.model_validate({"id": f"case-{number}", "input": text, **place, **more})


def _splits(cases: list[Case], recorded: dict[str, Split] | None = None) -> dict[str, Split | None]:
    return {case.id: case.split for case in assign(cases, recorded or {}).cases}


def test_what_is_written_wins_over_record_and_hash() -> None:
    recorded = dict(assign([_case(1, split="train"), _case(2)], {}).recorded)
    again = assign([_case(1, split="heldout"), _case(2)], recorded)
    assert again.cases[0].split is Split.HELDOUT
    assert again.recorded["id:case-1"] is Split.HELDOUT


@settings(max_examples=40)
@given(st.sets(st.integers(0, 60), min_size=2, max_size=12))
def test_of_two_cases_or_more_one_is_held_out_and_one_is_left_to_learn_from(
    numbers: set[int],
) -> None:
    given_ = set(_splits([_case(number) for number in numbers]).values())
    assert given_ == {Split.TRAIN, Split.HELDOUT}


@settings(max_examples=40)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=10, unique=True), st.integers(1, 9))
def test_a_recorded_split_stays_whatever_is_added_or_in_which_order(
    numbers: list[int], cut: int
) -> None:
    early = assign([_case(number) for number in numbers[:cut]], {})
    late = assign([_case(number) for number in reversed(numbers)], early.recorded)
    before = {case.id: case.split for case in early.cases}
    after = {case.id: case.split for case in late.cases}
    assert {name: after[name] for name in before} == before
    assert late.recorded.items() >= early.recorded.items()
    assert assign(late.cases, late.recorded) == late


def test_a_case_keeps_its_split_under_a_new_id_and_under_a_new_wording() -> None:
    first = assign([_case(number) for number in range(6)], {})
    held = next(case for case in first.cases if case.split is Split.HELDOUT)
    renamed = held.model_copy(update={"id": "renamed", "split": None})
    reworded = held.model_copy(update={"input": "Something else entirely", "split": None})
    for changed in (renamed, reworded):
        assert assign([changed, _case(40)], first.recorded).cases[0].split is Split.HELDOUT


def test_a_case_born_of_a_failure_is_train() -> None:
    cases = [_case(number, born="failure") for number in range(12)]
    assert set(_splits(cases).values()) == {Split.TRAIN}


def test_a_case_born_of_a_failure_never_leaks_its_held_out_twin() -> None:
    twin = _case(1, id="twin", born="failure")
    assert _splits([_case(1, split="heldout"), twin])["twin"] is Split.HELDOUT


def test_near_duplicates_share_a_split() -> None:
    twin = _case(1, id="twin", input="Question 1 about the INVOICE!")
    for extra in range(8):
        splits = _splits([_case(1), twin, *(_case(20 + n) for n in range(extra))])
        assert splits["twin"] == splits["case-1"]


def test_a_near_duplicate_in_another_split_is_refused_with_both_places() -> None:
    cases = [_case(1, split="train"), _case(1, id="twin", origin="c/t.yml:9", split="heldout")]
    with pytest.raises(InputError) as caught:
        assign(cases, {})
    assert "c/t.yml:9" in caught.value.what
    assert "c/1.yml:1" in caught.value.what
    assert conflicts(cases) == ((cases[0], cases[1]),)


def test_recorded_splits_that_a_new_case_joins_are_refused_with_both_places() -> None:
    one = _case(1, input="Where is the parcel of mine that you sent on Monday to my house 5")
    other = _case(2, input="Where is the parcel of mine you once sent Monday to my old house 5 sir")
    recorded = {"id:case-1": Split.TRAIN, "id:case-2": Split.HELDOUT}
    assert set(_splits([one, other], recorded).values()) == {Split.TRAIN, Split.HELDOUT}
    both = _case(
        3, input="Where is the parcel of mine that you once sent on Monday to my old house 5"
    )
    with pytest.raises(InputError, match=r"recorded as .*c/[12].yml:1"):
        assign([one, other, both], recorded)


def test_the_hash_never_gives_test_and_holds_out_about_its_share() -> None:
    given_ = list(_splits([_case(number) for number in range(400)]).values())
    assert Split.TEST not in given_
    assert abs(given_.count(Split.HELDOUT) / 400 - HELDOUT_SHARE) < 0.1


def test_a_single_case_stays_in_train() -> None:
    for number in range(20):
        assert set(_splits([_case(number)]).values()) == {Split.TRAIN}
