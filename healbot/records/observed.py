"""A run that was observed in use, as users hand it over: one JSON object a line.

Knows the shape only. ``session`` names a conversation; several lines of one session are its steps,
and it counts as one run. What is not known is left out, never guessed.
"""

import re
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from healbot.records.record import Record, digest_bytes, digest_of
from healbot.records.run import Outcome, ToolCall

UNKNOWN_REVISION = "unknown"
_KEY = re.compile(r"[0-9a-f]{64}")


class ObservedRun(Record):
    """One step of a session.

    Attributes:
        session: Names the conversation; any text.
        at: When it ended; without a zone it is read as UTC.
        revision: The harness's revision (64 hexadecimal digits) that was in force, or ``unknown``.
        cwd, branch, commit: Where the agent ran, as far as known; a revision is dated by them.
        verdict: ``pass``, ``fail``, or ``none`` where nobody judged.
        check, missed: Which check failed, and what it says was missed.
    """

    schema_version: Literal[1] = 1
    session: str = Field(min_length=1, max_length=400)
    at: datetime
    agent: str = ""
    revision: str = Field(UNKNOWN_REVISION, pattern=r"^([0-9a-f]{64}|unknown)$")
    cwd: str | None = None
    branch: str | None = None
    commit: str | None = None
    model: str | None = None
    input: str = ""
    output: str = ""
    error: str | None = None
    verdict: Outcome = Outcome.NONE
    check: str | None = None
    missed: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    tokens: int | None = Field(None, ge=0)
    usd: float | None = Field(None, ge=0)

    @field_validator("at")
    @classmethod
    def _in_utc(cls, at: datetime) -> datetime:
        try:
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        except OverflowError:
            raise ValueError("no calendar has this instant in UTC") from None

    @model_validator(mode="before")
    @classmethod
    def _whole_characters(cls, raw: Any) -> Any:
        """Replace half characters, which no file and no commit can hold."""
        return _whole(raw)

    @property
    def digest(self) -> str:
        """Names this step, whatever revision it is dated to, whichever agent it is filed under."""
        plain = self.model_dump(mode="json", exclude={"revision", "agent"})
        return digest_of(plain)


class Session(Record):
    """One session as the store keeps it: its steps, oldest first, already redacted.

    Attributes:
        key: The SHA-256 of its id, which names it wherever the id itself must not be read.
    """

    key: str
    steps: tuple[ObservedRun, ...] = Field(min_length=1)

    @property
    def last(self) -> ObservedRun:
        """The newest step, which a listing shows."""
        return self.steps[-1]

    @property
    def failed(self) -> ObservedRun | None:
        """The newest step that failed, or None."""
        return next((one for one in reversed(self.steps) if one.verdict == Outcome.FAIL), None)

    @property
    def verdict(self) -> Outcome:
        """Fail where a step failed; else pass where one passed; else none."""
        words = {one.verdict for one in self.steps}
        return next((one for one in (Outcome.FAIL, Outcome.PASS) if one in words), Outcome.NONE)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(one) for key, one in value.items()}
    return [_whole(one) for one in value] if isinstance(value, list) else value


def session_key(session: str) -> str:
    """Return what names a session in the store and on the state branch."""
    return digest_bytes(session.encode("utf-8", "surrogatepass"))


def is_session_key(text: str) -> bool:
    """Say whether a text is a session's key already: 64 hexadecimal digits."""
    return _KEY.fullmatch(text) is not None


def keyed(session: str) -> str:
    """Return a session's key, by its id or by the key, which stands for itself."""
    return session if is_session_key(session) else session_key(session)
