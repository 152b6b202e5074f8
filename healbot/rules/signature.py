"""A failure's signature, ``errortype:tool:context``: the same failure has the same one.

Pure and deterministic; knows a run's record. What an agent wrote never enters it: it is made of the
check's own words, the runner's word for how the run ended, and the case's tag.
"""

import re

from healbot.records.case import Case
from healbot.records.run import Outcome, Run

_WORD = re.compile(r"[^a-z0-9_.-]+")
LONGEST_PART = 40


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
    if failed.missed:
        return _join("missed", failed.missed, context)
    if run.exit_code not in (0, None):
        return _join("exit", tool or str(run.exit_code), context)
    return _join("failed", tool or failed.check, context)


def _join(*parts: str) -> str:
    return ":".join(_WORD.sub("-", part.lower()).strip("-")[:LONGEST_PART] or "-" for part in parts)
