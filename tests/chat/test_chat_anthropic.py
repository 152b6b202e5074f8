"""Messages, both ways."""

from itertools import pairwise
from typing import Any

import pytest
import server
from drawn import answers, asks, flat
from hypothesis import given

from healbot.chat import anthropic
from healbot.chat.wire import body_of
from healbot.records.chat import Answer, Ask, Call, Message


@given(asks(failures=True))
def test_a_request_says_all_of_an_ask(ask: Ask) -> None:
    body, left_out = body_of(anthropic.WIRE, ask, model="m", refused=frozenset())
    assert flat(server.anthropic_ask(body)) == flat(ask.model_copy(update={"seed": None}))
    assert left_out == (() if ask.seed is None else ("seed",))
    roles = [one["role"] for one in body["messages"]]
    assert all(left != right for left, right in pairwise(roles))


@given(answers(written=True))
def test_an_answer_reads_as_it_was_written(answer: Answer) -> None:
    assert anthropic.parse(server.anthropic_body(answer)) == answer


def test_results_of_one_round_stand_in_one_turn() -> None:
    calls = (Call(id="a", name="f"), Call(id="b", name="f"))
    turns = (
        Message(role="user", text="go"),
        Message(role="assistant", calls=calls),
        Message(role="tool", answers="a", text="1"),
        Message(role="tool", answers="b", text="no", failed=True),
    )
    last = anthropic.render(Ask(messages=turns), "m")["messages"][-1]
    assert last["role"] == "user"
    assert [one["tool_use_id"] for one in last["content"]] == ["a", "b"]
    assert last["content"][1]["is_error"] is True


def test_a_turn_with_thinking_goes_back_word_for_word() -> None:
    blocks = [
        {"type": "thinking", "thinking": "", "signature": "sig"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
    ]
    answer = anthropic.parse({"content": blocks, "stop_reason": "tool_use"})
    assert (answer.text, answer.calls[0].args) == ("I look.", {"x": 1})
    result = Message(role="tool", answers="a", text="1")
    asked = Ask(messages=(Message(role="user", text="go"), answer.turn, result))
    assert anthropic.render(asked, "m")["messages"][1]["content"] == blocks


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refused"),
        ("pause_turn", "unknown"),
        ("tool_use", "unknown"),
        (None, "unknown"),
    ],
)
def test_the_reason_of_the_end_is_one_of_our_words(reason: Any, stop: str) -> None:
    assert anthropic.parse({"content": [], "stop_reason": reason}).stop == stop


def test_what_was_cached_counts_as_sent() -> None:
    usage = {
        "input_tokens": 5,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 3,
        "output_tokens": 2,
    }
    tokens = anthropic.parse({"content": [], "usage": usage}).tokens
    assert (tokens.sent, tokens.cached, tokens.cache_written, tokens.total) == (28, 20, 3, 30)
