"""Keeping a key out of everything that is said: where it comes from, and where it may not go.

Knows one variable's name and value; no network.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from healbot.errors import InputError

SHORTEST = 6
"""A key below so many characters (a placeholder for a local server) is not looked for in texts."""
EXCERPT_CHARACTERS = 200
_KEY = re.compile(r"[\x21-\x7e]+")
_SPACES = re.compile(r"\s+")


class Secret:
    """A variable's value that can be sent and is never shown; ``where`` names it in the settings.

    Raises:
        InputError: The variable is not set, or holds what no key is; says its name only.
    """

    def __init__(self, name: str | None, environment: Mapping[str, str], where: str) -> None:
        self._name = name or ""
        self._value = environment.get(self._name, "").strip() if name else ""
        if name and not self._value:
            raise InputError(
                f"The variable {name}, which {where} names, is not set.",
                f"Set it: export {name}=…",
            )
        if self._value and not _KEY.fullmatch(self._value):
            raise InputError(
                f"The variable {name} holds a space or a character that can't be sent.",
                f"Set it again: export {name}=…",
            )

    def __repr__(self) -> str:
        return f"Secret({self._name!r})"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written down")

    @property
    def name(self) -> str:
        """The variable's name, or empty."""
        return self._name

    def reveal(self) -> str:
        """Return the value, for the one header that carries it; empty where there is none."""
        return self._value

    def without(self, value: Any) -> Any:
        """Return JSON data with the variable's name wherever its value stood."""
        if isinstance(value, str):
            return self._named(value)
        if isinstance(value, Mapping):
            return {self._named(key): self.without(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self.without(one) for one in value)
        return value

    def excerpt(self, text: str) -> str:
        """Return a server's words as one short printable line without the key."""
        line = _SPACES.sub(" ", self._named(text)).strip()
        plain = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
        if len(plain) <= EXCERPT_CHARACTERS:
            return plain
        return plain[: EXCERPT_CHARACTERS - 1] + "…"

    def _named(self, text: str) -> str:
        if len(self._value) >= SHORTEST:
            for form in (self._value, quote(self._value, safe="")):
                text = text.replace(form, "${" + self._name + "}")
        return text
