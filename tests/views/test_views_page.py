"""The page: every text escaped, every table named, nothing fetched, with pictures and without."""

from typing import Any

import pytest

from healbot.entry.templates import template
from healbot.views.chart import can_draw
from healbot.views.page import MARK, render

HOSTILE = '<img src=x onerror=alert(1)> & "quoted" </table>'
AT = "2026-03-14T09:30"
RUN = {"runs": 3, "tokens": 5, "usd": 0.1, "seconds": 60.0}
COUNTS = {"pass": 1, "fail": 2, "none": 0, "rate": 0.3333}


def agent(name: str) -> dict[str, Any]:
    return {
        "agent": name,
        "revision": "a" * 64,
        "ledger": {"entries": 1, "head": "b" * 64},
        "runs": {"spent": 3, "rated": 1, "chosen": 1, "never_live": 1, "no_decision": 0},
        "revisions": [
            {"revision": HOSTILE, "at": AT, "how": "merge of 1", **COUNTS},
            {"revision": "c" * 64, "at": HOSTILE, "how": HOSTILE, **COUNTS, "rate": None},
        ],
        "verdicts": [
            {
                **dict.fromkeys(("stage", "word", "rule"), HOSTILE),
                "times": 2,
                "fixed_trigger": 1,
                "broke": 1,
            }
        ],
        "cycles": [
            {
                **dict.fromkeys(("cycle", "outcome", "mode"), HOSTILE),
                "at": AT,
                "forecast": {**RUN, "runs": 0},
                "spent": RUN,
            }
        ],
        "questions": [{"what": HOSTILE, "text": HOSTILE}],
        "cases": [{"id": HOSTILE, "split": "train", "standing": "plain", "safety": True, **COUNTS}],
    }


def facts() -> dict[str, Any]:
    span = {"spent": {**RUN, "minutes": 1.0}, "limits": {"usd": 0.05, "runs": 0}}
    return {
        "made_at": "2026-03-14 09:30",
        "version": "1",
        "base": HOSTILE,
        "mode": "auto",
        "stopped_by": HOSTILE,
        "budget": {"day": span, "month": {**span, "limits": {}}},
        "agents": [agent("one"), agent("two words")],
    }


@pytest.mark.parametrize("pictures", [False, True])
def test_hostile_text_stays_text_and_nothing_is_fetched(pictures: bool) -> None:
    if pictures and not can_draw():
        pytest.skip("the extra report is not installed")
    page = render(facts(), template("report/page.html"), pictures=pictures)
    assert "<img" not in page
    assert "<script" not in page
    plain = page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert "http" not in plain
    assert MARK in page
    assert page.count("<table") == page.count("<caption>") == page.count("</table>") == 9
    assert page.count("<svg") == (6 if pictures else 0)
    assert page.count("<h2") == 3


def test_an_agent_without_a_past_has_sentences_instead_of_empty_tables() -> None:
    told = facts()
    for one in told["agents"]:
        one |= {"revisions": [], "verdicts": [], "cycles": [], "questions": []}
    page = render(told, template("report/page.html"), pictures=False)
    assert "No cycle has run yet." in page
    assert "No edit has been judged yet." in page
    assert "None: nothing waits for a person." in page
