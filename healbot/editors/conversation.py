"""One talk with an editor's model: question, calls, results, until it ends or is given up.

Knows a chat and a desk. One misstep is forgiven, with the reason told; limits hold whatever the
model does.
"""

from collections import Counter

from healbot.editors.desk import Desk, Result
from healbot.editors.tools import Offer, specs
from healbot.errors import GaveUpError
from healbot.ports import Chat
from healbot.records.chat import Answer, Ask, Call, Message
from healbot.records.edit import Edit
from healbot.records.record import canonical
from healbot.records.settings import EditingSettings

SAME_CALL = 3
"""So many times the same call is going round in circles."""
WORDLESS = "(no usable answer)"
_UNUSABLE = {
    "refused": "it refused to answer",
    "filtered": "a filter took its answer away",
    "length": "its answer was cut off",
}


class Conversation:
    """A talk under way."""

    def __init__(
        self, chat: Chat, system: str, first: str, *, desk: Desk, limits: EditingSettings
    ) -> None:
        self._chat = chat
        self._desk = desk
        self._limits = limits
        self._turns = [
            Message(role="system", text=system),
            Message(role="user", text=first),
        ]
        self._missteps = 0
        self._seen: Counter[str] = Counter()

    def run(self) -> tuple[Edit, Offer] | None:
        """Return what the model proposes; None where it says that no edit would help.

        Raises:
            GaveUpError: It made too many missteps or questions; says which, in healbot's words.
            BudgetError: There is no room for the next question.
        """
        for _ in range(self._limits.steps):
            answer = self._ask()
            wrong = _wrong(answer)
            if wrong:
                self._forgive(wrong)
                self._turns.append(Message(role="assistant", text=answer.text or WORDLESS))
                self._turns.append(Message(role="user", text=_once_more(wrong)))
                continue
            result = self._perform(answer)
            if result:
                return result.offer
        raise GaveUpError(f"it had not ended after {self._limits.steps} questions")

    def _ask(self) -> Answer:
        ask = Ask(messages=tuple(self._turns), tools=specs(), max_tokens=self._limits.answer_tokens)
        return self._chat.ask(ask)

    def _perform(self, answer: Answer) -> Result | None:
        """Carry out an answer's calls in order; returns the result that ends the talk, if any."""
        self._turns.append(answer.turn)
        for call in answer.calls:
            result = self._result(call)
            if result.done:
                return result
            if result.misstep:
                self._forgive(result.misstep)
                self._seen.clear()
            self._turns.append(
                Message(role="tool", text=result.text, answers=call.id, failed=result.failed)
            )
        return None

    def _result(self, call: Call) -> Result:
        name = canonical([call.name, call.args, call.broken])
        self._seen[name] += 1
        if self._seen[name] < SAME_CALL:
            return self._desk.perform(call)
        return Result(
            f"You made this very call {SAME_CALL} times. Do something else, or end.",
            failed=True,
            misstep="it made the same call again and again",
        )

    def _forgive(self, misstep: str) -> None:
        self._missteps += 1
        if self._missteps > self._limits.retries:
            raise GaveUpError(misstep)


def _wrong(answer: Answer) -> str:
    """Say why an answer can't be gone on with, or nothing."""
    if answer.stop in _UNUSABLE:
        return _UNUSABLE[answer.stop]
    return "" if answer.calls else "it answered without a tool call"


def _once_more(wrong: str) -> str:
    return (
        f"That answer can't be used ({wrong}). Call the tools edit and propose, or decline. There "
        "is no further chance."
    )
