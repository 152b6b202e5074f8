"""A chat whose every question is set aside beforehand and paid for afterwards.

Knows how much a question may take at most; who owns the money is behind ``Till``.
"""

from collections.abc import Callable
from typing import Protocol

from healbot.errors import BudgetError, HealbotError, ModelSilentError
from healbot.ports import Chat
from healbot.records.chat import Answer, Ask

CHARACTERS_PER_TOKEN = 2.0
"""Few, so that a guess is an upper bound for nearly every text (English has about four)."""
TURN_TOKENS = 20
"""What a turn and its role take besides their text."""
ANSWER_TOKENS = 4_000
"""Of an answer, where the question sets no limit."""


class Till(Protocol):
    """Who owns the money."""

    def hold(self, tokens: int) -> None:
        """Set tokens aside.

        Raises:
            BudgetError: They do not fit.
        """

    def pay(self, held: int, tokens: int, usd: float | None) -> None:
        """Count what was spent of what was held; ``usd`` None: no price is known."""


class MeteredChat:
    """``Chat`` that spends nothing unless it fits.

    Args:
        most: Tokens that this chat may spend altogether.
        beat: Called before each question: keeps a lease alive.
    """

    def __init__(
        self, chat: Chat, till: Till, *, most: int, beat: Callable[[], None] = lambda: None
    ) -> None:
        self._chat = chat
        self._beat = beat
        self._till = till
        self._left = most

    @property
    def digest(self) -> str:
        """That of the chat behind it."""
        return self._chat.digest

    def ask(self, ask: Ask) -> Answer:
        """See ``Chat.ask``.

        Raises:
            BudgetError: It does not fit; nothing was sent.
        """
        self._beat()
        most = most_tokens(ask)
        if most > self._left:
            raise BudgetError(
                f"Of its tokens {max(self._left, 0):,} are left, and the next question may take "
                f"{most:,}.",
                "Raise editing.tokens in the settings.",
            )
        self._till.hold(most)
        try:
            answer = self._chat.ask(ask)
        except ModelSilentError:
            self._pay(most, most, None)  # it may have been made, and not have reached us
            raise
        except HealbotError:
            self._pay(most, 0, 0.0)
            raise
        except BaseException:
            self._pay(most, most, None)
            raise
        self._pay(most, spent_tokens(ask, answer), answer.usd)
        return answer

    def _pay(self, held: int, tokens: int, usd: float | None) -> None:
        self._left -= tokens
        self._till.pay(held, tokens, usd)


def most_tokens(ask: Ask) -> int:
    """Return an upper bound of the tokens of a question with its answer."""
    return _sent(ask) + (ask.max_tokens or ANSWER_TOKENS)


def spent_tokens(ask: Ask, answer: Answer) -> int:
    """Return what an answer took; where the server does not say, the bound."""
    total = answer.tokens.total
    return most_tokens(ask) if total is None else total


def _sent(ask: Ask) -> int:
    turns = sum(len(one.model_dump_json()) for one in ask.messages)
    tools = sum(len(one.model_dump_json()) for one in ask.tools)
    return int((turns + tools) / CHARACTERS_PER_TOKEN) + TURN_TOKENS * len(ask.messages)
