"""A chat that answers by script."""

import pytest

from healbot.chat.scripted import ScriptedChat
from healbot.errors import ModelSilentError, RefusedError
from healbot.ports import Chat
from healbot.records.chat import Answer, Ask, Message

ASK = Ask(messages=(Message(role="user", text="x"),))


def test_a_script_is_answered_in_order_and_ends_in_an_error() -> None:
    chat = ScriptedChat(["one", Answer(text="two", stop="length"), RefusedError("no")])
    assert (chat.ask(ASK).stop, chat.ask(ASK).stop) == ("end", "length")
    with pytest.raises(RefusedError):
        chat.ask(ASK)
    with pytest.raises(ModelSilentError, match="question 4"):
        chat.ask(ASK)
    assert chat.asked == [ASK] * 4


def test_a_function_answers_what_it_is_asked() -> None:
    chat: Chat = ScriptedChat(lambda ask: ask.messages[-1].text.upper())
    assert chat.ask(ASK).text == "X"


def test_another_name_is_another_digest() -> None:
    assert ScriptedChat([], "a").digest != ScriptedChat([], "b").digest
