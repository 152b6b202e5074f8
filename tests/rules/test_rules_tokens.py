"""Tokens are compared per passing run, on cases that pass on both sides, as far as reported."""

from hypothesis import given
from hypothesis import strategies as st

from healbot.records.run import Outcome
from healbot.records.verdict import CaseEvidence
from healbot.rules.tally import Answer
from healbot.rules.tokens import judge_tokens

RISE = 0.5
Side = list[tuple[Outcome, int | None]]


def case(baseline: Side, candidate: Side, name: str = "h") -> CaseEvidence:
    return CaseEvidence(
        id=name,
        role="heldout",
        baseline=tuple(outcome for outcome, _ in baseline),
        candidate=tuple(outcome for outcome, _ in candidate),
        baseline_tokens=tuple(tokens for _, tokens in baseline),
        candidate_tokens=tuple(tokens for _, tokens in candidate),
    )


def answer(*cases: CaseEvidence) -> Answer:
    rulings, _ = judge_tokens(cases, RISE)
    return rulings[0].answer if rulings else Answer.YES


def passing(*tokens: int | None) -> Side:
    return [(Outcome.PASS, one) for one in tokens]


def test_failing_runs_do_not_count_however_dear() -> None:
    candidate = [*passing(100, 100), (Outcome.FAIL, 100_000)]
    assert answer(case(passing(100, 100, 100), candidate)) is Answer.YES


def test_passing_more_often_does_not_look_like_costing_more() -> None:
    cheap = case(passing(10, 10, 10), passing(10, 10, 10), "cheap")
    dear = case([*passing(900, 900), (Outcome.FAIL, 900)], passing(900, 900, 900), "dear")
    assert answer(cheap, dear) is Answer.YES


def test_a_case_with_an_unreported_passing_run_is_not_compared_and_said() -> None:
    silent = case(passing(100, 100, 100), passing(900, 900, None), "silent")
    rulings, notes = judge_tokens([silent], RISE)
    assert not rulings
    assert "silent" in notes[0].text
    dear = case(passing(100, 100), passing(151, 151), "dear")
    assert answer(silent, dear) is Answer.NO


scored = st.sampled_from([Outcome.PASS, Outcome.PASS, Outcome.FAIL])
sides = st.lists(st.tuples(scored, st.integers(50, 300)), min_size=3, max_size=3)


@given(st.lists(st.tuples(sides, sides), min_size=1, max_size=3), st.data())
def test_losing_scores_never_makes_a_rise_acceptable_and_never_invents_one(
    pairs: list[tuple[Side, Side]], data: st.DataObject
) -> None:
    cases = [case(b, c, str(n)) for n, (b, c) in enumerate(pairs)]
    place = data.draw(st.integers(0, len(cases) - 1))
    side = data.draw(st.sampled_from(["baseline", "candidate"]))
    lost = data.draw(st.sets(st.integers(0, 2), min_size=1))
    outcomes = getattr(cases[place], side)
    blurred = tuple(Outcome.NONE if n in lost else one for n, one in enumerate(outcomes))
    before = answer(*cases)
    cases[place] = cases[place].model_copy(update={side: blurred})
    assert answer(*cases) in {before, Answer.OPEN}
