"""Whether two edits say the same: rewordings match, different rules on one subject do not."""

import pytest
from likeness_pairs import DIFFERENT, SAME

from healbot.records.harness import Harness, HarnessFile
from healbot.rules.likeness import Change, alike, change_between, recurs, sentences


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_reworded_rule_is_the_same_rule(one: str, other: str) -> None:
    assert alike(sentences(one), sentences(other))
    assert alike(sentences(other), sentences(one))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_another_rule_on_the_same_subject_is_another_rule(one: str, other: str) -> None:
    assert not alike(sentences(one), sentences(other))
    assert not alike(sentences(other), sentences(one))


def test_there_are_thirty_pairs_of_each_kind() -> None:
    assert min(len(SAME), len(DIFFERENT)) >= 30


def _harness(text: str) -> Harness:
    return Harness(files=(HarnessFile(path="instructions.md", content=text.encode()),))


BASE = "# Support\n\n- Answer politely.\n\n## Money\n\n- Name the price.\n"


def test_a_rule_moved_to_another_place_of_the_file_is_the_same_edit() -> None:
    base = _harness(BASE)
    end = change_between(base, _harness(BASE + "- Always escalate a refund.\n"))
    top = change_between(
        base, _harness(BASE.replace("politely.\n", "politely.\n- Escalate every refund\n"))
    )
    joined = change_between(
        base, _harness(BASE.replace("politely.", "politely. Always escalate refunds."))
    )
    assert recurs(end, top)
    assert recurs(end, joined)


def test_what_is_only_moved_is_neither_added_nor_removed() -> None:
    moved = "# Support\n\n## Money\n\n- Name the price.\n- Answer politely.\n"
    assert change_between(_harness(BASE), _harness(moved)) == Change((), ())


def test_a_refused_rule_recurs_among_other_rules_but_a_part_of_it_is_another_edit() -> None:
    refund, tone = "Always escalate a refund.", "Use short sentences."
    assert recurs(Change((refund,), ()), Change((tone, "Escalate refunds."), ()))
    assert not recurs(Change((refund, tone), ()), Change((tone,), ()))


def test_taking_a_rule_away_is_not_adding_it() -> None:
    rule = ("Always escalate a refund.",)
    assert not recurs(Change(rule, ()), Change((), rule))
