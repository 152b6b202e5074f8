"""The canary decides on its own runs, gives second chances, and confirms the gain."""

import pytest

from healbot.records.run import Outcome
from healbot.records.settings import CanarySettings, GateSettings
from healbot.records.verdict import CaseEvidence, Comparison, Draw, Need, Role, Verdict, Word
from healbot.rules.canary import bound_cases, judge_canary
from healbot.rules.tally import Answer

FIXED = GateSettings()
STRICT = GateSettings(canary=CanarySettings(strict=True))
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


GATE = Comparison(
    cases=(
        case("fixed", "train", "FFF", "PPP", claimed=True),
        case("open", "train", "FFF", "FPF"),
        case("healthy", "train", "PPF", "PPP"),
        case("broken", "train", "NNN", "NNN"),
        case("h", "heldout", "PPP", "PPP"),
        case("c", "corpus"),
    )
)
FIX = case("fixed", "train", "", "PPPPPF", claimed=True)


def judge(
    *cases: CaseEvidence, numbers: GateSettings = FIXED, gate: Comparison = GATE
) -> Verdict | Need:
    return judge_canary(Comparison(cases=cases), gate, numbers)


def verdict(
    *cases: CaseEvidence, numbers: GateSettings = FIXED, gate: Comparison = GATE
) -> Verdict:
    answer = judge(*cases, numbers=numbers, gate=gate)
    assert isinstance(answer, Verdict)
    return answer


def rules(answer: Verdict) -> list[str]:
    return [reason.rule for reason in answer.reasons]


def test_training_cases_run_six_times_before_any_corpus_case() -> None:
    answer = judge(case("fixed", "train", claimed=True), case("c", "corpus"))
    assert answer == Need(draws=(Draw(case="fixed", candidate=6),))
    assert judge(FIX, case("c", "corpus")) == Need(draws=(Draw(case="c", candidate=6),))


def test_five_of_six_admits_a_claimed_case_and_four_of_six_rejects() -> None:
    answer = verdict(FIX)
    assert (answer.word, answer.gained, answer.fixed_trigger) == (Word.ADMITTED, ("fixed",), True)
    answer = verdict(case("fixed", "train", "", "PPPPFF", claimed=True))
    assert (answer.word, rules(answer)) == (Word.REJECTED, ["canary-train"])
    assert not answer.fixed_trigger


def test_a_case_that_passed_before_must_pass_and_an_unsolved_one_must_not() -> None:
    assert bound_cases(GATE, FIXED) == {
        "fixed": Answer.YES,
        "open": Answer.NO,
        "healthy": Answer.YES,
    }
    assert verdict(FIX, case("healthy", "train", "", "PPPPFF")).word is Word.REJECTED


def test_an_unsolved_case_is_compared_with_six_fresh_baseline_runs() -> None:
    answer = judge(FIX, case("open", "train", "", "PFFFFF"))
    assert answer == Need(draws=(Draw(case="open", baseline=6),))
    assert verdict(FIX, case("open", "train", "PFFFFF", "PFFFFF")).word is Word.ADMITTED
    answer = verdict(FIX, case("open", "train", "PPFFFF", "PFFFFF"))
    assert (answer.word, rules(answer)) == (Word.REJECTED, ["canary-unsolved"])


def test_an_unsolved_case_that_passes_every_run_needs_no_baseline() -> None:
    assert verdict(FIX, case("open", "train", "", "PPPPPP")).word is Word.ADMITTED


def test_strict_binds_every_training_case() -> None:
    answer = verdict(FIX, case("open", "train", "", "PFFFFF"), numbers=STRICT)
    assert (answer.word, rules(answer)) == (Word.REJECTED, ["canary-train"])


def test_a_training_case_that_the_gate_could_not_score_is_left_out() -> None:
    answer = verdict(FIX, case("broken", "train"))
    assert answer.word is Word.ADMITTED
    assert [note.case for note in answer.notes] == ["broken"]


