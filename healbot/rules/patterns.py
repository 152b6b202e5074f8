"""Regular expressions as promptfoo (JavaScript) reads them, matched within a time limit.

Knows text only. A pattern that is invalid, too long or runs away can't score; that is never "no
match".
"""

import string
import warnings

PATTERN_SECONDS = 1.0
"""How long one pattern may search one text."""

PATTERN_CHARACTERS = 10_000
"""The longest pattern that is compiled."""

JS_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript calls white space (``\\s`` and ``trim``)."""

_SPACE_ESCAPES = "".join(f"\\u{ord(char):04x}" for char in JS_SPACE)
_MEANT_LETTERS = frozenset("bBdDwWnrtfvxuk")
_LETTERS = frozenset(string.ascii_letters)


class Unscorable(Exception):  # noqa: N818 - the third outcome, no error of a user's or of ours
    """A judgement that can't be made; its text is the reason, one sentence."""


def found(pattern: str, text: str, *, seconds: float = PATTERN_SECONDS) -> bool:
    """Say whether a JavaScript pattern (no flags) matches anywhere in a text.

    Raises:
        Unscorable: The pattern is invalid or too long, or did not come to an end in time.
    """
    import regex  # noqa: PLC0415 - heavy, and the hooks start without it

    source = checked(pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return regex.search(source, text, regex.A, timeout=seconds, concurrent=True) is not None
    except TimeoutError as error:
        raise Unscorable(
            f"the regex {shortened(pattern)} did not come to an end within {seconds:g} s"
        ) from error


def checked(pattern: str) -> str:
    """Return a pattern in the words of the ``regex`` module, once it is known to compile.

    Raises:
        Unscorable: It is too long, or no valid pattern.
    """
    import regex  # noqa: PLC0415 - heavy, and the hooks start without it

    if len(pattern) > PATTERN_CHARACTERS:
        raise Unscorable(f"the regex is longer than {PATTERN_CHARACTERS} characters")
    source = translated(pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            regex.compile(source, regex.A)
    except (regex.error, RecursionError, OverflowError, ValueError) as error:
        raise Unscorable(f"the regex {shortened(pattern)} is invalid ({error})") from error
    return source


def translated(pattern: str) -> str:
    r"""Rewrite what JavaScript and the ``regex`` module read differently.

    A brace that is no quantifier is a plain brace (the module would read ``x{e}`` as fuzzy),
    ``\k<name>`` refers back, ``[^]`` is any character, ``\s`` knows Unicode's spaces, and a
    backslash before a letter without a meaning is that letter. Python's inline flags are kept:
    JavaScript refuses them, so nothing that works there changes. ``\p{L}`` is refused, since
    without its flag ``u`` JavaScript takes it for the letters that stand there.
    """
    parts: list[str] = []
    at, in_class = 0, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            text, at = _escape(pattern, at, in_class)
            parts.append(text)
            continue
        if in_class:
            parts.append("\\[" if char == "[" else char)
            in_class = char != "]"
        elif char == "[":
            text, at, in_class = _class_start(pattern, at)
            parts.append(text)
            continue
        elif char == "{" and not _is_quantifier(pattern, at):
            parts.append("\\{")
        else:
            parts.append(char)
        at += 1
    return "".join(parts)


def _class_start(pattern: str, at: int) -> tuple[str, int, bool]:
    """Return what opens a set, where reading goes on, and whether the set is still open."""
    if pattern.startswith("[^]", at):
        return r"[\s\S]", at + 3, False
    if pattern.startswith("[]", at):
        return r"(?!)", at + 2, False
    return ("[^", at + 2, True) if pattern.startswith("[^", at) else ("[", at + 1, True)


def _escape(pattern: str, at: int, in_class: bool) -> tuple[str, int]:
    """Return a backslash and what belongs to it, translated, and where reading goes on."""
    char = pattern[at + 1]
    end = at + 2
    if char in "sS" and not in_class:
        return f"[{'^' if char == 'S' else ''}{_SPACE_ESCAPES}]", end
    if char == "s":
        return _SPACE_ESCAPES, end
    if char == "k" and pattern.startswith("<", end) and (close := pattern.find(">", end)) > 0:
        return f"(?P={pattern[end + 1 : close]})", close + 1
    if char in "pP" and pattern.startswith("{", end):
        raise Unscorable(f"the regex uses \\{char}{{…}}, which JavaScript reads as plain letters")
    if char in _LETTERS and char not in _MEANT_LETTERS and char != "S":
        return char, end
    return pattern[at:end], end


def _is_quantifier(pattern: str, at: int) -> bool:
    """Say whether a brace opens ``{n}``, ``{n,}`` or ``{n,m}``."""
    close = pattern.find("}", at)
    low, comma, high = pattern[at + 1 : max(close, at)].partition(",")
    numbers = (low, high) if comma and high else (low,)
    return close > 0 and all(text.isascii() and text.isdigit() for text in numbers)


def shortened(text: str, limit: int = 80) -> str:
    """Quote a text on one line, cut at a limit, for a reason that people read."""
    line = " ".join(text.split())
    return repr(line if len(line) <= limit else line[: limit - 1] + "…")
