"""What is said to a chat model and what it answers, in no vendor's words.

Knows no wire, key or price. What a server does not report is None, never zero.
"""

from typing import Any, Literal

from pydantic import Field, model_validator

from healbot.records.record import Record

TOOL_NAME = r"^[A-Za-z0-9_-]{1,64}$"
"""What both vendors take as a tool's name (their API references)."""
MOST_TEMPERATURE = 2.0
Role = Literal["system", "user", "assistant", "tool"]
Stop = Literal["end", "tools", "length", "refused", "filtered", "unknown"]
"""Why an answer ended: it was complete (or met a stop text), it calls tools, it was cut off (by the
limit of tokens or the model's window), the model refused, a filter of the server's took it or part
of it away, or the server did not say."""


class Call(Record):
    """A model's call of one tool.

    Attributes:
        id: The server's name of this call, which the result repeats; never empty.
        args: The arguments, an object; empty where ``broken`` holds what can't be read as one.
        broken: The arguments as they came, where they are no JSON object; say so to the model.
        native: What the vendor wants back with this call, unread.
    """

    id: str
    name: str
    args: dict[str, Any] = Field(default_factory=dict)
    broken: str = ""
    native: dict[str, Any] = Field(default_factory=dict)


class Message(Record):
    """One turn.

    Attributes:
        calls: Of an assistant's turn only.
        answers: Of a tool's turn: the id of the call whose result the text is.
        failed: Of a tool's turn: the text says why the call failed.
        native: What the vendor wants back with an assistant's turn, unread (its reasoning, signed);
            a chat of another API leaves it out.
    """

    role: Role
    text: str = ""
    calls: tuple[Call, ...] = ()
    answers: str = ""
    failed: bool = False
    native: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits_its_role(self) -> "Message":
        if (self.calls or self.native) and self.role != "assistant":
            raise ValueError("only an assistant's turn calls tools")
        if bool(self.answers) != (self.role == "tool"):
            raise ValueError("a tool's turn, and no other, names the call that it answers")
        if self.failed and self.role != "tool":
            raise ValueError("only a tool's turn can say that a call failed")
        return self


class ToolSpec(Record):
    """A tool that a model may call; ``parameters`` is the JSON schema of an object."""

    name: str = Field(pattern=TOOL_NAME)
    description: str = ""
    parameters: dict[str, Any] = Field(
        default_factory=lambda: {"type": "object", "properties": {}}, description="A JSON schema."
    )


class Ask(Record):
    """One question to a model.

    Attributes:
        messages: The conversation so far; a system turn may only stand first.
        max_tokens, temperature: None: what the settings say, else what the server does by itself.
        seed: Sent where the API has one; no vendor promises the same answer twice.
        stop: Texts at which the answer ends; they are not part of it.
    """

    messages: tuple[Message, ...] = Field(min_length=1)
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=MOST_TEMPERATURE)
    seed: int | None = None
    stop: tuple[str, ...] = Field((), max_length=4)

    @model_validator(mode="after")
    def _in_order(self) -> "Ask":
        roles = [message.role for message in self.messages]
        if "system" in roles[1:]:
            raise ValueError("a system turn may only stand first")
        if not {"user", "tool"}.intersection(roles):
            raise ValueError("no turn of a user's or a tool's asks for an answer")
        if not all(self.stop):
            raise ValueError("an empty stop text would end every answer")
        return self


class Tokens(Record):
    """Tokens as the server counted them; None where it did not say.

    Attributes:
        sent: All that went in, with what was read from or written to a cache.
        made: All that came out, with reasoning that is not shown.
        cached: The part of ``sent`` that was read from a cache, at a lower price as a rule.
        cache_written: The part of ``sent`` that was written to a cache, at a higher price.
    """

    sent: int | None = None
    made: int | None = None
    cached: int | None = None
    cache_written: int | None = None

    @property
    def total(self) -> int | None:
        """What went in and what came out; None where either is unknown."""
        return None if self.sent is None or self.made is None else self.sent + self.made


class Answer(Record):
    """What a model answered.

    Attributes:
        stop: Why it ended; a text that is ``length`` or ``filtered`` is no whole answer.
        refusal: The model's words, where it refused and gave them apart from the text.
        usd: What it cost; None where no price is known.
        model: The model as the server names it, empty where it does not.
        request_id: The server's name of this answer, for its support.
        left_out: Fields of the Ask that this server does not take, so they were not sent.
        tries: How many requests it took.
        native: See ``Message``.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: Stop
    refusal: str = ""
    tokens: Tokens = Tokens()
    usd: float | None = None
    model: str = ""
    request_id: str = ""
    left_out: tuple[str, ...] = ()
    tries: int = 1
    native: dict[str, Any] = Field(default_factory=dict)

    @property
    def turn(self) -> Message:
        """This answer as a turn of the conversation that goes on."""
        return Message(role="assistant", text=self.text, calls=self.calls, native=self.native)
