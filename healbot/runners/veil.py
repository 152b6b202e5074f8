"""Values of variables, found in what an agent says, in every spelling that gives them away.

Knows texts and plain data; not where they come from.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

SHORTEST_SECRET = 4
"""A variable's value below so many characters is not looked for."""

_BITS = 6
_URLSAFE = {"+": "-", "/": "_"}
_BASE64 = "[A-Za-z0-9+/_-]"


class Veil:
    """Puts ``${NAME}`` where the value of a variable stands.

    That is as it is, with characters escaped as JSON and URLs do, backwards, in hexadecimal digits,
    or inside of base64 at any alignment.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        longest_first = sorted(secrets.items(), key=lambda one: (-len(one[1]), one[0]))
        kept = [one for one in longest_first if len(one[1]) >= SHORTEST_SECRET]
        self._values = {value: "${" + name + "}" for name, value in kept}
        self._forms = [
            (re.compile(form), mark)
            for value, mark in self._values.items()
            for form in _forms(value)
        ]

    def text(self, text: str) -> str:
        """Return a text without the values."""
        for form, mark in self._forms:
            text = form.sub(lambda _, mark=mark: mark, text)  # type: ignore[misc]
        return text

    def deep(self, value: Any) -> Any:
        """Return JSON data with no value in any of its texts, keys among them."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.deep(one) for one in value]
        if isinstance(value, dict):
            return {self.text(key): self.deep(one) for key, one in value.items()}
        return self._values.get(str(value), value)


def _forms(value: str) -> Iterator[str]:
    yield "".join(map(_spelled, value))
    yield "".join(map(_spelled, reversed(value)))
    data = value.encode("utf-8", "surrogatepass")
    yield f"(?i:{data.hex()})"
    for offset in range(3):
        first, last = -(-offset * 8 // _BITS), (offset + len(data)) * 8 // _BITS
        coded = base64.b64encode(bytes(offset) + data).decode()[first:last]
        before = f"{_BASE64}?" if offset else ""
        after = f"{_BASE64}?=*" if (offset + len(data)) % 3 else ""
        yield before + "".join(map(_coded, coded)) + after


def _spelled(letter: str) -> str:
    """Match a character as it is, or as JSON or a URL escapes it."""
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    json_form = "".join(rf"\\+u{units[at : at + 4]}" for at in range(0, len(units), 4))
    octets = letter.encode("utf-8", "surrogatepass").hex()
    url = "".join(f"%{octets[at : at + 2]}" for at in range(0, len(octets), 2))
    plain = re.escape(letter)
    if letter in '"\\/':
        plain = rf"\\*{plain}"
    return f"(?:{plain}|(?i:{json_form}|{url}){'|[+]' if letter == ' ' else ''})"


def _coded(letter: str) -> str:
    twin = _URLSAFE.get(letter)
    return f"(?:{_spelled(letter)}|{re.escape(twin)})" if twin else letter
