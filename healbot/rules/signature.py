"""A failure's signature, ``errortype:tool:context``: the same failure has the same one.

Pure and deterministic; knows a run's record. What an agent wrote never enters it: it is made of the
check's own words, the runner's word for how the run ended, and the case's tag. A tool's name that
only the agent reported, and a word that a check quotes from the agent, stand there as digests.
"""

import json
import re
from collections.abc import Collection, Iterable

from healbot.records.case import Case
from healbot.records.observed import ObservedRun
from healbot.records.run import Outcome, Run
from healbot.rules.privacy import word_for

_WORD = re.compile(r"[^a-z0-9_.-]+")
LONGEST_PART = 40
_KIND = re.compile(r"\b[A-Z][A-Za-z]{2,40}(?:Error|Exception|Timeout|Exit|Interrupt|Warning)\b")
_OURS = frozenset({"missed", "error", "failed", "timeout", "exit", "none", "run", "-"})
"""The words of a signature that are ours."""
_PIECE = re.compile(r"[a-z0-9]+")
WITHIN_FROM = 4
"""Characters from which on a piece of a word counts as that word; shorter ones must be whole."""
_EVERYDAY = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "did", "does", "for", "found", "from",
    "got", "has", "have", "in", "is", "it", "missing", "must", "never", "no", "not", "of", "on",
    "or", "output", "should", "than", "that", "the", "to", "too", "was", "with", "without", "wrong",
    "expected", "answer", *_OURS,
))  # fmt: skip
"""Words that tell nothing of what an agent said, even where it said them too."""


def signature_of(case: Case, run: Run) -> str:
    """Return the signature of a failed run.

    ``context`` is the case's first tag, so that sibling cases (same failure, other input) share a
    signature; a case without tags stands for itself.
    """
    failed = next((one for one in run.checks if one.outcome == Outcome.FAIL), None)
    context = case.tags[0] if case.tags else case.written_id
    if run.ended == "timed-out":
        return _join("timeout", "run", context)
    if failed is None:
        return _join("none", "-", context)
    tool = next((call.name for call in run.tool_calls or () if call.error), None)
    if tool is not None and tool not in _tools(case):
        tool = word_for(_join(tool))
    if failed.missed:
        return _join("missed", _unquoted(failed.missed, case, run), context)
    if run.exit_code not in (0, None):
        return _join("exit", tool or str(run.exit_code), context)
    return _join("failed", tool or failed.check, context)


def observed_signature(run: ObservedRun) -> str:
    """Return the signature of a failed run that was observed in use.

    ``errortype`` is what was missed, else the kind of error that the text names; ``context`` is the
    check that failed. Words of an agent may be in it: ``published_signature`` leaves them out.
    """
    tool = next((call.name for call in run.tool_calls or () if call.error), None)
    if run.missed:
        return _join("missed", run.missed, run.check or tool or "-")
    kind = _KIND.search(run.error or "")
    word = kind.group() if kind else "error" if run.error else "failed"
    return _join(word, tool or "-", run.check or "-")


def published_signature(signature: str, words: Collection[str]) -> str:
    """Return a signature in which only known words are read; others are short digests."""
    parts = (
        part if part in words or part in _OURS else word_for(part) for part in signature.split(":")
    )
    return ":".join(parts)


def own_words(cases: Iterable[Case]) -> frozenset[str]:
    """Return the words of signatures that users wrote themselves, into cases and checks."""
    words: set[str] = set()
    for case in cases:
        words |= {case.written_id, *case.tags, *_tools(case)}
        words |= {name for one in case.asserts for name in (one.type, one.metric) if name}
        words |= {name for one in case.checks for name in (one.kind, one.name) if name}
    return frozenset(_join(word) for word in words)


def _unquoted(missed: str, case: Case, run: Run) -> str:
    """Put digests for the words of a check that it may have from the agent, not from the case."""
    calls = [call.model_dump(mode="json") for call in run.tool_calls or ()]
    said = _Words([run.stdout, run.stderr, *run.changed, json.dumps(calls, ensure_ascii=False)])
    written = _Words([case.model_dump_json(by_alias=True), case.written_id])

    def plain(found: re.Match[str]) -> str:
        word = found.group()
        mine = word in _EVERYDAY or written.have(word) or not said.have(word)
        return word if mine else word_for(word)

    return _PIECE.sub(plain, missed.lower())


class _Words:
    """What some texts say, to be asked for one word of it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts).lower()
        self._whole = frozenset(_PIECE.findall(self._text))

    def have(self, word: str) -> bool:
        return word in self._whole or (len(word) >= WITHIN_FROM and word in self._text)


def _tools(case: Case) -> frozenset[str]:
    called = [check.tool_called.name for check in case.checks if check.tool_called]
    uncalled = [check.not_tool_called for check in case.checks if check.not_tool_called]
    return frozenset((*case.tools, *called, *uncalled))


def _join(*parts: str) -> str:
    return ":".join(_WORD.sub("-", part.lower()).strip("-")[:LONGEST_PART] or "-" for part in parts)
