"""The card in a terminal or a pipe: the same sentences, nothing that a terminal would act on."""

import re
from collections.abc import Callable

import pytest
from card_samples import admitted, filled, refused
from hostile_samples import HOSTILE

from healbot.records.card import Card
from healbot.views import terminal


@pytest.mark.parametrize("text", HOSTILE)
def test_no_foreign_text_reaches_the_terminal_as_a_control_sequence(text: str) -> None:
    said = terminal.render(filled(text, 2), runs=True)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]", said)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("make", [admitted, refused])
def test_lines_keep_to_the_width(make: Callable[[], Card], width: int) -> None:
    lines = terminal.render(make(), width, runs=True).splitlines()
    assert max(len(line) for line in lines) <= width


def test_it_says_what_the_card_on_github_says_without_markup() -> None:
    said = " ".join(terminal.render(admitted()).split())
    for sentence in (
        "support: escalate refunds above the policy limit",
        "ADMITTED. refund-over-limit 0 of 3 → 3 of 3. 8 protected cases: none worse.",
        "Canary 54 of 54 (9 cases, 6 runs each).",
        "+Before a refund, compare with the policy limit; above it, escalate.",
        "Undo: the Revert button, or /healbot rollback.",
        "Why: 4 runs since 3 Nov 2026 failed with missed:escalation:refund.",
    ):
        assert sentence in said
    assert not re.search(r"[<>`|]|\*\*|healbot:payload", said)


def test_a_refused_card_says_first_which_rule_refused_it() -> None:
    said = " ".join(terminal.render(refused()).split())
    assert "REJECTED: FIXED ITS TRIGGER BUT BROKE A PROTECTED CASE. Rule heldout-drop on" in said


def test_every_run_is_listed_on_request_only() -> None:
    card = admitted()
    assert "0 fail, 1 fail, 2 fail" not in terminal.render(card)
    said = " ".join(terminal.render(card, runs=True).split())
    assert "measure · refund-over-limit · baseline: 0 fail, 1 fail, 2 fail" in said
    assert "Prediction: this edit fixes refund-over-limit." in said


def test_a_narrow_terminal_leaves_out_the_last_column_first() -> None:
    assert "tokens per pass" in terminal.render(admitted(), 100)
    assert "tokens per pass" not in terminal.render(admitted(), 60)
    assert "candidate" in terminal.render(admitted(), 60)


def test_a_large_card_is_cut_and_says_so() -> None:
    said = terminal.render(filled("word", 50))
    assert "… and 30 more cases" in said
    assert len(said.splitlines()) < 400
