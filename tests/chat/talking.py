"""What tests of chats share: a chat to a server on this machine, and time that does not pass."""

from datetime import UTC, datetime, timedelta
from typing import Any

from server import KEY

from healbot.chat.http import Means
from healbot.chat.table import chat_of
from healbot.ports import Chat
from healbot.records.chat import Ask, Message
from healbot.records.settings import ModelSettings

HELLO = Ask(messages=(Message(role="user", text="Hello?"),))
BOTH = ("openai", "anthropic")


class Waits(list[float]):
    """The waits of a chat, and its clock: waiting moves it on and takes no time."""

    def now(self) -> datetime:
        return datetime(2026, 12, 1, 10, tzinfo=UTC) + timedelta(seconds=sum(self))

    def monotonic(self) -> float:
        return sum(self)

    def pause(self, seconds: float) -> None:
        self.append(seconds)


def chat_to(
    url: str, api: str = "openai", *, waits: Waits | None = None, key: str = KEY, **more: Any
) -> Chat:
    """Return a chat with a server, with a key in a variable."""
    waits = Waits() if waits is None else waits
    fields = {"name": "some-model", "key_env": "MODEL_KEY", "base_url": url, "api": api, **more}
    means = Means({"MODEL_KEY": key}, waits, waits.pause)
    return chat_of(ModelSettings.model_validate(fields), means, part="editor")
