"""Which API stands behind which word of the settings: the one explicit table."""

from collections.abc import Mapping

from healbot.chat import anthropic, openai
from healbot.chat.http import HttpChat, Means
from healbot.chat.wire import Wire
from healbot.ports import Chat
from healbot.records.settings import ModelSettings

WIRES: Mapping[str, Wire] = {openai.API: openai.WIRE, anthropic.API: anthropic.WIRE}


def chat_of(settings: ModelSettings, means: Means, *, part: str) -> Chat:
    """Return the chat of one model; ``part`` is its place in the settings (``editor`` …).

    Raises:
        InputError: Its base URL can't be used, or a variable that it names is not set.
    """
    return HttpChat(settings, WIRES[settings.api], means=means, part=part)
