"""healbot's own additions: one bullet line each, with an id that makes them idempotent, removable.

Knows where in a Markdown text a rule can stand; what the rule says is its caller's.
"""

import re
from collections.abc import Iterator, Sequence

from healbot.errors import EditError
from healbot.records.edit import Edit, Hunk
from healbot.records.harness import Harness
from healbot.records.record import digest_bytes
from healbot.rules.differences import lines_of
from healbot.rules.edits import apply, hunks_between, line_break
from healbot.rules.frontmatter import parse
from healbot.rules.protect import disturbed
from healbot.rules.structure import Block, blocks_of, in_comment

ID_CHARACTERS = 8
PLACES_TRIED = 50
"""How many places from the end upwards are tried before giving up."""

_ID = re.compile(rf"<!-- healbot:([0-9a-f]{{{ID_CHARACTERS}}}) -->")
_BULLET = re.compile(r"( {0,3})([-*+])[ \t]+\S")
_LEADING_MARK = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+")


def id_of(key: str) -> str:
    """Return the id of an addition by what names it, for instance a lesson's scope and key."""
    return digest_bytes(key.encode("utf-8", "surrogatepass"))[:ID_CHARACTERS]


def mark(addition_id: str) -> str:
    """Return the comment that carries an id."""
    return f"<!-- healbot:{addition_id} -->"


def ids_in(text: str) -> tuple[str, ...]:
    """Return the ids of all additions in a text, in order."""
    return tuple(_ID.findall(text))


def path_of(harness: Harness, addition_id: str) -> str | None:
    """Return the file that holds an addition already, or None."""
    return next((file.path for file in harness.files if addition_id in ids_in(file.text)), None)


def to_add(
    harness: Harness, path: str, rule: str, *, addition_id: str, protect: Sequence[str] = ()
) -> Hunk:
    """Return the hunk that adds a rule as one bullet, as late in the file as it can stand.

    It joins a list at the end in that list's style, or follows a blank line; it never stands in
    front matter, a fence, a comment, a nested list or a protected block.

    Raises:
        EditError: The file is not in the harness, holds the id already, or has no place for it.
    """
    file = harness.get(path)
    if file is None:
        raise EditError(f"{path} is not one of the harness's files")
    if addition_id in ids_in(file.text):
        raise EditError(f"{path} holds the addition {addition_id} already", "Nothing is to do.")
    sentence = _LEADING_MARK.sub("", " ".join(rule.split()), count=1)
    if not sentence or "<!--" in sentence or "-->" in sentence:
        raise EditError("a rule must be a sentence without HTML comments", "Reword it.")
    line = f"{sentence} {mark(addition_id)}"
    for hunk in _places(path, file.text, line):
        after = apply(harness, Edit(hunks=(hunk,))).harness.get(path)
        if after and _stands(after.text, line) and not disturbed(file.text, after.text, protect):
            return hunk
    raise EditError(
        f"{path} has no place for a rule outside front matter, fences and protected blocks",
        "Close what is open at its end, or add a plain section to it.",
    )


def to_remove(harness: Harness, addition_id: str) -> Edit:
    """Return the edit that takes an addition out, wherever its line has been moved since.

    Taken out of a file that nobody touched since, it leaves the file as it was before, but for
    blank lines at its end.

    Raises:
        EditError: The addition is not in the harness.
    """
    hunks: list[Hunk] = []
    for file in harness.files:
        lines = lines_of(file.text)
        kept = [line for line in lines if addition_id not in ids_in(line)]
        if len(kept) != len(lines):
            hunks += hunks_between(file.path, file.text, _without(lines, addition_id))
    if not hunks:
        raise EditError(f"no file of the harness holds the addition {addition_id}")
    return Edit(hunks=tuple(hunks))


def _without(lines: list[str], addition_id: str) -> str:
    kept: list[str] = []
    for number, line in enumerate(lines):
        if addition_id not in ids_in(line):
            kept.append(line)
            continue
        after = lines[number + 1] if number + 1 < len(lines) else None
        if kept and not kept[-1].strip() and (after is None or not after.strip()):
            kept.pop()
        if after is None and kept and not line.endswith(("\n", "\r")):
            kept[-1] = kept[-1].rstrip("\r\n")
    return "".join(kept)


def _places(path: str, text: str, line: str) -> Iterator[Hunk]:
    """Yield ways to put the line, from the end of the file upwards."""
    lines, blocks = lines_of(text), blocks_of(text)
    style = _list_at_end(blocks, len(lines), lines)
    if style:
        yield Hunk(path=path, op="append", text=f"{style} {line}")
    blank = "" if not lines or not lines[-1].strip() else "\n"
    yield Hunk(path=path, op="append", text=f"{blank}- {line}")
    own, front = line_break(text), parse(text).lines
    starts = sorted({block.first for block in blocks if block.depth == 0}, reverse=True)
    for start in [start for start in starts if start >= front][:PLACES_TRIED]:
        head, tail = lines[:start], lines[start:]
        lead = own if head and head[-1].strip() else ""
        new = "".join([*head, lead, f"- {line}", own, own, *tail])
        yield from hunks_between(path, text, new)[:1]


def _list_at_end(blocks: list[Block], size: int, lines: list[str]) -> str | None:
    """Return indentation and mark of the bullet list that the text ends with, or None."""
    last = [block for block in blocks if block.depth == 0][-1:]
    blank_after = size > 0 and not lines[-1].strip()
    if not last or last[0].kind != "bullet_list_open" or last[0].end < size or blank_after:
        return None
    match = _BULLET.match(lines[last[0].first].removeprefix("\ufeff"))
    return f"{match[1]}{match[2]}" if match else None


def _stands(text: str, line: str) -> bool:
    """Return whether a line reads as an item of a top-level list, and as nothing else."""
    place = text.find(line)
    front = parse(text)
    if front.state == "unclosed" or in_comment(text, place):
        return False
    items = [block for block in blocks_of(text) if block.kind == "inline" and block.content == line]
    return len(items) == 1 and items[0].depth == 3  # noqa: PLR2004  # list, item, paragraph
