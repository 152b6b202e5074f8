"""Model and foreign text made harmless, for GitHub Markdown and for anything that shows text.

Knows nothing of cards. GitHub makes links of mentions, references and commit ids *after* it has
rendered Markdown, so neither backslashes nor entities stop them; code spans do. So a word stays
prose only if it is made of characters that nothing on GitHub acts on; every other word becomes a
code span. Nothing invisible is added, and invisible characters are taken out.
"""

import re

CUT = "…"

_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # OSC and the other strings
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROL = r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
_INVISIBLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[{_CONTROL}{_INVISIBLE}]")
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"  # part of emoji and of some scripts, after such a letter
_SURROGATE = re.compile("[\ud800-\udfff]")
_ODD_BREAK = re.compile("[\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")
_MARK = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_STACKED = re.compile(f"([{_MARK}]{{3}})[{_MARK}]+")

_WORD = re.compile(r"""^(["'(]*)(.*?)(["'),.;:!?…]*)$""", re.DOTALL)
_ACTIVE = re.compile(
    r"""[#-&*/<=>@\[-`{-~]"""  # ASCII that Markdown or GitHub acts on
    r"|[.:]"  # inside a word: hosts, files, short codes (numbers are let through below)
    r"|(?<![0-9A-Za-z])[0-9a-fA-F]{7,}(?![0-9A-Za-z])"  # commit ids
    r"|[A-Za-z]-[0-9]"  # GH-12, and the autolinks that a repository defines
)
_NUMBER = re.compile(r"[0-9]{1,6}(?:[.,:][0-9]{1,6})*%?")
_LIST_MARK = re.compile(r"[-+]+|[0-9]+[.)]+")
_TICKS = re.compile("`+")


def cleaned(text: str) -> str:
    """Take out terminal escapes, control, bidirectional and invisible characters.

    Line breaks and tabs stay. Lone surrogates become U+FFFD; marks piled on one letter are cut to
    three.
    """
    bare = _HIDDEN.sub("", _ANSI.sub("", text))
    return _STACKED.sub(r"\1", _SURROGATE.sub("\ufffd", bare))


def one_line(text: str, limit: int) -> str:
    """Return cleaned text on one line, at most ``limit`` characters, a cut shown by an ellipsis."""
    line = " ".join(cleaned(text).split())
    return line if len(line) <= limit else line[: max(limit - 1, 0)].rstrip() + CUT


def plain(text: str, limit: int) -> str:
    """Return foreign text as one line of GitHub Markdown in which nothing is active.

    No link, image, HTML, mention, reference, short code, formula or block can come of it, wherever
    in a line it stands. ``limit`` counts the characters that a reader sees.
    """
    words = one_line(text, limit).split(" ")
    return " ".join(_worded(word, first=index == 0) for index, word in enumerate(words))


def code(text: str, limit: int) -> str:
    """Return foreign text (an id, a path) as one code span; ``(none)`` where nothing is left."""
    line = one_line(text, limit)
    return _span(line) if line else "(none)"


def cell(markdown: str) -> str:
    """Make a rendered fragment fit for a table's cell, where even a code span ends at a bar."""
    return markdown.replace("|", "¦")


def plain_lines(text: str, limit: int) -> list[str]:
    """Return the lines of a foreign text, each cut to ``limit``, with what is hidden made visible.

    A reviewer must see a zero-width or bidirectional character in a change, so it is not dropped
    but named: ``⟨U+200B⟩``. A carriage return inside a line shows as ``␍``.
    """
    whole = _ODD_BREAK.sub(_named, _HIDDEN.sub(_named, text.replace("\r\n", "\n")))
    whole = _SURROGATE.sub("\ufffd", whole).replace("\r", "␍")
    return [line if len(line) <= limit else line[:limit] + CUT for line in whole.split("\n")]


def plain_block(text: str, limit: int, language: str = "") -> str:
    """Return a foreign text of many lines as a fenced code block that it can't break out of."""
    body = "\n".join(plain_lines(text, limit))
    fence = "`" * max(3, _longest(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def _named(match: re.Match[str]) -> str:
    char, before = match[0], match.string[max(match.start() - 1, 0) : match.start()]
    joins = char in _JOINERS and before > "\x7f" and not _HIDDEN.match(before)
    return char if joins else f"⟨U+{ord(char):04X}⟩"


def _longest(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def _span(line: str) -> str:
    if "`" not in line:
        return f"`{line}`"
    ticks = "`" * (_longest(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def _worded(word: str, *, first: bool) -> str:
    if first and _LIST_MARK.fullmatch(word):
        return _span(word)
    match = _WORD.match(word)
    lead, inner, tail = match.groups() if match else ("", word, "")
    if not inner or _NUMBER.fullmatch(inner) or not _ACTIVE.search(inner):
        return word
    return f"{lead}{_span(inner)}{tail}"
