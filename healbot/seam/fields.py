"""Reads one field of a decoded JSON object, or says what is wrong with it.

Knows no record. A field that is absent or null is missing: None, never a number.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime

from healbot.seam.faults import FieldError

Data = Mapping[str, object]
SHOWN = 40
TOKENS_MOST = 10**15
"""More than any run can spend; above it a ratio would say nothing."""


def shown(value: object) -> str:
    """Return a value as an error may quote it: short, on one line."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def mapping(value: object, field: str) -> Data:
    """Return a JSON object.

    Raises:
        FieldError: It is none.
    """
    if not isinstance(value, dict):
        raise FieldError(field, f"has to be a JSON object, is {shown(value)}")
    return value


def text(data: Data, key: str, *, prefix: str = "") -> str | None:
    """Return a text, or None where it is missing.

    Raises:
        FieldError: It is something else.
    """
    value = data.get(key)
    if value is None or type(value) is str:
        return value
    raise FieldError(prefix + key, f"has to be a text, is {shown(value)}")


def named(data: Data, key: str, *, prefix: str = "") -> str:
    """Return a text that has to be there.

    Raises:
        FieldError: It is missing, empty or something else.
    """
    value = data.get(key)
    if type(value) is str and value:
        return value
    if value is None:
        raise FieldError(prefix + key, "is missing")
    raise FieldError(prefix + key, f"has to be a text that is not empty, is {shown(value)}")


def whole(data: Data, key: str, *, most: int) -> int | None:
    """Return a whole number from 0 to ``most``, or None where it is missing.

    Raises:
        FieldError: It is something else.
    """
    value = data.get(key)
    if value is None or (type(value) is int and 0 <= value <= most):
        return value
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 <= value <= most:
        raise FieldError(key, f"has to be a whole number from 0 to {most}, is {shown(value)}")
    return value


def share(data: Data, key: str) -> float | None:
    """Return a number from 0 to 1, or None where it is missing.

    Raises:
        FieldError: It is NaN, infinite, out of range, or no number.
    """
    value = data.get(key)
    if value is None:
        return None
    if (type(value) is float or type(value) is int) and 0 <= value <= 1:
        return float(value)
    raise FieldError(key, f"has to be a number from 0 to 1, is {_number(value)}")


def truth(data: Data, key: str) -> bool | None:
    """Return true or false, or None where it is missing.

    Raises:
        FieldError: It is something else.
    """
    value = data.get(key)
    if value is None or type(value) is bool:
        return value
    raise FieldError(key, f"has to be true or false, is {shown(value)}")


def instant(value: object, field: str) -> tuple[datetime, bool]:
    """Return an ISO 8601 time in UTC, and whether it named its zone; without one it is UTC.

    Raises:
        FieldError: It is no such time.
    """
    if type(value) is not str:
        told = "is missing" if value is None else f"has to be an ISO 8601 time, is {shown(value)}"
        raise FieldError(field, told)
    try:
        read = datetime.fromisoformat(value)
        if read.tzinfo is UTC:
            return read, True
        if read.tzinfo is None:
            return read.replace(tzinfo=UTC), False
        return read.astimezone(UTC), True
    except (ValueError, OverflowError) as error:
        raise FieldError(field, f"has to be an ISO 8601 time, is {shown(value)}") from error


def _number(value: object) -> str:
    if type(value) is float and not math.isfinite(value):
        return "NaN, which is no number" if math.isnan(value) else "infinite"
    return shown(value)
