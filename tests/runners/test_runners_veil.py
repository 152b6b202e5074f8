"""Secrets in an answer: found in every spelling that gives them away."""

import base64
import json
from urllib.parse import quote

import pytest

from healbot.runners.capture import Capture
from healbot.runners.letters import understood
from healbot.runners.veil import Veil

SECRET = "s3cr/t+K?y 9é"
ESCAPED = "".join(f"\\u{ord(one):04x}" for one in SECRET)


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET,
        SECRET[::-1],
        ESCAPED,
        ESCAPED.upper().replace("U", "u"),
        json.dumps(SECRET)[1:-1],
        quote(SECRET),
        quote(SECRET, safe=""),
        SECRET.encode().hex(),
        *(base64.b64encode(b"x" * n + SECRET.encode()).decode() for n in range(3)),
        *(base64.urlsafe_b64encode(b"x" * n + SECRET.encode() + b"z").decode() for n in range(3)),
    ],
)
def test_a_value_is_found_however_it_is_spelled(spelled: str) -> None:
    said = Veil({"KEY": SECRET}).text(f"<{spelled}>")
    assert "${KEY}" in said
    assert len(said) < len("<${KEY}>") + 6


def test_short_values_from_four_characters_on_and_the_longest_first() -> None:
    veil = Veil({"A": "abcd", "B": "abcdef", "C": "xyz"})
    assert veil.text("abcd abcdef xyz") == "${A} ${B} xyz"


def test_no_text_of_an_answer_keeps_a_value_that_came_in_escapes() -> None:
    call = f'{{"name": "{ESCAPED}", "error": "{ESCAPED}", "args": {{"{ESCAPED}": ["{ESCAPED}"]}}}}'
    body = f'{{"output": "{ESCAPED}", "skills_read": ["{ESCAPED}"], "tool_calls": [{call}]}}'
    capture = Capture(10_000)
    capture.feed(body.encode())
    said = understood(capture, {"KEY": SECRET})
    assert said.output == "${KEY}"
    assert said.seen.skills_read == ("${KEY}",)
    assert SECRET not in str(said)
    assert said.seen.tool_calls
    assert said.seen.tool_calls[0].args == {"${KEY}": ["${KEY}"]}
