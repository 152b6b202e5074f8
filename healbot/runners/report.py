"""The run report that an agent may leave behind: JSON in the file that HEALBOT_RUN_REPORT names.

Knows its shape and trusts none of it. What is missing or unusable is unknown (None) with a reason,
never zero; nothing here raises for what the file holds.
"""

import json
import math
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from healbot.records.run import ToolCall, Usage

MAX_BYTES = 4_000_000
MAX_TOKENS = 10**12
MAX_USD = 1e9
MAX_ENTRIES = 10_000
MAX_NAME = 500
MAX_DEPTH = 60
"""How deep a tool call's arguments may nest; well under what JSON writers can take back out."""

T = TypeVar("T")


class Report(NamedTuple):
    """What a runner reported; None is "not reported".

    Attributes:
        notes: One sentence for each thing that was there but can't be used.
    """

    usage: Usage = Usage()
    tool_calls: tuple[ToolCall, ...] | None = None
    skills_read: tuple[str, ...] | None = None
    rules_read: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


class _UnusableError(ValueError):
    """A field can't be used; the text says why."""


def _content(path: Path) -> bytes | None:
    """Read a plain file, waiting for nobody; None where there is no file at all."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _UnusableError(f"it can't be opened ({error.strerror})") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _UnusableError("it is no plain file")
    with os.fdopen(fd, "rb") as file:
        try:
            data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise _UnusableError(f"it can't be read ({error.strerror})") from None
    if len(data) > MAX_BYTES:
        raise _UnusableError(f"it is larger than {MAX_BYTES} bytes")
    return data


def _fields(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise _UnusableError("it is no JSON") from None
    if not isinstance(value, dict):
        raise _UnusableError("it is no JSON object")
    return value


def _tokens(value: Any) -> int:
    number = _number(value)
    if number != int(number) or not 0 <= number <= MAX_TOKENS:
        raise _UnusableError(f"must be a whole number from 0 to {MAX_TOKENS}")
    return int(number)


def _usd(value: Any) -> float:
    number = _number(value)
    if not 0 <= number <= MAX_USD:
        raise _UnusableError(f"must be from 0 to {MAX_USD:.0f}")
    return float(number)


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _UnusableError("must be a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise _UnusableError("must be a finite number")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value or len(value) > MAX_NAME:
        raise _UnusableError(f"must hold texts of 1 to {MAX_NAME} characters")
    return value.encode("utf-8", "replace").decode()


def _plain(value: Any, depth: int = 0) -> Any:
    """Return JSON data that can be written again: no NaN, no half characters, not too deep."""
    if depth > MAX_DEPTH:
        raise _UnusableError("is nested too deep")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        raise _UnusableError("must hold finite numbers only")
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_plain(key): _plain(item, depth + 1) for key, item in value.items()}
    return value


def _entries(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > MAX_ENTRIES:
        raise _UnusableError(f"must be a list of at most {MAX_ENTRIES}")
    return value


def _names(value: Any) -> tuple[str, ...]:
    return tuple(_text(item) for item in _entries(value))


def _calls(value: Any) -> tuple[ToolCall, ...]:
    return tuple(_call(item) for item in _entries(value))


def _call(value: Any) -> ToolCall:
    if not isinstance(value, dict):
        raise _UnusableError("must hold objects with a name")
    error = value.get("error")
    return ToolCall(
        name=_text(value.get("name")),
        args=_plain(value.get("args")),
        error=None if error is None else str(_plain(error)),
    )


class _Reader:
    """Takes fields one by one and notes what can't be used."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields
        self.notes: list[str] = []

    def take(self, name: str, parse: Callable[[Any], T]) -> T | None:
        """Return a field, or None where it is absent, null or unusable."""
        value = self._fields.get(name)
        if value is None:
            return None
        try:
            return parse(value)
        except _UnusableError as error:
            self.notes.append(f"run report: {name} {error}; it counts as not reported")
            return None


def read(path: Path) -> Report:
    """Read a run report; a file that is not there is an empty report without a note.

    Shape: ``{"tokens": int, "usd": number, "tool_calls": [{"name", "args", "error"}],
    "skills_read": [name], "rules_read": [name]}``, each field optional, others passed over.
    """
    try:
        data = _content(path)
        fields = _fields(data) if data is not None else {}
    except _UnusableError as error:
        return Report(notes=(f"run report: {error}; nothing of it counts",))
    return of(fields)


def of(fields: dict[str, Any]) -> Report:
    """Return the report that a JSON object is; see ``read``."""
    reader = _Reader(fields)
    usage = Usage(tokens=reader.take("tokens", _tokens), usd=reader.take("usd", _usd))
    return Report(
        usage=usage,
        tool_calls=reader.take("tool_calls", _calls),
        skills_read=reader.take("skills_read", _names),
        rules_read=reader.take("rules_read", _names),
        notes=tuple(reader.notes),
    )
