"""Assertions mean what promptfoo's documentation says, and a fault of one is never a fail."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.records.case import Assertion
from healbot.records.run import Outcome, Trace
from healbot.rules.assertions import judge, known_types, needs, problem

HERE = Path("/w")
SCHEMA = {
    "required": ["latitude", "longitude"],
    "type": "object",
    "properties": {
        "latitude": {"minimum": -90, "type": "number", "maximum": 90},
        "longitude": {"minimum": -180, "type": "number", "maximum": 180},
    },
}
PLACE = '{"latitude": 52.5, "longitude": 13.4}'


def outcome(output: str, kind: str, value: Any = None, **rest: Any) -> Outcome:
    assertion = Assertion(type=kind, value=value, threshold=rest.pop("threshold", None))
    return judge(assertion, run(output, **rest)).outcome


def run(output: str = "", **rest: Any) -> Trace:
    whole: dict[str, Any] = {"ended": "exited", "exit_code": 0, **rest}
    return Trace.model_validate({"root": HERE, "folder": HERE, "stdout": output, **whole})


@pytest.mark.parametrize(
    ("kind", "value", "holding", "failing"),
    [
        ("contains", "The expected substring", "x The expected substring y", "the expected"),
        ("contains", 0, "about 0 left", "none"),
        ("contains", 1.0, "1", "2"),
        ("icontains", "The expected substring", "THE EXPECTED SUBSTRING", "other"),
        ("contains-all", ["Value 1", "Value 2"], "Value 2, Value 1", "Value 1"),
        ("contains-all", ["1,000", "in stock"], "1,000 in stock", "1 000 in stock"),
        ("contains-all", "Value 1, Value 2", "Value 1 Value 2", "Value 1"),
        ("contains-any", ["Value 1", "Value 2"], "Value 2", "Value 3"),
        ("contains-any", '"a,b", c', "a,b", "a b"),
        ("contains-any", r'"say \"hi\"",x', 'say "hi"', "say hi"),
        ("contains-any", '"say ""hi"""', 'say "hi"', "say hi"),
        ("icontains-any", ["Value 1", "Value 2"], "VALUE 1", "VALUE"),
        ("icontains-all", ["a", "B"], "A b", "A"),
        ("regex", "\\d{4}", "in 2024", "in 24"),
        ("regex", "^yes$", "yes\n", "yes sir"),
        ("starts-with", "Yes", "Yes, we", "No. Yes"),
        ("ends-with", "bye", "ok, bye\n", "bye now"),
        ("equals", "The expected output", "The expected output\n", "The expected output."),
        ("equals", {"key": "value"}, '{ "key":"value" }', '{"key": "other"}'),
        ("equals", {"n": 1}, '{"n": 1.0}', '{"n": true}'),
        ("equals", {"key": "value"}, '{"key":"value"}', "no JSON"),
        ("equals", 5, "5", "5.0"),
        ("equals", True, "true", "True"),
        ("is-json", None, '{"a": [1, 2]}', "{'a': 1}"),
        ("is-json", None, "3", "NaN"),
        ("is-json", SCHEMA, PLACE, '{"latitude": 152.5, "longitude": 13.4}'),
        ("is-json", "type: object\nrequired: [a]", '{"a": 1}', '{"b": 1}'),
        ("is-json", '{"type": "array"}', "[]", "{}"),
        ("contains-json", None, f"Here:\n```json\n{PLACE}\n```", "no { JSON } here [1]"),
        ("contains-json", SCHEMA, f'{{"a": 1}} and {PLACE}', '{"latitude": 1}'),
    ],
)
def test_each_type_holds_and_fails_as_documented_and_not_turns_it_round(
    kind: str, value: Any, holding: str, failing: str
) -> None:
    assert outcome(holding, kind, value) is Outcome.PASS
    assert outcome(failing, kind, value) is Outcome.FAIL
    assert outcome(holding, f"not-{kind}", value) is Outcome.FAIL
    assert outcome(failing, f"not-{kind}", value) is Outcome.PASS


def test_latency_is_in_milliseconds_and_meets_its_threshold() -> None:
    assert outcome("", "latency", threshold=5000, duration_seconds=5.0) is Outcome.PASS
    assert outcome("", "latency", threshold=5000, duration_seconds=5.1) is Outcome.FAIL
    assert outcome("", "not-latency", threshold=5000, duration_seconds=5.1) is Outcome.PASS


