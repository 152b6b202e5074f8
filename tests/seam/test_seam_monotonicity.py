"""When a loop thrashes, and when it only looks as if it did."""

from itertools import pairwise
from typing import Any

import pytest
from seam.samples import Desk, event

from healbot.seam.blocks import Block, changed_block
from healbot.seam.defaults import DEFAULTS
from healbot.seam.monotonicity import CYCLES_COMPARED, revisits
from healbot.seam.schema import Change

LONG = [f"Rule {n}: do thing number {n} before thing {n + 1}." for n in range(120)]
TOPICS = ["ask for the order id", "use metric units", "never guess a price", "be brief"]


def _loop(changes: list[dict[str, str]], scores: list[float] | None = None) -> dict[str, Any]:
    scores = scores or [n / 10 for n in range(len(changes))]
    heals = [
        event(str(n), days=n / 10, loop_id="one", cycle=n, score=score, change=change)
        for n, (change, score) in enumerate(zip(changes, scores, strict=True))
    ]
    return Desk().grade(heals, "--explain")


def test_one_line_edits_of_a_long_file_that_improve_every_cycle_score_one() -> None:
    texts = ["\n".join([*LONG, *TOPICS[:n]]) for n in range(len(TOPICS) + 1)]
    pairs = pairwise(texts)
    changes = [{"before_text": one, "after_text": other} for one, other in pairs]
    assert _loop(changes)["M"] == 1
    assert _loop([{"after_text": one["after_text"]} for one in changes])["M"] == 0


def test_going_back_to_an_earlier_block_two_cycles_on_is_a_revisit_and_is_named() -> None:
    report = _loop([{"after_text": text} for text in ("ask first", "be brief", "ask first")])
    assert report["M"] == 0.6
    assert report["explain"]["M"]["loops"]["first"][0]["revisits"]["first"] == [["0", "2"]]


def test_the_same_block_in_the_next_cycle_is_none() -> None:
    assert _loop([{"after_text": "ask first"}] * 2)["M"] == 1


def test_two_deletions_are_compared_by_what_they_removed() -> None:
    base = "\n".join([*LONG, *TOPICS])
    cut = [{"before_text": base, "after_text": base.replace(one, "")} for one in TOPICS[:3]]
    assert _loop(cut)["M"] == 1
    assert _loop([cut[0], cut[1], cut[0]])["M"] == 0.6


def test_two_empty_blocks_are_no_revisit() -> None:
    assert _loop([{"before_text": "same", "after_text": "same"}] * 3)["M"] == 1
    assert _loop([{"after_text": ""}] * 3)["M"] == 1


def test_adding_a_line_is_not_like_removing_it() -> None:
    assert changed_block(Change(before_text="a\n", after_text="a\nb\n")) == Block("b\n")
    assert changed_block(Change(before_text="a\nb\n", after_text="a\n")) == Block(
        "b\n", removed=True
    )
    assert not list(revisits([Block("b"), Block("x"), Block("b", removed=True)], limits=DEFAULTS))


def test_a_missing_line_break_at_the_end_is_no_change() -> None:
    found = changed_block(Change(before_text="a\nb", after_text="a\nb\nc"))
    assert found == Block("c\n") or found == Block("c")


def test_long_texts_of_few_letters_are_compared_without_autojunk() -> None:
    text = "ab" * 2_000
    report = _loop([{"after_text": one} for one in (text, "other", text + "b")])
    assert report["M"] == 0.6


@pytest.mark.parametrize(
    ("scores", "m"),
    [
        ([0.5, 0.4, 0.6], 1.0),
        ([0.5, 0.4, 0.6, 0.5], 0.6),
        ([0.1, 0.2, 0.3, 0.4, 0.5], 0.8),
        ([0.5, 0.4, 0.3, 0.2, 0.1], 0.0),
        ([0.5, 0.5, 0.5], 1.0),
    ],
)
def test_one_dip_is_free_more_cost_and_so_does_the_cap(scores: list[float], m: float) -> None:
    changes = [{"after_text": f"{n}" * (n + 1)} for n in range(len(scores))]
    assert _loop(changes, scores)["M"] == pytest.approx(m)


def _scored_on(**fields: list[float]) -> tuple[Any, Any]:
    count = len(next(iter(fields.values())))
    heals = [
        event(str(n), loop_id="one", cycle=n, **{key: one[n] for key, one in fields.items()})
        for n in range(count)
    ]
    loop = Desk().grade(heals, "--explain")["explain"]["M"]["loops"]["first"][0]
    return loop["scored_on"], loop["extra_dips"]


def test_held_out_scores_come_first_unless_they_are_the_loops_copied() -> None:
    falling, rising = [0.9, 0.6, 0.3], [0.1, 0.2, 0.3]
    assert _scored_on(visible_after=rising, holdout_after=falling) == ("held-out", 1)
    assert _scored_on(visible_after=falling, holdout_after=[0.5] * 3) == ("visible", 1)
    assert _scored_on(score=falling, visible_after=rising) == ("as logged", 1)


def test_cycles_are_taken_in_their_order_whatever_the_order_of_lines() -> None:
    heals = [event(str(n), days=-n / 9, loop_id="one", cycle=n, score=n / 9) for n in range(4)]
    assert Desk().grade(heals[::-1])["M"] == 1


def test_a_loop_without_scores_is_null_with_a_note() -> None:
    report = Desk().grade([event(visible_after=None, holdout_after=None)])
    assert report["M"] is None
    assert any("cycles without a score" in note for note in report["notes"])


def test_a_loop_longer_than_can_be_compared_counts_identical_configs_once_each() -> None:
    blocks = [Block(f"config {n % 1500}") for n in range(CYCLES_COMPARED + 1)]
    assert len(list(revisits(blocks, limits=DEFAULTS))) == CYCLES_COMPARED + 1 - 1500


def test_embeddings_may_judge_instead_of_texts() -> None:
    heals = [
        event(str(n), loop_id="one", cycle=n, score=n / 9, change={"after_text": f"{n}" * 9})
        for n in range(3)
    ]
    vectors = [{"heal_id": str(n), "vector": [1, n % 2]} for n in range(3)]
    assert Desk().grade(heals)["M"] == 1
    assert Desk().grade(heals, embeddings=vectors)["M"] == 0.6
    assert Desk().grade(heals, embeddings=vectors[:2])["M"] == 1
