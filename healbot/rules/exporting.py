"""Cases as a promptfoo configuration in which every text stays a text.

Pure. promptfoo renders a variable's words as a template once or more, by its version, and reads a
file or a package where a text begins so. No escape holds against a number of renderings that is
not known, so a case with such words is refused by its name.
"""

from collections.abc import Sequence
from typing import Any

from healbot.errors import InputError
from healbot.records.case import Case
from healbot.rules.drafts import plain
from healbot.rules.privacy import texts_in

LIVE = ("{{", "{%", "{#")
"""What begins a template's parts."""
LOADED = ("file://", "package:", "$ref")
"""What a text begins with that may be loaded from elsewhere."""


def promptfoo_config(cases: Sequence[Case], prompt: str = "{{input}}") -> dict[str, Any]:
    """Return cases as a promptfoo configuration; checks beyond promptfoo's can't go along.

    The provider is promptfoo's ``echo``, to be replaced by the agent.

    Raises:
        InputError: Words of a case would be a template, or a file to read; it is named.
    """
    return {
        "description": "Cases exported by healbot",
        "prompts": [prompt],
        "providers": ["echo"],
        "tests": [_test(case) for case in cases if case.input is not None],
    }


def _test(case: Case) -> dict[str, Any]:
    test = {
        "description": case.id,
        "vars": {"input": case.input},
        "assert": [plain(one) for one in case.asserts],
        "metadata": {"split": str(case.split), "tags": list(case.tags)},
    }
    for text in texts_in(test):
        live = _live(text)
        if live:
            raise InputError(
                f"The case {case.id!r} at {case.origin} holds {live!r}, which promptfoo would act "
                "on rather than read.",
                "Leave the case out or reword it; --format healbot exports it as it is.",
            )
    return test


def _live(text: str) -> str:
    start = text.lstrip().lower()
    loaded = (one for one in LOADED if start.startswith(one))
    return next((one for one in LIVE if one in text), "") or next(loaded, "")
