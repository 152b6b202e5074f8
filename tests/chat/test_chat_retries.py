"""When a server is asked again, and how long is waited: no real time passes here."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healbot.chat import retries

AT = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)


@given(
    st.lists(st.none() | st.floats(0, 1e6), max_size=12),
    st.floats(0, 2000),
    st.integers(),
)
def test_waits_stay_below_the_cap_each_and_the_deadline_together(
    asked: list[float | None], deadline: float, seed: int
) -> None:
    dice, waited, tries = random.Random(seed), 0.0, 0  # noqa: S311 - jitter, no secret
    for failures, hint in enumerate(asked, 1):
        wait = retries.wait_seconds(failures, hint, left_seconds=deadline - waited, dice=dice)
        if wait is None:
            break
        assert 0 <= wait <= retries.MOST_WAIT_SECONDS
        assert wait >= (hint or 0)
        waited += wait
        tries += 1
    assert tries < retries.MOST_TRIES
    assert waited < deadline or waited == 0


@given(st.integers(1, retries.MOST_TRIES - 1), st.integers())
def test_a_wait_that_nobody_asked_for_is_drawn_below_a_bound_that_doubles(
    failures: int, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311 - jitter, no secret
    wait = retries.wait_seconds(failures, None, left_seconds=1e9, dice=dice)
    assert wait is not None
    assert wait <= retries.FIRST_WAIT_SECONDS * 2 ** (failures - 1)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Tue, 01 Dec 2026 10:00:30 GMT"}, 30),
        ({"retry-after": "Tue, 01 Dec 2026 09:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "12ms"}, 0.012),
        ({"x-ratelimit-remaining-tokens": "7", "x-ratelimit-reset-tokens": "1h"}, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1x"}, None),
        ({"anthropic-ratelimit-input-tokens-remaining": "0",
          "anthropic-ratelimit-input-tokens-reset": "2026-12-01T10:00:20Z"}, 20),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s",
          "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "2s"}, 2),
    ],
)  # fmt: skip
def test_what_a_server_asks_for_is_read_in_every_form(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retries.asked_seconds(headers, AT) == seconds


@given(st.text(max_size=40))
def test_no_header_breaks_the_reading(text: str) -> None:
    pair = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": text}
    for headers in ({"retry-after": text}, {"retry-after-ms": text}, pair):
        seconds = retries.asked_seconds(headers, AT)
        assert seconds is None or seconds >= 0
