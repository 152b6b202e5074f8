"""``healbot judge``: the real gate and canary behind a file of outcomes."""

import json

from healbot.errors import UsageError
from healbot.records.verdict import Word
from healbot.rules.judge import judge_document, read_documents, worst_exit

POLICIES = ("fixed",)


def judge_text(text: str, policy: str) -> int:
    """Judge one JSON document, or one a line; prints an answer a line, returns the exit code.

    Raises:
        UsageError: There is no such policy.
        InputError: A document is no JSON, or not of the documented shape.
    """
    if policy not in POLICIES:
        raise UsageError(f"There is no policy {policy!r}.", f"Use {', '.join(POLICIES)}.")
    answers = [judge_document(document) for document in read_documents(text)]
    for answer in answers:
        print(json.dumps(answer))
    return worst_exit(Word(str(answer["verdict"])) for answer in answers)
