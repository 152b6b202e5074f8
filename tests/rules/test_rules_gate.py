"""The gate asks for batches, rejects what is certain, and leaves open what could not be told."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.records.run import Outcome
from healbot.records.settings import GateSettings
from healbot.records.verdict import CaseEvidence, Comparison, Draw, Need, Role, Verdict, Word
from healbot.rules.gate import drop_refused, gain_needed, judge_gate

FIXED = GateSettings()
LETTERS = {"P": Outcome.PASS, "F": Outcome.FAIL, "N": Outcome.NONE}


def case(
    name: str, role: Role, baseline: str = "", candidate: str = "", **more: object
) -> CaseEvidence:
    return CaseEvidence.model_validate(
        {
            "id": name,
            "role": role,
            "baseline": [LETTERS[letter] for letter in baseline],
            "candidate": [LETTERS[letter] for letter in candidate],
            **more,
        }
    )


def judge(*cases: CaseEvidence, numbers: GateSettings = FIXED) -> Verdict | Need:
    return judge_gate(Comparison(cases=cases), numbers)


def verdict(*cases: CaseEvidence) -> Verdict:
    answer = judge(*cases)
    assert isinstance(answer, Verdict)
    return answer


def rules(answer: Verdict) -> list[str]:
    return [reason.rule for reason in answer.reasons]


GAIN = case("t", "train", "FFF", "PPF")
CALM = case("h", "heldout", "PPP", "PPP")


def test_training_cases_are_drawn_first_and_all_at_once() -> None:
    answer = judge(case("t1", "train"), case("t2", "train"), case("h", "heldout"))
    assert answer == Need(
        draws=(Draw(case="t1", baseline=3, candidate=3), Draw(case="t2", baseline=3, candidate=3))
    )


def test_a_useless_edit_is_rejected_before_any_held_out_case_is_drawn() -> None:
    answer = verdict(case("t", "train", "FFF", "PFF"), case("h", "heldout"))
    assert (answer.word, rules(answer)) == (Word.REJECTED, ["no-gain"])


def test_held_out_cases_are_drawn_all_at_once_after_a_gain() -> None:
    answer = judge(GAIN, case("h1", "heldout"), case("h2", "heldout"))
    assert isinstance(answer, Need)
    assert [draw.case for draw in answer.draws] == ["h1", "h2"]


def test_a_gain_of_two_in_three_with_calm_held_out_cases_is_admitted() -> None:
    answer = verdict(GAIN, CALM)
    assert (answer.word, answer.gained, answer.fixed_trigger) == (Word.ADMITTED, ("t",), True)
    assert answer.reasons[0].text == "t: baseline 0 of 3, candidate 2 of 3"


def test_a_training_case_that_gets_worse_rejects_even_by_one_run() -> None:
    answer = verdict(GAIN, case("u", "train", "PFF", "FFF"), CALM)
    assert (answer.word, rules(answer)) == (Word.REJECTED, ["training-worse"])
    assert answer.fixed_trigger


def test_regression_stands_before_the_missing_gain() -> None:
    answer = verdict(case("t", "train", "PFF", "FFF"), CALM)
    assert rules(answer) == ["training-worse", "no-gain"]


def test_only_held_out_cases_that_dropped_are_rerun_on_both_sides() -> None:
    answer = judge(GAIN, CALM, case("h2", "heldout", "PPP", "PPF"))
    assert answer == Need(draws=(Draw(case="h2", baseline=3, candidate=3),))


@pytest.mark.parametrize(
    ("baseline", "candidate", "word"),
    [
        ("PPPPPP", "PPFPPP", Word.ADMITTED),
        ("PPPPPP", "PPFPPF", Word.REJECTED),
        ("PPPFFF", "FFFPPF", Word.ADMITTED),
    ],
)
def test_a_pooled_drop_of_two_in_six_rejects(baseline: str, candidate: str, word: Word) -> None:
    answer = verdict(GAIN, case("h", "heldout", baseline, candidate))
    assert answer.word is word
    if word is Word.REJECTED:
        assert rules(answer) == ["heldout-drop"]
        assert answer.fixed_trigger


def test_a_confirmed_drop_of_a_safety_case_rejects_where_a_plain_case_would_pass() -> None:
    one = ("PPFPPF", "PFFPPF")
    assert verdict(GAIN, case("h", "heldout", *one)).word is Word.ADMITTED
    answer = verdict(GAIN, case("h", "heldout", *one, safety=True))
    assert (answer.word, rules(answer)) == (Word.REJECTED, ["safety-drop"])


def test_an_unconfirmed_drop_of_a_safety_case_does_not_reject() -> None:
    answer = verdict(GAIN, case("h", "heldout", "PPPPPP", "PPFPPP", safety=True))
    assert answer.word is Word.ADMITTED


def test_no_held_out_case_is_underpowered() -> None:
    assert rules(verdict(GAIN)) == ["no-heldout"]
    assert verdict(GAIN).word is Word.UNDERPOWERED
    assert verdict(GAIN, case("h", "heldout", "NNN", "NNN")).word is Word.UNDERPOWERED


def test_no_training_case_with_evidence_is_underpowered() -> None:
    assert verdict(CALM).word is Word.UNDERPOWERED
    answer = verdict(case("t", "train", "NNN", "NNN"), CALM)
    assert (answer.word, rules(answer)) == (Word.UNDERPOWERED, ["no-train"])


def test_a_case_unscored_on_both_sides_is_left_out_and_said() -> None:
    answer = verdict(GAIN, CALM, case("h2", "heldout", "NNN", "NNN"))
    assert answer.word is Word.ADMITTED
    assert [(note.rule, note.case) for note in answer.notes][:1] == [("left-out", "h2")]


def test_a_safety_case_is_never_left_out() -> None:
    answer = verdict(GAIN, CALM, case("h2", "heldout", "NNN", "NNN", safety=True))
    assert (answer.word, rules(answer)) == (Word.UNDERPOWERED, ["could-not-tell"])


def test_a_case_scored_on_one_side_only_could_not_be_told() -> None:
    assert verdict(GAIN, case("h", "heldout", "NNN", "PPP")).word is Word.UNDERPOWERED
    assert verdict(GAIN, CALM, case("h2", "heldout", "PPP", "NNN")).word is Word.UNDERPOWERED


def test_a_gain_that_rests_on_an_unscored_run_is_underpowered() -> None:
    answer = verdict(case("t", "train", "FFF", "PNF"), CALM)
    assert (answer.word, rules(answer)) == (Word.UNDERPOWERED, ["could-not-tell"])
    assert not answer.fixed_trigger


def test_a_certain_regression_rejects_whatever_could_not_be_told() -> None:
    answer = verdict(case("t", "train", "FFF", "PNF"), case("u", "train", "PPP", "FFN"), CALM)
    assert answer.word is Word.REJECTED
    assert rules(answer) == ["training-worse", "could-not-tell"]


def test_a_possible_drop_is_rerun_and_cleared_by_the_rerun() -> None:
    answer = judge(GAIN, case("h", "heldout", "PPP", "PPN"))
    assert isinstance(answer, Need)
    assert verdict(GAIN, case("h", "heldout", "PPPPPP", "PPNPPP")).word is Word.ADMITTED
    assert verdict(GAIN, case("h", "heldout", "PPPPPP", "PPNPPF")).word is Word.UNDERPOWERED


@pytest.mark.parametrize(
    ("tokens", "word"),
    [((100, 150), Word.ADMITTED), ((100, 151), Word.REJECTED), ((100, None), Word.ADMITTED)],
)
def test_tokens_per_passing_run_may_rise_by_half(
    tokens: tuple[int, int | None], word: Word
) -> None:
    before, after = tokens
    held = case(
        "h", "heldout", "PPP", "PPP", baseline_tokens=[before] * 3, candidate_tokens=[after] * 3
    )
    answer = verdict(GAIN, held)
    assert answer.word is word
    if word is Word.REJECTED:
        assert rules(answer) == ["tokens"]
    if after is None:
        assert [note.rule for note in answer.notes] == ["tokens-unknown"]


def test_tokens_of_cases_that_fail_on_one_side_do_not_count() -> None:
    costly = case(
        "t", "train", "FFF", "PPP", baseline_tokens=[1, 1, 1], candidate_tokens=[900, 900, 900]
    )
    assert verdict(costly, CALM).word is Word.ADMITTED


def test_tokens_that_hang_on_an_unscored_run_could_not_be_told() -> None:
    held = case(
        "h",
        "heldout",
        "PPPPPP",
        "PPNPPP",
        baseline_tokens=[100] * 6,
        candidate_tokens=[140, 140, 900, 140, 140, 140],
    )
    assert verdict(GAIN, held).word is Word.UNDERPOWERED


@pytest.mark.parametrize(("repeats", "gain", "drop"), [(1, 1, 1), (3, 2, 2), (6, 4, 4), (9, 6, 6)])
def test_other_repeats_scale_the_gain_and_the_drop(repeats: int, gain: int, drop: int) -> None:
    numbers = GateSettings(repeats=repeats)
    assert (gain_needed(numbers), drop_refused(numbers)) == (gain, drop)


runs = st.text("PFN", min_size=3, max_size=3)
long_runs = st.text("PFN", min_size=6, max_size=6)


@given(st.lists(st.tuples(runs, runs), min_size=1, max_size=3), long_runs, long_runs)
@settings(max_examples=200)
def test_nothing_is_admitted_without_a_gain_that_is_certain(
    train: list[tuple[str, str]], before: str, after: str
) -> None:
    cases = [case(f"t{n}", "train", b, c) for n, (b, c) in enumerate(train)]
    answer = verdict(*cases, case("h", "heldout", before, after))
    certain = any(c.count("P") >= b.count("P") + b.count("N") + 2 for b, c in train)
    worse = any(c.count("P") + c.count("N") < b.count("P") for b, c in train)
    if answer.word is Word.ADMITTED:
        assert certain
        assert not worse
    if worse:
        assert answer.word is Word.REJECTED
    assert answer.reasons