def test_cost_is_in_dollars_and_an_unreported_cost_cannot_score() -> None:
    assert outcome("", "cost", threshold=0.001, usage={"usd": 0.001}) is Outcome.PASS
    assert outcome("", "cost", threshold=0.001, usage={"usd": 0.002}) is Outcome.FAIL
    assert outcome("", "cost", threshold=0.001) is Outcome.NONE
    assert outcome("", "not-cost", threshold=0.001) is Outcome.NONE


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "llm-rubric", "value": "is polite"},
        {"type": "javascript", "value": "output.length < 20"},
        {"type": "python", "value": "file://check.py"},
        {"type": "similar", "value": "x"},
        {"type": "webhook", "value": "https://example.org"},
        {"type": "contain", "value": "x"},
        {"type": "contains"},
        {"type": "contains", "value": ""},
        {"type": "contains", "value": True},
        {"type": "contains", "value": "file://expected.txt"},
        {"type": "contains", "value": "package:thing"},
        {"type": "contains", "value": "{{name}}"},
        {"type": "contains", "value": "x", "transform": "output.trim()"},
        {"type": "contains-all", "value": []},
        {"type": "contains-any", "value": ["a", ""]},
        {"type": "contains-any", "value": '"a'},
        {"type": "contains-any", "value": '  "a" b'},
        {"type": "regex", "value": "("},
        {"type": "regex", "value": 5},
        {"type": "regex", "value": "a" * 20_000},
        {"type": "starts-with", "value": 5},
        {"type": "equals"},
        {"type": "latency"},
        {"type": "cost"},
        {"type": "is-json", "value": {"type": "objekt"}},
        {"type": "is-json", "value": {"requird": ["a"]}},
        {"type": "is-json", "value": {"pattern": "("}},
        {"type": "is-json", "value": "just words"},
        {"type": "is-json", "value": "a: [unclosed"},
        {"type": "is-json", "value": "file://schema.json"},
    ],
)
def test_a_fault_of_the_assertion_cannot_score_either_way_and_lint_names_it(
    raw: dict[str, Any],
) -> None:
    for kind in (raw["type"], f"not-{raw['type']}"):
        assertion = Assertion.model_validate({**raw, "type": kind})
        for output in ("", "x", "a", "{}", '"x"'):
            result = judge(assertion, run(output))
            assert result.outcome is Outcome.NONE
            assert result.reason
            assert "\n" not in result.reason
        assert problem(assertion)


def test_a_sound_assertion_has_no_problem() -> None:
    assert problem(Assertion(type="not-contains", value="x")) is None
    assert problem(Assertion(type="is-json", value=SCHEMA)) is None


def test_a_typo_in_a_type_gets_a_suggestion() -> None:
    said = problem(Assertion(type="not-icontain", value="x"))
    assert said
    assert "did you mean 'icontains'?" in said


def test_what_a_type_needs_is_told_apart_from_an_unknown_type() -> None:
    assert needs("llm-rubric") == "a judge model"
    assert needs("not-llm-rubric") == "a judge model"
    assert needs("contains") is None
    assert {"contains", "llm-rubric"} <= set(known_types())


def test_a_runaway_regex_cannot_score() -> None:
    result = judge(Assertion(type="regex", value="(a|aa)+$"), run("a" * 60 + "b"))
    assert result.outcome is Outcome.NONE
    assert "did not come to an end" in result.reason
    assert outcome("a" * 50 + "b", "not-regex", "(a+)+$") is not Outcome.FAIL


def test_a_runaway_pattern_inside_a_schema_cannot_score() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a"}
    schema["definitions"] = {"a": {"pattern": "(a|aa)+$"}}  # type: ignore[assignment]
    assert outcome('"' + "a" * 60 + 'b"', "is-json", schema) is Outcome.NONE
    named = {"patternProperties": {"(a|aa)+$": {"type": "number"}}, "additionalProperties": False}
    assert outcome('{"' + "a" * 60 + 'b": 1}', "is-json", named) is Outcome.NONE


def test_a_schema_that_refers_outside_itself_fetches_nothing() -> None:
    schema = {"$ref": "http://127.0.0.1:9/schema.json"}
    assert outcome("{}", "is-json", schema) is Outcome.NONE
    assert outcome("{}", "is-json", {"$ref": "#"}) is Outcome.NONE


def test_the_guarded_keywords_of_a_schema_still_judge() -> None:
    schema = {
        "properties": {"a": {"pattern": "^x"}},
        "patternProperties": {"^n_": {"type": "number"}},
        "additionalProperties": {"type": "boolean"},
    }
    assert outcome('{"a": "xy", "n_1": 2, "b": true}', "is-json", schema) is Outcome.PASS
    assert outcome('{"a": "yx"}', "is-json", schema) is Outcome.FAIL
    assert outcome('{"n_1": "2"}', "is-json", schema) is Outcome.FAIL
    assert outcome('{"b": 1}', "is-json", schema) is Outcome.FAIL
    assert outcome("[1, 1.0]", "is-json", {"uniqueItems": True}) is Outcome.FAIL
    assert outcome("[1, true, {}, []]", "is-json", {"uniqueItems": True}) is Outcome.PASS


