"""Given outcomes go through the real gate and canary; bad documents are refused by name."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from healbot.errors import Exit, InputError
from healbot.records.settings import GateSettings
from healbot.records.verdict import Word
from healbot.rules.judge import (
    decide,
    exit_code_of,
    feed_from,
    judge_document,
    parse_document,
    read_documents,
    worst_exit,
)
from healbot.rules.stats import count_cases, max_runs

WORDS = {"P": "pass", "F": "fail", "N": "none"}
PASSES = "P" * 20


def item(name: str, role: str, baseline: str, candidate: str, **more: object) -> dict[str, Any]:
    return {
        "id": name,
        "role": role,
        "baseline": [WORDS[letter] for letter in baseline],
        "candidate": [WORDS[letter] for letter in candidate],
        **more,
    }


def good() -> dict[str, Any]:
    return {
        "cases": [
            item("t", "train", "F" * 9, PASSES, claimed=True),
            item("h", "heldout", PASSES, PASSES),
            item("c", "corpus", "", PASSES, history=["pass"]),
        ]
    }


def test_a_clean_fix_is_admitted_and_used_counts_what_both_decisions_drew() -> None:
    answer = judge_document(good())
    assert answer["verdict"] == "admitted"
    assert answer["used"] == {"t": [3, 9], "h": [3, 3], "c": [0, 6]}
    assert any(reason.startswith("canary: 12 of 12") for reason in answer["reasons"])
    json.dumps(answer)


def test_the_canary_judges_the_outcomes_after_those_of_the_gate() -> None:
    document = good()
    document["cases"][0] = item("t", "train", "F" * 9, "PPP" + "PPPPFF" + PASSES, claimed=True)
    answer = judge_document(document)
    assert (answer["verdict"], answer["used"]["t"]) == ("rejected", [3, 9])


def test_a_rejected_useless_edit_draws_training_outcomes_only() -> None:
    document = good()
    document["cases"][0] = item("t", "train", "FFF", "FFP")
    answer = judge_document(document)
    assert answer["used"] == {"t": [3, 3], "h": [0, 0], "c": [0, 0]}


def test_a_file_that_runs_out_is_underpowered_and_says_what_was_lacking() -> None:
    document = good()
    document["cases"][1] = item("h", "heldout", "PPP", "P")
    answer = judge_document(document)
    assert answer["verdict"] == "underpowered"
    assert answer["reasons"] == ["ran-out: h: 2 more candidate outcomes were needed"]
    assert answer["used"]["h"] == [0, 0]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "no object"),
        ({"cases": []}, "at least one case"),
        ({"case": []}, "did you mean 'cases'"),
        ({"cases": ["t"]}, "case 1 is no object"),
        ({"cases": [{"role": "train"}]}, "case 1 has no id"),
        ({"cases": [{"id": "t", "role": "train", "baseline": []}]}, "lacks 'candidate'"),
        ({"cases": [item("t", "holdout", "", "")]}, "'t' has the role 'holdout'"),
        ({"cases": [item("t", "train", "", "", safty=True)]}, "did you mean 'safety'"),
        ({"cases": [item("t", "train", "", "", safety=1)]}, "safety 1"),
        ({"cases": [item("t", "train", "", "", history="pass")]}, "'history' is no list"),
        (
            {
                "cases": [
                    {"id": "t", "role": "train", "baseline": ["pass", "skip"], "candidate": []}
                ]
            },
            "outcome 2 of 'baseline' is 'skip'",
        ),
        ({"cases": [item("t", "train", "", ""), item("t", "corpus", "", "")]}, "called 't'"),
    ],
)
def test_a_document_of_another_shape_is_refused_by_name(document: object, said: str) -> None:
    with pytest.raises(InputError) as caught:
        judge_document(document)
    whole = f"{caught.value.what} {caught.value.next_step}"
    assert said.lower() in whole.lower()


def test_a_file_holds_one_document_or_one_a_line() -> None:
    pretty = json.dumps(good(), indent=2)
    assert read_documents(pretty) == (good(),)
    lines = json.dumps(good()) + "\n\n" + json.dumps({"cases": []}) + "\n"
    assert read_documents(lines) == (good(), {"cases": []})
    with pytest.raises(InputError, match="empty"):
        read_documents(" \n")
    with pytest.raises(InputError, match="Line 2"):
        read_documents('{"cases": []}\n{"cases": [}\n')


def test_a_no_outranks_could_not_tell_outranks_done() -> None:
    assert exit_code_of(Word.ADMITTED) is Exit.DONE
    assert exit_code_of(Word.REJECTED) is Exit.NO
    assert exit_code_of(Word.INVALID) is Exit.NO
    assert exit_code_of(Word.UNDERPOWERED) is Exit.COULD_NOT_TELL
    assert exit_code_of(Word.NOT_EXERCISED) is Exit.COULD_NOT_TELL
    assert worst_exit([Word.ADMITTED, Word.UNDERPOWERED]) is Exit.COULD_NOT_TELL
    assert worst_exit([Word.UNDERPOWERED, Word.REJECTED, Word.ADMITTED]) is Exit.NO
    assert worst_exit([Word.ADMITTED]) is Exit.DONE


def spotted(spots: list[int], letter: str) -> str:
    return "".join(letter if n in spots else "P" for n in range(18))


nearly = st.builds(
    spotted, st.lists(st.integers(0, 17), max_size=3), st.sampled_from(["F", "F", "N"])
)
side = st.one_of(
    nearly, st.text("PF", min_size=18, max_size=18), st.text("FFFFFFFFPN", min_size=18, max_size=18)
)
flags = st.fixed_dictionaries({}, optional={"safety": st.booleans(), "claimed": st.booleans()})


@st.composite
def likely(draw: st.DrawFn) -> dict[str, Any]:
    """Documents that are admitted often enough for a property to bite."""
    trigger = st.sampled_from(["F" * 18, "FFP" + "F" * 15, "FFF" + "PFFFFF" * 3])
    cases = [item("t0", "train", draw(trigger), draw(nearly), **draw(flags))]
    others = draw(st.integers(0, 2))
    for n in range(others):
        both = draw(st.sampled_from(["train", "heldout", "corpus"]))
        cases.append(item(f"o{n}", both, draw(side), draw(nearly), **draw(flags)))
    cases.append(item("h", "heldout", draw(nearly), draw(nearly), **draw(flags)))
    return {"cases": cases}


def changed(document: dict[str, Any], place: tuple[int, str, int], word: str) -> dict[str, Any]:
    fresh: dict[str, Any] = json.loads(json.dumps(document))
    number, name, at = place
    case = fresh["cases"][number % len(fresh["cases"])]
    case[name][at] = word
    return fresh


places = st.tuples(
    st.integers(0, 7), st.sampled_from(["baseline", "candidate"]), st.integers(0, 17)
)


@given(likely(), st.lists(places, min_size=1, max_size=6))
@settings(max_examples=300, suppress_health_check=[HealthCheck.filter_too_much])
def test_more_candidate_passes_never_refuse_what_was_admitted(
    document: dict[str, Any], where: list[tuple[int, str, int]]
) -> None:
    assume(judge_document(document)["verdict"] == "admitted")
    for number, _, at in where:
        document = changed(document, (number, "candidate", at), "pass")
    assert judge_document(document)["verdict"] == "admitted"


@given(likely(), st.lists(places, min_size=1, max_size=4))
@settings(max_examples=300, suppress_health_check=[HealthCheck.filter_too_much])
def test_losing_scores_never_admits_what_was_not(
    document: dict[str, Any], where: list[tuple[int, str, int]]
) -> None:
    before = judge_document(document)
    assume(before["verdict"] != "admitted")
    assume(not any(reason.startswith("ran-out") for reason in before["reasons"]))
    for place in where:
        document = changed(document, place, "none")
    after = judge_document(document)
    left_out = any(reason.startswith("left-out") for reason in after["reasons"])
    assert after["verdict"] != "admitted" or left_out


@given(likely(), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_the_order_of_cases_changes_nothing(document: dict[str, Any], rng: Any) -> None:
    cases = list(document["cases"])
    rng.shuffle(cases)
    before, after = judge_document(document), judge_document({"cases": cases})
    assert (before["verdict"], before["used"]) == (after["verdict"], after["used"])
    assert sorted(before["reasons"]) == sorted(after["reasons"])


@given(likely())
@settings(max_examples=200)
def test_no_outcome_is_used_twice_and_the_forecast_is_never_exceeded(
    document: dict[str, Any],
) -> None:
    cases = parse_document(document)
    judged = decide(cases, feed_from(cases), GateSettings())
    ceiling = max_runs(count_cases(cases), GateSettings())
    spent = [
        sum(len(case.baseline) + len(case.candidate) for case in phase.cases)
        for phase in (judged.gate, judged.canary)
    ]
    assert spent[0] <= ceiling.gate
    assert spent[1] <= ceiling.canary
    for given_case, gate, canary in zip(
        cases.cases, judged.gate.cases, judged.canary.cases, strict=True
    ):
        for name in ("baseline", "candidate"):
            drawn = getattr(gate, name) + getattr(canary, name)
            assert drawn == getattr(given_case, name)[: len(drawn)]
