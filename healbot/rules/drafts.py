"""New cases as text: what a person or a failed run gives, written as a case file has it.

Pure. A draft near to a case that is there is refused, so that nothing is counted twice; nothing is
invented: a draft without a check says so, and lint calls it an error.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from healbot.errors import InputError
from healbot.records.case import Assertion, Case, Split
from healbot.records.observed import ObservedRun
from healbot.records.record import Record, shown
from healbot.rules.assertions import needs, problem
from healbot.rules.matching import near, shape_of

NO_CHECK = "# write here what must hold: until then healbot cases lint calls this case an error\n"
REDACTED = "# secrets and personal data were replaced in this input: make it a whole task again\n"
SEEN = "seen-"
"""Begins the id of a case that was made of a session; the beginning of its key follows."""
_MARKS = ("[secret-", "[email-", "[phone-", "[card-", "[iban-", "[id-", "[ip-", "[user-")


def from_run(run: ObservedRun, key: str, known: Sequence[Case]) -> dict[str, Any]:
    """Return a failed run as a case: its input, and the check that failed where one is known.

    A check is known where a case of the agent's already has one of that name: its words are the
    user's own.
    """
    if not run.input.strip():
        raise InputError(
            f"The run {shown(key)} has no input, so it can't become a case.",
            "Write one by hand: healbot cases add ID --input TEXT.",
        )
    case: dict[str, Any] = {
        "id": f"{SEEN}{shown(key)}", "split": str(Split.TRAIN), "born": "failure",
        "input": run.input,
    }  # fmt: skip
    for one in known:
        if run.check is None:
            break
        asserts = [a for a in one.asserts if run.check in (a.label, a.type)]
        if run.missed:
            asserts = [a for a in asserts if a.metric in (None, run.missed)]
        checks = [c for c in one.checks if run.check in (c.name, c.kind)]
        if asserts or checks:
            case["assert"] = [plain(a) for a in asserts]
            case["checks"] = [plain(c) for c in checks]
            return {name: value for name, value in case.items() if value != []}
    return {**case, "assert": []}


def plain(record: Record) -> dict[str, Any]:
    """Return a record as users write it, without what is at its default."""
    return record.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def asserted(text: str) -> dict[str, str]:
    """Read ``TYPE=VALUE`` as an assertion.

    Raises:
        InputError: There is no ``=``, or no type that is known, or its value can't be used.
    """
    kind, sign, value = text.partition("=")
    if not sign or not kind.strip():
        raise InputError(
            f"--assert {text!r} is no TYPE=VALUE.", "For instance --assert contains=escalate."
        )
    found = {"type": kind.strip(), "value": value}
    wrong = None if needs(kind.strip()) else problem(Assertion.model_validate(found))
    if wrong:
        raise InputError(f"--assert {text!r}: {wrong}.", "Nothing was written; correct it.")
    return found


def render_case(case: Mapping[str, Any]) -> str:
    """Return a case as an entry of a YAML list."""
    text: str = yaml.safe_dump([dict(case)], sort_keys=False, allow_unicode=True, width=100)
    notes = NO_CHECK if not case.get("assert") and not case.get("checks") else ""
    if any(mark in str(case.get("input", "")) for mark in _MARKS):
        notes += REDACTED
    return notes + text


def require_new(case: Case, known: Sequence[Case]) -> None:
    """Refuse a case that is there already, by id, or nearly, by its words.

    Raises:
        InputError: Names the other one and its place.
    """
    shape = shape_of(case)
    for one in known:
        if one.id == case.id:
            raise InputError(
                f"The id {case.id!r} stands already at {one.origin}.", "Choose another id."
            )
        if near(shape, shape_of(one)):
            raise InputError(
                f"This is a near-duplicate of the case {one.id!r} at {one.origin}.",
                "Nothing was written; change that case, or give this one other words.",
            )
