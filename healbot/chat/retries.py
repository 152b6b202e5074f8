"""When to ask a model's server again, and how long to wait before.

Knows statuses, headers and a seeded source of chance; no network, no clock. Full jitter: a wait is
drawn evenly between nothing and a bound that doubles (M. Brooker, "Exponential Backoff And Jitter",
AWS Architecture Blog, 2015). What the server asks for is the least wait.
"""

import random
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

MOST_TRIES = 5
"""How many requests of one question may fail before it is given up."""
FIRST_WAIT_SECONDS = 2.0
"""The bound of the first wait; each further bound is twice the one before."""
MOST_WAIT_SECONDS = 60.0
"""The longest single wait; a server that asks for a longer one is not waited for."""
SPENT = re.compile(
    r"insufficient_quota|insufficient_funds|credit_balance|billing|spend_limit|usage_limit",
    re.IGNORECASE,
)
"""Words in a 429's error code or type which say that money is spent: no wait helps (OpenAI's and
Anthropic's pages on errors)."""
_KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
_PAIRS = (
    *((f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}") for kind in _KINDS),
    *(
        (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset")
        for kind in _KINDS
    ),
)
"""Headers that say what is left of a limit, and when it is whole again."""
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def may_repeat(status: int, headers: Mapping[str, str], code: str) -> bool:
    """Say whether a request may be repeated; ``code`` is the error's code and type as given."""
    if headers.get("x-should-retry", "").lower() == "false":
        return False
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return not SPENT.search(code)
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR


def asked_seconds(headers: Mapping[str, str], at: datetime) -> float | None:
    """Return the wait that a server asks for; None where it asks for none.

    ``retry-after-ms``, else ``retry-after`` (seconds or a date), else when the limits that are used
    up are whole again, in OpenAI's form (``6m0s``) or Anthropic's (an instant).
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    after = headers.get("retry-after", "").strip()
    seconds = _number(after)
    if seconds is None and after:
        seconds = _until(after, at)
    if seconds is not None:
        return seconds
    resets = [
        _reset(headers[reset], at)
        for remaining, reset in _PAIRS
        if reset in headers and _number(headers.get(remaining, "")) == 0
    ]
    return max((one for one in resets if one is not None), default=None)


def wait_seconds(
    failures: int, asked: float | None, *, left_seconds: float, dice: random.Random
) -> float | None:
    """Return the wait before the next try; None: give up.

    Args:
        failures: How many tries have failed, from 1.
        asked: What the server asks for.
        left_seconds: What is left until the deadline; no wait reaches it.
        dice: Where the jitter comes from.
    """
    if failures >= MOST_TRIES or (asked is not None and asked > MOST_WAIT_SECONDS):
        return None
    if asked is None:
        bound = min(MOST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (failures - 1))
        wait = dice.uniform(0, bound)
    else:
        wait = min(MOST_WAIT_SECONDS, asked + dice.uniform(0, FIRST_WAIT_SECONDS))
    return wait if wait < left_seconds else None


def _number(text: str) -> float | None:
    """Return a number of at least 0, or None."""
    text = text.strip()
    return float(text) if re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,12})?", text) else None


def _reset(text: str, at: datetime) -> float | None:
    text = text.strip()
    number = _number(text)
    if number is not None:
        return number
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    return _until(text, at)


def _until(text: str, at: datetime) -> float | None:
    """Return the seconds until a date of a header or an instant; None where it is neither."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            instant = read(text)
            aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
            return max(0.0, (aware - at).total_seconds())
        except (ValueError, OverflowError, IndexError, TypeError):
            continue
    return None
