"""Monotonicity: does a loop get better, or does it thrash? M, per loop over its cycles.

Extra dips beyond the first, returns to an earlier config (on the changed block, two or more cycles
apart), and running into the cap: M_loop = 1 − 0.4·dips − 0.4·returns − 0.2·cap, within 0 and 1;
M is the mean. Knows heals and their blocks; reads nothing.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from healbot.seam.blocks import Block
from healbot.seam.defaults import Limits
from healbot.seam.heals import Heal, Texts
from healbot.seam.outlines import may_be_alike
from healbot.seam.similarity import Prepared, are_alike

HELDOUT, VISIBLE, LOGGED = "held-out", "visible", "as logged"
CYCLES_COMPARED = 2_000
"""In a longer loop a cycle returns only where its block is identical, and counts once."""

Alike = Callable[[Heal, Heal], bool | None]
"""Another way to tell whether two heals' configs are alike; None where it can't."""


class LoopScore(NamedTuple):
    """One loop.

    Attributes:
        score: None where its cycles have no scores.
        cycles: How many.
        scores: Theirs, where something is wrong with the loop; else empty, to save room.
        scored_on: Which scores it stands on.
        revisits: Pairs of heals, the earlier first, whose configs are the same again.
    """

    loop_id: str
    score: float | None
    cycles: int
    scores: tuple[float, ...]
    scored_on: str
    extra_dips: int
    revisits: tuple[tuple[str, str], ...]
    hit_cap: bool


@dataclass(frozen=True)
class MonotonicityScore:
    """M with the loops behind it."""

    score: float | None
    loops: tuple[LoopScore, ...]
    notes: tuple[str, ...]


def monotonicity_score(
    loops: Sequence[Sequence[Heal]],
    texts: Texts,
    *,
    alike: Alike | None = None,
    limits: Limits,
) -> MonotonicityScore:
    """Score loops.

    Args:
        loops: The heals of each loop that no gate blocked.
        texts: Returns a heal's changed block.
        alike: Compares configs instead of their texts, for instance by embeddings.
        limits: The defaults, or what a user set.
    """
    scored = tuple(_loop(cycles, texts, alike=alike, limits=limits) for cycles in loops)
    known = [one.score for one in scored if one.score is not None]
    score = math.fsum(known) / len(known) if known else None
    return MonotonicityScore(score, scored, tuple(_notes(scored)))


def _loop(
    cycles: Sequence[Heal], texts: Texts, *, alike: Alike | None, limits: Limits
) -> LoopScore:
    cycles = sorted(cycles, key=lambda one: (one.cycle, one.at))
    scores, scored_on = cycle_scores(cycles)
    if scores is None:
        return LoopScore(cycles[0].loop_id, None, len(cycles), (), scored_on, 0, (), hit_cap=False)
    found: tuple[tuple[int, int], ...] = ()
    if len(cycles) > limits.revisit_cycles:
        needed = _suspects(cycles, limits) if alike is None else range(len(cycles))
        blocks = [texts(one) if place in needed else None for place, one in enumerate(cycles)]
        found = tuple(revisits(blocks, limits=limits, alike=_between(cycles, alike)))
    dips = sum(later < earlier for earlier, later in pairwise(scores))
    extra_dips = max(0, dips - int(limits.free_dips))
    hit_cap = len(scores) >= limits.depth_cycles
    score = loop_score(extra_dips, len(found), hit_cap=hit_cap, limits=limits)
    return LoopScore(
        cycles[0].loop_id,
        score,
        len(cycles),
        scores if score < 1 else (),
        scored_on,
        extra_dips,
        tuple((cycles[earlier].heal_id, cycles[later].heal_id) for earlier, later in found),
        hit_cap,
    )


def loop_score(extra_dips: int, returns: int, *, hit_cap: bool, limits: Limits) -> float:
    """Return M of one loop from its three pathologies."""
    lost = (
        limits.dip_penalty * extra_dips
        + limits.revisit_penalty * returns
        + limits.cap_penalty * hit_cap
    )
    return max(0.0, min(1.0, 1 - lost))


def cycle_scores(cycles: Sequence[Heal]) -> tuple[tuple[float, ...] | None, str]:
    """Return a loop's scores and their kind: the cycles' own, else held-out, else visible.

    Held-out scores that are the same in every cycle are the loop's, copied, and tell nothing.
    """
    _, visible_all, heldout_before, heldout_all, own_all = zip(
        *[one.shares for one in cycles], strict=True
    )
    own, heldout, visible = _all(own_all), _all(heldout_all), _all(visible_all)
    if own is not None:
        kinds = {one.score_kind for one in cycles}
        if kinds == {"holdout"} or (kinds == {None} and own == heldout and own != visible):
            return own, HELDOUT
        if kinds == {"visible"} or (kinds == {None} and own == visible and own != heldout):
            return own, VISIBLE
        return own, LOGGED
    pairs = set(zip(heldout_before, heldout_all, strict=True))
    if heldout is not None and (len(cycles) == 1 or len(pairs) > 1):
        return heldout, HELDOUT
    return visible, VISIBLE


def _all(values: tuple[float | None, ...]) -> tuple[float, ...] | None:
    return None if None in values else values  # type: ignore[return-value]  # none is missing


def _suspects(cycles: Sequence[Heal], limits: Limits) -> Collection[int]:
    """Return the places of the cycles that could be a return, or returned to: few, as a rule."""
    if len(cycles) > CYCLES_COMPARED:
        return range(len(cycles))
    outlines = [one.outline for one in cycles]
    apart, found = int(limits.revisit_cycles), set[int]()
    for later, outline in enumerate(outlines):
        for earlier in range(later - apart + 1):
            if may_be_alike(outlines[earlier], outline, limits.similarity):
                found |= {earlier, later}
    return found


def revisits(
    blocks: Sequence[Block | None],
    *,
    limits: Limits,
    alike: Callable[[int, int], bool | None] | None = None,
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of places, the earlier first, whose blocks are more alike than the limit.

    Additions are compared with additions, deletions with deletions by what they removed; an empty
    block is no config to come back to.
    """
    apart = int(limits.revisit_cycles)
    if len(blocks) > CYCLES_COMPARED:
        yield from _identical(blocks, apart) if limits.similarity < 1 else ()
        return
    prepared = [None if one is None or one.is_empty else Prepared(one.text) for one in blocks]
    for earlier, left in enumerate(blocks):
        old = prepared[earlier]
        for later in range(earlier + apart, len(blocks)):
            told = alike(later, earlier) if alike else None
            right, new = blocks[later], prepared[later]
            if told is None and old and new and left and right and left.removed == right.removed:
                told = are_alike(new, old, limits.similarity)
            if told:
                yield earlier, later
        if old is not None:
            old.forget()


