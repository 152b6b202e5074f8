"""A case: one task with its checks, in exactly one split. The shape users write.

Knows the shape only; finding files, near-duplicates and splits by hash are rules' work.
"""

from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, model_validator

from healbot.records.record import Record, digest_of

DAY_SECONDS = 86_400.0
"""The longest time limit that a check may have."""


class Split(StrEnum):
    """Who may see a case: editors see train, the gate sees heldout, only reports see test."""

    TRAIN = "train"
    HELDOUT = "heldout"
    TEST = "test"


class Standing(StrEnum):
    """What a case has earned."""

    PLAIN = "plain"
    PROTECTED = "protected"
    FIXED = "fixed"


class Assertion(Record):
    """One assertion in promptfoo's shape and words (``not-`` in front negates)."""

    type: str
    value: Any = None
    threshold: float | None = None
    metric: str | None = Field(None, description="A name for what is asserted; shown as `missed`.")
    provider: Any = None
    weight: float | None = None
    transform: str | None = None

    @property
    def label(self) -> str:
        """A short name for cards and signatures."""
        return self.metric or self.type


class HiddenTests(Record):
    """Files copied in after the agent ran, and a command that runs them there."""

    add: str = Field(description="A folder (from the case's file) whose files are copied in.")
    run: str
    protect: tuple[str, ...] = Field((), description="Globs; an edit to one fails the run.")
    timeout_seconds: float = Field(300, gt=0, le=DAY_SECONDS)


class ToolCalled(Record):
    """A call that the trajectory must hold."""

    name: str
    args: dict[str, Any] = Field(default_factory=dict)


class CheckSpec(Record):
    """One check beyond promptfoo's. Exactly one kind is set."""

    command: str | None = None
    tests: HiddenTests | None = None
    python: str | None = Field(None, description="module:function, called in a subprocess.")
    tool_called: ToolCalled | None = Field(None, alias="tool-called")
    not_tool_called: str | None = Field(None, alias="not-tool-called")
    name: str | None = Field(None, description="What a fail is called; editors may see it.")
    timeout_seconds: float = Field(60, gt=0, le=DAY_SECONDS)

    @property
    def kind(self) -> str:
        """The kind that is set, in the words users write."""
        kinds = {
            "command": self.command,
            "tests": self.tests,
            "python": self.python,
            "tool-called": self.tool_called,
            "not-tool-called": self.not_tool_called,
        }
        return next((word for word, value in kinds.items() if value is not None), "")

    @model_validator(mode="before")
    @classmethod
    def _short_tool(cls, value: object) -> object:
        if isinstance(value, dict) and isinstance(value.get("tool-called"), str):
            return {**value, "tool-called": {"name": value["tool-called"]}}
        return value

    @model_validator(mode="after")
    def _one_kind(self) -> "CheckSpec":
        kinds = (self.command, self.tests, self.python, self.tool_called, self.not_tool_called)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError(
                "set exactly one of command, tests, python, tool-called, not-tool-called"
            )
        return self


class Message(Record):
    """One turn of a conversation: words, or a goal for a simulated user."""

    user: str | None = None
    simulate: str | None = None

    @model_validator(mode="after")
    def _one_turn(self) -> "Message":
        if (self.user is None) == (self.simulate is None):
            raise ValueError("set exactly one of user, simulate")
        return self


class Case(Record):
    """One task with its checks.

    Attributes:
        origin: ``file:line`` where it was written, and ``folder`` the folder of that file from the
            repository's root: neither is part of its digest's meaning.
        way: Where an agent has several ways of running, which one this row of evidence is about;
            its ``id`` then ends in ``@way``, so that standing and repeat numbers are its own.
        sources: Where it was put together from several files, their paths from the root.
    """

    id: str = Field(
        min_length=1,
        max_length=120,
        pattern=r"^[^\s/\\\x00-\x1f`<>|]+$",
        description="A word of up to 120 characters, without white space and / \\ ` < > |.",
    )
    split: Split | None = None
    input: str | None = None
    messages: tuple[Message, ...] = ()
    tools: dict[str, Any] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    workspace: str | None = Field(None, description="A folder laid over the workspace.")
    asserts: tuple[Assertion, ...] = Field((), alias="assert")
    checks: tuple[CheckSpec, ...] = ()
    safety: bool = False
    tags: tuple[str, ...] = ()
    origin: str = Field("", exclude=True)
    folder: str = Field("", exclude=True)
    born: Literal["written", "failure"] = "written"
    way: str = Field("", exclude=True)
    sources: tuple[str, ...] = Field((), exclude=True)

    @model_validator(mode="after")
    def _has_input(self) -> "Case":
        if (self.input is None) == (not self.messages):
            raise ValueError("set exactly one of input, messages")
        return self

    @property
    def written_id(self) -> str:
        """The id as its file has it, whichever way of running this row is about."""
        return self.id.removesuffix(f"@{self.way}") if self.way else self.id

    def by(self, way: str) -> "Case":
        """Return this case as one way of running sees it."""
        row = self.model_copy(update={"id": f"{self.id}@{way}", "way": way})
        row.__dict__.pop("digest", None)  # a copy takes the remembered one along
        return row

    @cached_property
    def digest(self) -> str:
        """Names what is asked and how it is judged; split, standing and place do not count."""
        plain = self.model_dump(mode="json", by_alias=True, exclude={"split", "born", "tags"})
        return digest_of(plain)
