"""The files that a model edits: each change is checked at once, and nothing else is reachable."""

from typing import Any

import pytest
from briefing import ADD, HARNESS, LOCKED, PATH

from healbot.editors.workspace import Workspace
from healbot.rules.edits import apply


def test_changes_add_up_to_one_edit_and_can_be_taken_back() -> None:
    work = Workspace(HARNESS)
    assert work.change(ADD) is None
    assert work.change({"path": PATH, "op": "replace", "anchor": "polite", "text": "kind"}) is None
    assert work.edit
    assert apply(HARNESS, work.edit).harness.files[0].text == work.read(PATH)
    work.reset()
    assert work.read(PATH) == HARNESS.files[0].text


def test_a_change_and_its_undoing_are_no_edit() -> None:
    work = Workspace(HARNESS)
    work.change({"path": PATH, "op": "replace", "anchor": "polite", "text": "kind"})
    work.change({"path": PATH, "op": "replace", "anchor": "kind", "text": "polite"})
    assert work.edit is None


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({}, "shape"),
        ({**ADD, "mode": "0777"}, "shape"),
        ({**ADD, "anchor": "x"}, "shape"),
        ({**ADD, "path": 7}, "shape"),
        ({**ADD, "path": "agent.py"}, "outside"),
        ({**ADD, "path": f"./{PATH}"}, "outside"),
        ({**ADD, "path": LOCKED}, "read-only"),
        ({"path": PATH, "op": "delete", "anchor": "e"}, "anchor"),
        ({"path": PATH, "op": "replace", "anchor": "Be", "text": "Be"}, "no-change"),
    ],
)
def test_a_change_that_can_not_be_made_says_why_and_changes_nothing(
    fields: dict[str, Any], rule: str
) -> None:
    work = Workspace(HARNESS)
    reason = work.change(fields)
    assert reason
    assert reason.rule == rule
    assert work.edit is None
