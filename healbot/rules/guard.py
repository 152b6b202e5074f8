"""What no edit may do: refusals before any run is paid for, and reasons for a person to look.

Knows a harness, an edit and the settings' limits. It never scores: a refused edit is invalid, and
whoever is told why can write a better one.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from healbot.records.edit import Edit
from healbot.records.harness import Harness, HarnessFile
from healbot.records.verdict import Reason
from healbot.rules.always_on import always_on_characters, always_on_texts
from healbot.rules.differences import LineChange, changed_lines
from healbot.rules.edits import attempt
from healbot.rules.frontmatter import worsened
from healbot.rules.injection import suspicious
from healbot.rules.protect import disturbed

_BOM = b"\xef\xbb\xbf"
_CARRIED_OVER = frozenset({"hidden", "blob", "url", "comment"})
"""Findings about characters, not meaning: no news where the replaced lines had the same ones."""
_STRONG = re.compile(
    r"\b(?:must|never|always|do not|don't|cannot|may not|required|forbidden"
    r"|prohibited|refuse|escalate"
    r"|ask (?:first|before|for (?:approval|confirmation|permission)))\b",
    re.IGNORECASE,
)


HUGE = 16_000
"""Always-on characters, or those that an edit brings, beyond which it is looked at no further."""


class Guarded(NamedTuple):
    """What the guard says about an edit.

    Attributes:
        candidate: The harness after the edit; None where the edit is refused.
        refusals: Why it is refused. The rules are ``outside``, ``anchor``, ``no-change``,
            ``empty``, ``read-only``, ``protected``, ``too-long``, ``front-matter``, ``injection``,
            ``whitespace-only``.
        needs_person: Why a person must look at it; the rules are ``skill-with-files`` (a file next
            to scripts) and ``softens`` (a must, never or ask-first goes away).
    """

    candidate: Harness | None
    refusals: tuple[Reason, ...] = ()
    needs_person: tuple[Reason, ...] = ()


def inspect(
    before: Harness, edit: Edit, *, protect: Sequence[str] = (), always_on_limit: int
) -> Guarded:
    """Apply an edit in thought and hold the result against every rule; all refusals are named."""
    early = tuple(_out_of_reach(before, edit))
    if early:
        return Guarded(None, early)
    outcome = attempt(before, edit)
    if isinstance(outcome, Reason):
        return Guarded(None, (outcome,))
    after = outcome.harness
    refusals: list[Reason] = list(_too_long(before, after, always_on_limit))
    if refusals and always_on_characters(after) > HUGE:
        return Guarded(None, tuple(refusals))  # the other rules would read all of it
    person: list[Reason] = []
    for was, now in _changed(before, after):
        refusals += _refusals(was, now, protect)
        person += _for_a_person(was, now)
    refusals += _only_spaces(before, after)
    if refusals:
        return Guarded(None, tuple(refusals))
    return Guarded(after, (), tuple(person))


def _out_of_reach(before: Harness, edit: Edit) -> Iterator[Reason]:
    size = sum(len(hunk.text) for hunk in edit.hunks)
    if size > HUGE:
        text = f"the edit brings {size:,} characters, and at most {HUGE:,} are looked at"
        yield Reason(rule="too-long", text=text)
    for path in dict.fromkeys(hunk.path for hunk in edit.hunks):
        file = before.get(path)
        if file is None:
            yield Reason(rule="outside", text=f"{path} is not one of the harness's files")
        elif file.read_only is not None:
            yield Reason(rule="read-only", text=f"{path} may not be edited: {file.read_only}")


def _changed(before: Harness, after: Harness) -> Iterator[tuple[HarnessFile, HarnessFile]]:
    for was, now in zip(before.files, after.files, strict=True):
        if was.content != now.content:
            yield was, now


def _only_spaces(before: Harness, after: Harness) -> Iterator[Reason]:
    """Refuse an edit that changes no word: nobody should have to review it."""
    changed = list(_changed(before, after))
    if all(was.text.split() == now.text.split() for was, now in changed):
        paths = ", ".join(was.path for was, _ in changed)
        yield Reason(rule="whitespace-only", text=f"{paths}: only white space would change")


def _refusals(was: HarnessFile, now: HarnessFile, protect: Sequence[str]) -> Iterator[Reason]:
    if was.text.strip("\ufeff \t\r\n") and not now.text.strip("\ufeff \t\r\n"):
        yield Reason(rule="empty", text=f"{was.path} would be left empty")
    disturbance = disturbed(was.text, now.text, protect)
    if disturbance:
        yield Reason(rule="protected", text=f"{was.path}: {disturbance}")
    worse = worsened(was.text, now.text, was.skill)
    if worse:
        yield Reason(rule="front-matter", text=f"{was.path}: {worse}")
    change = _line_change(was, now)
    had = {(one.rule, one.words) for one in suspicious(change.removed)}
    for found in suspicious(change.added):
        if found.rule not in _CARRIED_OVER or (found.rule, found.words) not in had:
            text = f"{was.path}: the added text looks like {found.rule}: {found.words}"
            yield Reason(rule="injection", text=text)


def _line_change(was: HarnessFile, now: HarnessFile) -> LineChange:
    """Return the changed lines; a byte order mark that was there before is no added text."""
    if was.content.startswith(_BOM) and now.content.startswith(_BOM):
        return changed_lines(was.content[len(_BOM) :], now.content[len(_BOM) :])
    return changed_lines(was.content, now.content)


def _for_a_person(was: HarnessFile, now: HarnessFile) -> Iterator[Reason]:
    if was.needs_person:
        text = f"{was.path} has other files beside it, so an edit to it waits for a person"
        yield Reason(rule="skill-with-files", text=text)
    change = changed_lines(was.content, now.content)
    lost = _strong_words(change.removed) - _strong_words(change.added)
    if lost > 0:
        text = f"{was.path}: the edit removes or softens a rule (must, never, ask first …)"
        yield Reason(rule="softens", text=text)


def _strong_words(lines: Sequence[str]) -> int:
    return sum(len(_STRONG.findall(line)) for line in lines)


def _too_long(before: Harness, after: Harness, limit: int) -> Iterator[Reason]:
    """Hold the always-on text against the limit; above it already, it may only shrink."""
    size, was = always_on_characters(after), always_on_characters(before)
    if size <= limit or always_on_texts(after) == always_on_texts(before):
        return
    if was <= limit:
        text = f"always-on text would grow from {was:,} to {size:,} characters of {limit:,}"
        yield Reason(rule="too-long", text=text)
    elif size >= was:
        text = (
            f"always-on text has {was:,} characters of {limit:,} already and may only shrink, "
            f"but would have {size:,}"
        )
        yield Reason(rule="too-long", text=text)
