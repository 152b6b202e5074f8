"""The plan of a cycle: its worst case holds, and what gives way first."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.records.case import Case, Split, Standing
from healbot.records.settings import GateSettings
from healbot.rules.plan import Plan, plan_cycle

PLENTY = 10**6


def case(name: str, split: Split, *, safety: bool = False, words: str = "") -> Case:
    return Case(id=name, split=split, input=words or f"about {name}", safety=safety)


def make(train: int, heldout: int, corpus: int, safe: int = 0) -> tuple[list[Case], dict]:  # type: ignore[type-arg]
    cases = [case(f"t{n}", Split.TRAIN) for n in range(train)]
    cases += [case(f"h{n}", Split.HELDOUT) for n in range(heldout)]
    kept = [case(f"c{n}", Split.HELDOUT, safety=n < safe) for n in range(corpus)]
    return [*cases, *kept], {one.digest: Standing.PROTECTED for one in kept}


def plan(
    cases: list[Case],
    standings: dict[str, Standing],
    fit: int,
    *,
    editors: int = 2,
    salt: str = "a",
) -> Plan:
    numbers = GateSettings(fallbacks=2)
    return plan_cycle(cases, standings, numbers=numbers, editors=editors, fit=fit, salt=salt)


def test_with_plenty_everything_is_planned() -> None:
    cases, standings = make(2, 2, 3)
    whole = plan(cases, standings, PLENTY)
    assert whole.left_out == ()
    assert whole.earn == ("t0", "t1", "h0", "h1")
    assert (whole.fallbacks, whole.probes) == (2, 4)
    assert whole.least < whole.runs


def test_what_does_not_fit_gives_way_step_by_step_and_safety_cases_stay_to_the_end() -> None:
    cases, standings = make(1, 1, 8, safe=2)
    whole = plan(cases, standings, PLENTY)
    seen = [plan(cases, standings, fit) for fit in range(whole.runs, whole.least - 1, -1)]
    assert seen[0] == whole
    assert seen[1].left_out == ()
    assert seen[1].fallbacks < whole.fallbacks
    for before, after in itertools.pairwise(seen):
        assert after.runs <= before.runs
        assert len(after.left_out) >= len(before.left_out)
        assert not {"c0", "c1"} & set(after.left_out)
    assert seen[-1].runs == whole.least
    assert len(seen[-1].left_out) == 6
    assert (seen[-1].earn, seen[-1].fallbacks, seen[-1].probes) == ((), 0, 1)


def test_where_not_even_the_least_fits_the_least_is_returned_for_the_refusal_to_name() -> None:
    cases, standings = make(2, 2, 3)
    small = plan(cases, standings, 5)
    assert small.runs == small.least > 5


def test_cases_most_like_the_failing_ones_are_kept_and_the_others_rotate() -> None:
    cases = [
        case("t", Split.TRAIN, words="refund the broken lamp of order 7 please"),
        case("near", Split.HELDOUT, words="refund the broken chair of order 9 please"),
        *(case(f"far{n}", Split.HELDOUT, words=f"what is the weather in town {n}") for n in "abcd"),
    ]
    standings = {one.digest: Standing.PROTECTED for one in cases[1:]}
    whole = plan(cases, standings, PLENTY)
    tight = [
        next(
            found
            for fit in range(whole.least, whole.runs)
            if len((found := plan(cases, standings, fit, salt=salt)).left_out) == 3
        )
        for salt in "abcdefgh"
    ]
    assert all("near" not in one.left_out for one in tight)
    assert len({one.left_out for one in tight}) > 1


@given(
    st.integers(0, 4), st.integers(0, 4), st.integers(0, 5), st.integers(0, 3),
    st.integers(0, 900), st.integers(1, 3),
)  # fmt: skip
@settings(max_examples=80)
def test_a_plan_fits_whenever_the_least_one_does(
    train: int, heldout: int, corpus: int, safe: int, fit: int, editors: int
) -> None:
    cases, standings = make(train, heldout, corpus, safe)
    made = plan(cases, standings, fit, editors=editors)
    assert made.least <= made.runs == sum(made.parts.values())
    assert made.runs <= max(fit, made.least)
    more = plan(cases, standings, fit + 50, editors=editors)
    assert len(more.left_out) <= len(made.left_out)
