"""Gate and canary behind given outcomes: the driver that feeds a policy, and its file format.

Knows no run and no file: documents come in parsed or as text, answers go out as plain data. The
same policy functions judge here and in a cycle. Outcomes are drawn in the order given, and none is
drawn twice.
"""

import contextlib
import difflib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from healbot.errors import Exit, InputError
from healbot.records.run import Outcome
from healbot.records.settings import GateSettings
from healbot.records.verdict import (
    CaseEvidence,
    Comparison,
    Draw,
    Need,
    Outcomes,
    Reason,
    Role,
    Verdict,
    Word,
)
from healbot.rules.canary import judge_canary
from healbot.rules.gate import judge_gate
from healbot.rules.tokens import UNPRICED

Policy = Callable[[Comparison], Verdict | Need]
"""What is drawn so far in, a verdict or a wish for more out."""

Feed = Callable[[Draw], tuple[Outcomes, Outcomes]]
"""A wish in, outcomes out (baseline, candidate), each once; fewer than wished where it ran out."""

CASE_FIELDS = ("id", "role", "safety", "baseline", "candidate", "history", "claimed")
NEEDED_FIELDS = ("id", "role", "baseline", "candidate")

EXITS: dict[Word, Exit] = {
    Word.REJECTED: Exit.NO,
    Word.INVALID: Exit.NO,
    Word.ROLLED_BACK: Exit.NO,
    Word.UNDERPOWERED: Exit.COULD_NOT_TELL,
    Word.NOT_EXERCISED: Exit.COULD_NOT_TELL,
    Word.KEPT_UNVERIFIED: Exit.COULD_NOT_TELL,
}
"""The exit code of a verdict word; every other word is DONE."""


class Judgement(NamedTuple):
    """A decision with what each of its two policies drew; ``canary`` is empty where not reached."""

    verdict: Verdict
    gate: Comparison
    canary: Comparison


def exit_code_of(word: Word) -> Exit:
    """Return what a judging command exits with for a verdict."""
    return EXITS.get(word, Exit.DONE)


def worst_exit(words: Iterable[Word]) -> Exit:
    """Return the exit code of several verdicts: a no outranks could-not-tell outranks done."""
    codes = {exit_code_of(word) for word in words}
    ranked = (Exit.NO, Exit.COULD_NOT_TELL)
    return next((code for code in ranked if code in codes), Exit.DONE)


def draw(policy: Policy, comparison: Comparison, feed: Feed) -> tuple[Verdict, Comparison]:
    """Feed a policy until it decides.

    Args:
        policy: Pure; asked again with all that it drew.
        comparison: What it starts from, usually cases without outcomes.
        feed: Hands out outcomes.

    Returns:
        The verdict and everything drawn. Where the feed runs out: ``underpowered``, and the batch
        that could not be filled is not counted as drawn.
    """
    while True:
        answer = policy(comparison)
        if isinstance(answer, Verdict):
            return answer, comparison
        drawn = {wish.case: feed(wish) for wish in answer.draws}
        short = [reason for wish in answer.draws for reason in _shortage(wish, drawn[wish.case])]
        if short:
            return Verdict(word=Word.UNDERPOWERED, reasons=tuple(short)), comparison
        comparison = extend(comparison, drawn)


def extend(comparison: Comparison, drawn: Mapping[str, tuple[Outcomes, Outcomes]]) -> Comparison:
    """Add outcomes (baseline, candidate) to cases by id."""
    cases = []
    for case in comparison.cases:
        baseline, candidate = drawn.get(case.id, ((), ()))
        update = {
            "baseline": case.baseline + baseline,
            "candidate": case.candidate + candidate,
        }
        cases.append(case.model_copy(update=update))
    return comparison.model_copy(update={"cases": tuple(cases)})


def blank(comparison: Comparison) -> Comparison:
    """Return the same cases without outcomes."""
    nothing: dict[str, Any] = {
        "baseline": (),
        "candidate": (),
        "baseline_tokens": (),
        "candidate_tokens": (),
    }
    cases = tuple(case.model_copy(update=nothing) for case in comparison.cases)
    return comparison.model_copy(update={"cases": cases})


def decide(cases: Comparison, feed: Feed, numbers: GateSettings) -> Judgement:
    """Run the gate and then, where it admits, the canary, on one feed."""
    empty = blank(cases)
    verdict, gate = draw(lambda seen: judge_gate(seen, numbers), empty, feed)
    if verdict.word is not Word.ADMITTED:
        return Judgement(verdict, gate, empty)
    final, canary = draw(lambda seen: judge_canary(seen, gate, numbers), empty, feed)
    if final.word is Word.ADMITTED:
        both = (*verdict.reasons, *final.reasons)
        final = final.model_copy(update={"reasons": both})
    final = final.model_copy(update={"notes": (*verdict.notes, *final.notes)})
    return Judgement(final, gate, canary)


def feed_from(comparison: Comparison) -> Feed:
    """Hand out a comparison's outcomes in order, each once."""
    cases = {case.id: case for case in comparison.cases}
    places = {case.id: (0, 0) for case in comparison.cases}

    def feed(wish: Draw) -> tuple[Outcomes, Outcomes]:
        case, (at_baseline, at_candidate) = cases[wish.case], places[wish.case]
        ends = (at_baseline + wish.baseline, at_candidate + wish.candidate)
        places[wish.case] = ends
        return case.baseline[at_baseline : ends[0]], case.candidate[at_candidate : ends[1]]

    return feed