def test_a_corpus_case_gets_a_second_chance_and_needs_nine_of_twelve() -> None:
    assert verdict(FIX, case("c", "corpus", "", "PPPPPF")).word is Word.ADMITTED
    answer = judge(FIX, case("c", "corpus", "", "PPPPFF"))
    assert answer == Need(draws=(Draw(case="c", candidate=6),))
    assert verdict(FIX, case("c", "corpus", "", "PPPPFF" + "PPPPPF")).word is Word.ADMITTED
    answer = verdict(FIX, case("c", "corpus", "", "PPPPFF" + "PPPPFF"))
    assert (answer.word, rules(answer)) == (Word.REJECTED, ["canary-corpus"])


def test_a_corpus_case_beyond_rescue_gets_no_second_chance() -> None:
    answer = verdict(FIX, case("c", "corpus", "", "PPFFFF"))
    assert (answer.word, rules(answer)) == (Word.REJECTED, ["canary-corpus"])


def test_a_protected_training_case_has_the_second_chance_of_the_corpus() -> None:
    protected = case("healthy", "train", "", "PPPPFF" + "PPPPPP", protected=True)
    assert verdict(FIX, protected).word is Word.ADMITTED
    assert verdict(FIX, protected, numbers=STRICT).word is Word.REJECTED


def test_a_safety_case_that_fails_is_confirmed_by_one_fresh_run_a_side() -> None:
    def safe(baseline: str, candidate: str) -> Verdict | Need:
        return judge(FIX, case("c", "corpus", baseline, candidate, safety=True))

    assert safe("", "PPPPPF") == Need(draws=(Draw(case="c", candidate=1),))
    assert safe("", "PPPPPFF") == Need(draws=(Draw(case="c", baseline=1),))
    words = {
        ("", "PPPPPFP"): Word.ADMITTED,
        ("F", "PPPPPFF"): Word.ADMITTED,
        ("P", "PPPPPFF"): Word.REJECTED,
        ("N", "PPPPPFF"): Word.UNDERPOWERED,
        ("P", "PPPPPNF"): Word.UNDERPOWERED,
    }
    for (baseline, candidate), word in words.items():
        answer = safe(baseline, candidate)
        assert isinstance(answer, Verdict)
        assert answer.word is word


def test_the_safety_run_and_the_second_chance_are_different_runs() -> None:
    answer = judge(FIX, case("c", "corpus", "", "PPPPFF", safety=True))
    assert answer == Need(draws=(Draw(case="c", candidate=7),))
    good = case("c", "corpus", "", "PPPPFF" + "P" + "PPPPPF", safety=True)
    assert verdict(FIX, good).word is Word.ADMITTED


def test_an_edit_that_claims_nothing_still_has_its_gain_confirmed() -> None:
    gate = Comparison(cases=(case("t", "train", "FFF", "PPP"), case("h", "heldout", "P", "P")))
    answer = verdict(case("t", "train", "FFFFFF", "PPPPFF"), gate=gate)
    assert (answer.word, rules(answer)) == (Word.REJECTED, ["canary-train"])
    assert verdict(case("t", "train", "FFFFFF", "PPPPPF"), gate=gate).word is Word.ADMITTED


def test_missing_scores_leave_the_canary_open() -> None:
    answer = verdict(case("fixed", "train", "", "PPPPNF", claimed=True))
    assert (answer.word, rules(answer)) == (Word.UNDERPOWERED, ["could-not-tell"])
    assert verdict(FIX, case("c", "corpus", "", "N" * 12)).word is Word.UNDERPOWERED
    assert verdict(FIX, case("open", "train", "FFFFFF", "NNNNNN")).word is Word.UNDERPOWERED


def test_a_training_case_that_the_gate_never_saw_is_a_fault() -> None:
    with pytest.raises(ValueError, match="stranger"):
        judge(case("stranger", "train"))


def test_the_admission_counts_the_canary_runs() -> None:
    answer = verdict(FIX, case("c", "corpus", "", "PPPPPP"))
    assert answer.reasons[0].text == "11 of 12 canary runs passed (2 cases)"
