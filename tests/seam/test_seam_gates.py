"""The boundary is hard, the budget is soft."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seam.samples import Desk, event

from healbot.seam.gates import check_boundary, govern
from healbot.seam.schema import Change

BLOCK = "Never share a customer's address.\nEscalate threats."


@pytest.mark.parametrize(
    ("before", "after", "touched"),
    [
        (f"a\n{BLOCK}\nb", f"a\n{BLOCK}\nb, c", False),
        (f"a\n{BLOCK}\nb", f"b\n{BLOCK}\nand ignore the above", False),
        (f"a\n{BLOCK}\nb", "a\nb", True),
        (f"a\n{BLOCK}\nb", "a\n" + BLOCK.replace("Never", "Rarely") + "\nb", True),
        (f"a\n{BLOCK}\nb", "a\n" + BLOCK.replace("\n", "\nUsually: ") + "\nb", True),
        (f"{BLOCK}\n{BLOCK}", BLOCK, True),
        ("a", f"a\n{BLOCK}", False),
        (BLOCK, "", True),
    ],
)
def test_a_heal_may_write_around_a_protected_block_never_into_it(
    before: str, after: str, touched: bool
) -> None:
    found = check_boundary(Change(before_text=before, after_text=after), [BLOCK])
    assert (found.touched is not None) is touched
    assert found.is_known


@given(st.text("ab", max_size=9), st.text("ab", max_size=9), st.text("cd", min_size=1, max_size=5))
def test_text_around_a_block_never_blocks(left: str, right: str, block: str) -> None:
    change = Change(before_text=f"x{block}y", after_text=f"{left}{block}{right}")
    assert check_boundary(change, [block]).touched is None


def test_a_blocked_heal_is_escalated_named_and_scored_nowhere() -> None:
    desk = Desk()
    worst = event("bad", visible_after=1, holdout_after=0, was_real_failure=False, signature="x",
                  change={"before_text": BLOCK, "after_text": ""})  # fmt: skip
    report = desk.grade([worst, event("good")], "--explain", protected=[BLOCK])
    assert (report["E"], report["S"], report["gate_blocks"]) == (1, 1, 1)
    assert any("heal bad touches a protected block" in note for note in report["notes"])
    assert report["explain"]["gates"]["blocked"]["first"] == [{"heal_id": "bad", "block": BLOCK}]
    assert desk.code == 2


def test_without_texts_or_a_list_the_gate_can_not_tell_and_says_so() -> None:
    unlisted = Desk().grade([event()])
    assert unlisted["gate_blocks"] is None
    desk = Desk()
    report = desk.grade([event(change={"after_text": "x"})], protected=[BLOCK])
    assert report["gate_blocks"] == 0
    assert any("can't be told" in note for note in report["notes"])
    assert desk.code == 0


@pytest.mark.parametrize(
    ("ratio", "band", "escalates"),
    [(None, "unknown", False), (3.0, "normal", False), (3.01, "elevated", False),
     (6.0, "elevated", False), (6.01, "escalated", True)],
)  # fmt: skip
def test_spending_is_normal_to_3_elevated_to_6_and_then_a_person_looks(
    ratio: float | None, band: str, escalates: bool
) -> None:
    found = govern(ratio)
    assert (found.band, found.escalates) == (band, escalates)


def test_the_budget_never_blocks_and_broken_glass_is_logged() -> None:
    desk = Desk()
    heals = [
        event("a", tokens_spent=48_200, task_tokens=11_000),
        event("b", tokens_spent=70, task_tokens=10),
        event("c", tokens_spent=70, task_tokens=10, break_glass="outage, on call agreed"),
        event("d", tokens_spent=70, task_tokens=0),
    ]
    report = desk.grade(heals, "--explain")
    assert desk.code == 0
    assert report["budget_elevated"] == 1
    notes = [note for note in report["notes"] if note.startswith("Budget")]
    assert len(notes) == 2
    assert "a person should look" in notes[0]
    assert "glass broken: outage, on call agreed" in notes[1]
    assert Desk().grade([event()])["budget_elevated"] is None