def judge_document(document: object, numbers: GateSettings | None = None) -> dict[str, Any]:
    """Judge one document of given outcomes.

    Args:
        document: Parsed JSON: ``{"cases": [{"id", "role", "safety"?, "baseline", "candidate",
            "history"?, "claimed"?}]}``, outcomes in the order in which they may be drawn.
        numbers: The policy's numbers; left out: the defaults.

    Returns:
        ``{"verdict": word, "reasons": ["rule: text", …], "used": {case: [baseline, candidate]}}``.
        ``used`` counts what gate and canary drew together. Such a document holds no tokens, so
        that the cost rule does not apply, and this goes without saying.

    Raises:
        InputError: The document has another shape; says where.
    """
    cases = parse_document(document)
    judged = decide(cases, feed_from(cases), numbers or GateSettings())
    used = {case.id: [0, 0] for case in cases.cases}
    for case in (*judged.gate.cases, *judged.canary.cases):
        used[case.id][0] += len(case.baseline)
        used[case.id][1] += len(case.candidate)
    said = (*judged.verdict.reasons, *judged.verdict.notes)
    return {
        "verdict": judged.verdict.word.value,
        "reasons": [f"{reason.rule}: {reason.text}" for reason in said if reason.rule != UNPRICED],
        "used": used,
    }


def read_documents(text: str) -> tuple[object, ...]:
    """Parse a file's text: one JSON document, or one a line; empty lines are skipped.

    Raises:
        InputError: It is neither; names the line.
    """
    text = text.removeprefix("\ufeff")
    with contextlib.suppress(ValueError, RecursionError):
        return (json.loads(text),)
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise InputError("The outcomes file is empty.", 'Write {"cases": [...]}.')
    return tuple(_read_line(number, line) for number, line in lines)


def _read_line(number: int, line: str) -> object:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"Line {number} of the outcomes file is no JSON document: {error}.",
            "Write one document over the whole file, or one a line.",
        ) from error
    return value


def parse_document(document: object) -> Comparison:
    """Check one document and turn it into a comparison.

    Raises:
        InputError: Names the case and field that can't be used.
    """
    if not isinstance(document, dict):
        raise _unusable("the document is no object", 'write {"cases": [...]}')
    _known(document, ("cases",), "the document")
    listed = document.get("cases")
    if not isinstance(listed, list) or not listed:
        raise _unusable("'cases' is no list with at least one case", 'write {"cases": [...]}')
    cases = tuple(_case(item, f"case {n}") for n, item in enumerate(listed, start=1))
    ids = [case.id for case in cases]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise _unusable(f"two cases are called {twice[0]!r}", "give each case its own id")
    return Comparison(cases=cases)


def _case(item: object, where: str) -> CaseEvidence:
    if not isinstance(item, dict):
        raise _unusable(f"{where} is no object", f"give it the fields {', '.join(NEEDED_FIELDS)}")
    name = item.get("id")
    if not isinstance(name, str) or not name.strip():
        raise _unusable(f"{where} has no id", "give it one: a text that no other case has")
    where = f"case {name!r}"
    _known(item, CASE_FIELDS, where)
    missing = [field for field in NEEDED_FIELDS if field not in item]
    if missing:
        raise _unusable(f"{where} lacks {missing[0]!r}", f"add {missing[0]!r}")
    roles = get_args(Role)
    if item["role"] not in roles:
        raise _unusable(f"{where} has the role {item['role']!r}", f"use {', '.join(roles)}")
    return CaseEvidence(
        id=name,
        role=item["role"],
        safety=_flag(item, "safety", where) or False,
        claimed=_flag(item, "claimed", where),
        baseline=_outcomes(item, "baseline", where),
        candidate=_outcomes(item, "candidate", where),
        history=_outcomes(item, "history", where),
    )


def _flag(item: Mapping[str, object], field: str, where: str) -> bool | None:
    value = item.get(field)
    if value is not None and not isinstance(value, bool):
        raise _unusable(f"{where} has {field} {value!r}", "write true or false, or leave it out")
    return value


def _outcomes(item: Mapping[str, object], field: str, where: str) -> Outcomes:
    words = item.get(field, [])
    known = [outcome.value for outcome in Outcome]
    if not isinstance(words, list):
        raise _unusable(f"{where}: {field!r} is no list", f"list the words {', '.join(known)}")
    for place, word in enumerate(words, start=1):
        if word not in known:
            raise _unusable(
                f"{where}: outcome {place} of {field!r} is {word!r}", f"use {', '.join(known)}"
            )
    return tuple(Outcome(word) for word in words)


def _known(item: Mapping[str, object], fields: Sequence[str], where: str) -> None:
    for field in item:
        if field not in fields:
            near = difflib.get_close_matches(field, fields, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known fields: {', '.join(fields)}"
            raise _unusable(f"{where} has an unknown field {field!r}", hint)


def _unusable(what: str, hint: str) -> InputError:
    return InputError(f"These outcomes can't be judged: {what}.", f"{hint[:1].upper()}{hint[1:]}")


def _shortage(wish: Draw, got: tuple[Outcomes, Outcomes]) -> list[Reason]:
    """Say how many outcomes were lacking, by side."""
    sides = (("baseline", wish.baseline, got[0]), ("candidate", wish.candidate, got[1]))
    return [
        Reason(
            rule="ran-out",
            text=f"{wish.case}: {wanted - len(have)} more {side} outcomes were needed",
            case=wish.case,
        )
        for side, wanted, have in sides
        if len(have) < wanted
    ]
