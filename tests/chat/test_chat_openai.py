"""Chat completions, both ways, and what compatible servers do otherwise."""

from typing import Any

import pytest
import server
from drawn import answers, asks
from hypothesis import given

from healbot.chat import openai
from healbot.chat.wire import body_of
from healbot.records.chat import Answer, Ask, Message


def parsed(message: dict[str, Any], reason: object = "stop", **more: Any) -> Answer:
    return openai.parse({"choices": [{"message": message, "finish_reason": reason}], **more})


@given(asks(failures=False))
def test_a_request_says_all_of_an_ask(ask: Ask) -> None:
    body, left_out = body_of(openai.WIRE, ask, model="m", refused=frozenset())
    assert server.openai_ask(body) == ask
    assert left_out == ()


@given(answers(written=False))
def test_an_answer_reads_as_it_was_written(answer: Answer) -> None:
    assert openai.parse(server.openai_body(answer)) == answer


def test_a_call_without_content_or_id_and_with_arguments_as_an_object_is_a_call() -> None:
    call = {"function": {"name": "f", "arguments": {"a": 1}}}
    answer = parsed({"tool_calls": [call, call]})
    assert answer.stop == "tools"
    assert [(one.id, one.args) for one in answer.calls] == [
        ("call_1", {"a": 1}),
        ("call_2", {"a": 1}),
    ]


@pytest.mark.parametrize("bad", ["{oh", "[1]", "3", '{"a": NaN}'])
def test_arguments_that_are_no_object_are_kept_as_broken(bad: str) -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": bad}}
    answer = parsed({"tool_calls": [call]}, "length")
    assert (answer.calls[0].broken, answer.calls[0].args, answer.stop) == (bad, {}, "length")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", "end"),
        ("length", "length"),
        ("content_filter", "filtered"),
        ("tool_calls", "unknown"),
        (None, "unknown"),
        ("eos_token", "unknown"),
        (7, "unknown"),
    ],
)
def test_the_reason_of_the_end_is_one_of_our_words(reason: object, stop: str) -> None:
    assert parsed({"content": "x"}, reason).stop == stop


def test_a_refusal_is_said_with_the_models_words() -> None:
    answer = parsed({"content": None, "refusal": "I can't help with that."})
    assert (answer.stop, answer.refusal, answer.text) == ("refused", "I can't help with that.", "")


def test_content_may_be_a_list_of_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    assert parsed({"content": parts}).text == "ab"


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": -1}, {"prompt_tokens": True}])
def test_counts_that_are_none_are_unknown(usage: object) -> None:
    assert parsed({"content": ""}, usage=usage).tokens.sent is None


def test_reasoning_goes_back_with_a_turn_that_calls_tools_only() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"s": "sig"}}
    thought = {"content": "", "reasoning_content": "hm"}
    acted = parsed({**thought, "tool_calls": [call]}).turn
    said = parsed(thought).turn
    user = Message(role="user", text="x")
    body = openai.render(Ask(messages=(user, acted, user, said)), "m")
    assert body["messages"][1]["reasoning_content"] == "hm"
    assert body["messages"][1]["tool_calls"][0]["extra_content"] == {"s": "sig"}
    assert "reasoning_content" not in body["messages"][3]


def test_openais_own_host_is_given_the_new_name_of_the_limit() -> None:
    refused = openai.WIRE.refused["api.openai.com"]
    ask = Ask(messages=(Message(role="user", text="x"),), max_tokens=5)
    body, _ = body_of(openai.WIRE, ask, model="m", refused=refused)
    assert (body["max_completion_tokens"], "max_tokens" in body) == (5, False)
