"""A failure's signature: the same failure has the same one, and no agent's words are in it."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from healbot.records.case import Case
from healbot.records.observed import ObservedRun
from healbot.records.run import CheckResult, Outcome, Run, RunKey, ToolCall
from healbot.rules.signature import (
    LONGEST_PART,
    observed_signature,
    own_words,
    published_signature,
    signature_of,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)
FAIL = CheckResult(check="contains", outcome=Outcome.FAIL)
NAMED = FAIL.model_copy(update={"missed": "escalation"})


def case(**fields: object) -> Case:
    return Case.model_validate({"id": "one", "input": "x", "tags": ("refund", "b"), **fields})


def run(*checks: CheckResult, **fields: object) -> Run:
    key = RunKey(revision="r", case="c", runner="w", repeat=0)
    plain = {"key": key, "case_id": "one", "started_at": AT, "duration_seconds": 1.0}
    return Run.model_validate({**plain, "ended": "exited", "checks": checks, **fields})


def test_what_was_missed_comes_first_with_the_case_s_first_tag() -> None:
    assert signature_of(case(), run(NAMED)) == "missed:escalation:refund"
    assert signature_of(case(), run(NAMED, exit_code=3)) == "missed:escalation:refund"


def test_siblings_share_a_signature_and_a_case_without_tags_stands_for_itself() -> None:
    assert signature_of(case(id="other"), run(NAMED)) == signature_of(case(), run(NAMED))
    assert signature_of(case(tags=()), run(FAIL)) == "failed:contains:one"


def test_a_run_that_ran_out_of_time_is_a_timeout_whatever_its_checks_said() -> None:
    assert signature_of(case(), run(NAMED, ended="timed-out")) == "timeout:run:refund"


def test_an_exit_code_and_a_broken_tool_are_named() -> None:
    broken = (ToolCall(name="lookup"), ToolCall(name="refund", error="forbidden"))
    assert signature_of(case(), run(FAIL, exit_code=2)) == "exit:2:refund"
    known = case(checks=({"not-tool-called": "refund"},))
    assert signature_of(known, run(FAIL, exit_code=2, tool_calls=broken)) == "exit:refund:refund"
    assert signature_of(known, run(FAIL, tool_calls=broken)) == "failed:refund:refund"


def test_a_tool_that_only_the_agent_named_stands_there_as_a_digest() -> None:
    said = signature_of(case(), run(FAIL, tool_calls=(ToolCall(name="zebra", error="no"),)))
    assert "zebra" not in said
    assert said == signature_of(
        case(), run(FAIL, tool_calls=(ToolCall(name="zebra", error="other"),))
    )


def test_words_that_a_check_quotes_from_the_agent_stand_there_as_digests() -> None:
    quoting = FAIL.model_copy(update={"missed": "Got Zebra, no refund by max"})
    said = signature_of(case(), run(quoting, stdout="a ZEBRA for you", stderr="max"))
    assert said.startswith("missed:got-x")
    assert "-no-refund-by-x" in said + "-"
    assert not {"zebra", "max"} & set(said.replace(":", "-").split("-"))
    for place in ({"changed": ("zebras.txt",)}, {"tool_calls": (ToolCall(name="zebra"),)}):
        assert "zebra" not in signature_of(case(), run(quoting, **place))
    mine = case(**{"assert": ({"type": "contains", "value": "the zebra", "metric": "max"},)})
    kept = signature_of(mine, run(quoting, stdout="zebra max refund"))
    assert kept == "missed:got-zebra-no-refund-by-max:refund"


def test_an_observed_failure_is_published_in_the_users_own_words_only() -> None:
    seen = ObservedRun(
        session="s", at=AT, verdict=Outcome.FAIL, error="KeyError: zebra", check="refund",
        tool_calls=(ToolCall(name="zebra", error="no"),),
    )  # fmt: skip
    said = observed_signature(seen)
    assert said == "keyerror:zebra:refund"
    published = published_signature(said, own_words([case()]))
    assert "zebra" not in published
    assert published.endswith(":refund")


def test_a_run_that_no_check_failed_has_no_failure_to_name() -> None:
    assert signature_of(case(), run()) == "none:-:refund"


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_what_the_agent_wrote_never_enters_it(out: str, err: str, reason: str) -> None:
    quiet = run(NAMED)
    loud = run(NAMED.model_copy(update={"reason": reason}), stdout=out, stderr=err)
    assert signature_of(case(), loud) == signature_of(case(), quiet)


@given(st.text(min_size=1, max_size=99))
def test_it_has_three_short_plain_parts_whatever_the_check_is_called(name: str) -> None:
    parts = signature_of(case(), run(NAMED.model_copy(update={"missed": name}))).split(":")
    assert len(parts) == 3
    assert all(0 < len(part) <= LONGEST_PART for part in parts)
