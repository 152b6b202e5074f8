"""Questions and answers hold together, and closed records refuse what can't be."""

from typing import Any

import pytest
from pydantic import ValidationError

from healbot.records.chat import Answer, Ask, Call, Message, Tokens, ToolSpec

USER = {"role": "user", "text": "x"}
SYSTEM = {"role": "system", "text": "s"}


@pytest.mark.parametrize(
    ("turns", "why"),
    [
        ([], "at least 1"),
        ([SYSTEM], "asks for an answer"),
        ([{"role": "assistant"}], "asks for an answer"),
        ([USER, SYSTEM], "only stand first"),
        ([{**USER, "answers": "a"}], "names the call"),
        ([{"role": "tool", "text": "x"}], "names the call"),
        ([{**USER, "failed": True}], "only a tool's turn"),
        ([{**USER, "calls": [{"id": "a", "name": "f"}]}], "only an assistant's"),
    ],
)
def test_a_conversation_that_can_not_be_is_refused(turns: list[Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Ask.model_validate({"messages": turns})


def test_an_empty_stop_text_and_a_strange_tool_name_are_refused() -> None:
    with pytest.raises(ValidationError, match="end every answer"):
        Ask.model_validate({"messages": [USER], "stop": [""]})
    with pytest.raises(ValidationError):
        ToolSpec(name="read file")


def test_an_answer_is_the_next_turn_with_all_that_the_vendor_wants_back() -> None:
    answer = Answer(text="a", calls=(Call(id="c", name="f"),), stop="tools", native={"x": [1]})
    assert answer.turn == Message(role="assistant", text="a", calls=answer.calls, native={"x": [1]})


def test_a_total_of_unknown_counts_is_unknown() -> None:
    assert (Tokens(sent=1, made=2).total, Tokens(sent=1).total, Tokens().total) == (3, None, None)