def test_a_run_that_ended_badly_proves_only_what_is_there() -> None:
    crashed = {"exit_code": 1}
    late = {"ended": "timed-out", "exit_code": None}
    for how in (crashed, late):
        assert outcome("refunded", "contains", "refunded", **how) is Outcome.NONE
        assert outcome("", "contains", "refunded", **how) is Outcome.NONE
        assert outcome("", "not-contains", "refunded", **how) is Outcome.NONE
        assert outcome("refunded", "not-contains", "refunded", **how) is Outcome.FAIL
        assert outcome("refunded", "not-regex", "refunded$", **how) is Outcome.NONE
        assert outcome("x", "starts-with", "y", **how) is Outcome.NONE
        assert outcome("x", "equals", "y", **how) is Outcome.NONE
    assert outcome("", "latency", threshold=1, duration_seconds=9, **late) is Outcome.FAIL
    assert outcome("", "latency", threshold=1, duration_seconds=0, **crashed) is Outcome.NONE
    gone = {"ended": "not-started", "exit_code": None}
    assert outcome("refunded", "not-contains", "refunded", **gone) is Outcome.NONE


def test_a_cut_output_proves_only_what_is_there() -> None:
    assert outcome("a", "contains", "a", truncated=True) is Outcome.PASS
    assert outcome("a", "contains", "b", truncated=True) is Outcome.NONE
    assert outcome("a", "not-contains", "b", truncated=True) is Outcome.NONE
    assert outcome("a", "not-contains", "a", truncated=True) is Outcome.FAIL
    assert outcome("a", "equals", "b", truncated=True) is Outcome.NONE
    assert outcome("{}", "is-json", truncated=True) is Outcome.NONE
    assert outcome("ab", "starts-with", "a", truncated=True) is Outcome.PASS


def test_the_metric_is_the_name_of_what_was_missed() -> None:
    assertion = Assertion(type="contains", value="escalate", metric="escalation")
    result = judge(assertion, run("no"))
    assert (result.check, result.missed) == ("escalation", "escalation")
    assert judge(Assertion(type="contains", value="x"), run("no")).missed is None


def test_colours_and_white_space_around_the_output_do_not_count() -> None:
    assert outcome("\n \x1b[32mok\x1b[0m\n", "equals", "ok") is Outcome.PASS


def test_a_megabyte_of_output_is_judged_in_time() -> None:
    big = 'lorem ipsum {"a": ' * 55_000
    assert outcome(big, "not-contains", "refund") is Outcome.PASS
    assert outcome(big, "not-regex", "refund\\w+ of \\d+") is Outcome.PASS
    assert outcome(big, "contains-json") is Outcome.NONE
    assert outcome("[" * 500_000, "is-json") is Outcome.NONE
    assert outcome("9" * 500_000, "is-json") is Outcome.PASS
    flat = "[" + ",".join("{}" for _ in range(300_000)) + "]"
    assert outcome(flat, "is-json", {"uniqueItems": True}) is Outcome.FAIL


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=8) | st.sampled_from(["type", "pattern"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(
    kind=st.sampled_from(known_types()) | st.text(max_size=12),
    value=JSONISH,
    threshold=st.none() | st.floats(),
    output=st.text(max_size=60),
)
def test_whatever_is_asserted_judging_never_raises_and_a_faulty_assertion_never_decides(
    kind: str, value: Any, threshold: float | None, output: str
) -> None:
    for word in (kind, f"not-{kind}"):
        assertion = Assertion(type=word, value=value, threshold=threshold)
        result = judge(assertion, run(output))
        if problem(assertion):
            assert result.outcome is Outcome.NONE
            assert result.reason


@settings(max_examples=200, deadline=None)
@given(
    value=st.text(min_size=1, max_size=5),
    output=st.text(max_size=30),
    kind=st.sampled_from(["contains", "icontains", "starts-with", "ends-with", "equals", "regex"]),
)
def test_a_negation_says_the_opposite_or_both_cannot_score(
    value: str, output: str, kind: str
) -> None:
    one, other = outcome(output, kind, value), outcome(output, f"not-{kind}", value)
    assert (one is Outcome.NONE) == (other is Outcome.NONE)
    assert one is Outcome.NONE or one is not other