def _identical(blocks: Sequence[Block | None], apart: int) -> Iterator[tuple[int, int]]:
    first: dict[Block, int] = {}
    for place, block in enumerate(blocks):
        if (
            block is not None
            and not block.is_empty
            and place - first.setdefault(block, place) >= apart
        ):
            yield first[block], place


def _between(
    cycles: Sequence[Heal], alike: Alike | None
) -> Callable[[int, int], bool | None] | None:
    if alike is None:
        return None
    return lambda later, earlier: alike(cycles[later], cycles[earlier])


def _notes(loops: Sequence[LoopScore]) -> Iterator[str]:
    unknown = sum(one.score is None for one in loops)
    if unknown:
        yield f"M: {unknown} of {len(loops)} loops have cycles without a score and are not scored."
    for kind in (HELDOUT, VISIBLE, LOGGED):
        count = sum(one.score is not None and one.scored_on == kind for one in loops)
        if count:
            what = "cycle scores as logged" if kind == LOGGED else f"{kind} scores"
            yield f"M: {count} of {len(loops)} loops are judged on {what}."
    long = sum(one.cycles > CYCLES_COMPARED for one in loops)
    if long:
        yield (
            f"M: {long} loops have more than {CYCLES_COMPARED:,} cycles; only identical configs "
            "count as returns in them, each once."
        )
