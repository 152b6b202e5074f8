"""Nothing is asked that does not fit, and all that was asked is counted."""

import pytest
from talking import HELLO

from healbot.chat.metered import MeteredChat, most_tokens
from healbot.chat.scripted import Line, ScriptedChat
from healbot.errors import BudgetError, ModelRefusedError, ModelSilentError
from healbot.records.chat import Answer, Tokens

ASK = HELLO.model_copy(update={"max_tokens": 100})
MOST = most_tokens(ASK)
TOLD = Answer(text="x", stop="end", tokens=Tokens(sent=7, made=3), usd=0.5)


class FakeTill:
    """``Till`` with so many tokens in it."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.held = 0
        self.paid: list[tuple[int, float | None]] = []

    def hold(self, tokens: int) -> None:
        if tokens > self.room:
            raise BudgetError("no room")
        self.held += tokens

    def pay(self, held: int, tokens: int, usd: float | None) -> None:
        self.held -= held
        self.paid.append((tokens, usd))


def asked(line: Line, *, room: int = 10**6, most: int = 10**6) -> tuple[FakeTill, ScriptedChat]:
    till, chat = FakeTill(room), ScriptedChat([line])
    metered = MeteredChat(chat, till, most=most)
    try:
        metered.ask(ASK)
    finally:
        assert till.held == 0
    return till, chat


def test_what_the_server_counted_is_paid_and_an_unknown_count_is_the_bound() -> None:
    assert asked(TOLD)[0].paid == [(10, 0.5)]
    assert asked("a text")[0].paid == [(MOST, None)]


@pytest.mark.parametrize("limits", [{"room": MOST - 1}, {"most": MOST - 1}])
def test_what_does_not_fit_is_not_asked(limits: dict[str, int]) -> None:
    till, chat = FakeTill(limits.get("room", MOST)), ScriptedChat([TOLD])
    with pytest.raises(BudgetError):
        MeteredChat(chat, till, most=limits.get("most", MOST)).ask(ASK)
    assert (chat.asked, till.paid) == ([], [])


def test_an_answer_that_never_came_is_counted_and_a_request_that_was_refused_is_not() -> None:
    for error, paid in ((ModelSilentError("x"), MOST), (ModelRefusedError("x"), 0)):
        till = FakeTill(10**6)
        with pytest.raises(type(error)):
            MeteredChat(ScriptedChat([error]), till, most=MOST).ask(ASK)
        assert till.paid[0][0] == paid
        assert till.held == 0


def test_the_chats_own_limit_counts_all_its_questions_and_the_lease_is_kept_alive() -> None:
    beats: list[int] = []
    chat = MeteredChat(
        ScriptedChat([TOLD] * 9), FakeTill(10**6), most=MOST + 15, beat=lambda: beats.append(1)
    )
    chat.ask(ASK)
    chat.ask(ASK)
    with pytest.raises(BudgetError, match="are left"):
        chat.ask(ASK)
    assert len(beats) == 3
