"""Outlines: what is kept of a million changed blocks, so that few have to be read again.

Knows texts only. An outline is a length and how often a few groups of letters occur; where two
outlines differ too much, the texts can't be alike, whatever they say.
"""

from operator import sub

from healbot.seam.schema import Change

GROUPS = (b"e", b"t", b"a", b"or", b"inl")
"""Letters that are counted together; all others make one more group."""
COUNTED_MOST = 255
"""What is counted beyond it passes for another character: that only loosens the bound."""
NO_TEXT, NOT_TOLD = -1, -2
"""In place of a length: there is no text; or the block is still to be computed."""
_BLANK = b"\0\0\0\0\0"

Outline = tuple[int, bytes]
"""The block's length (or why there is none) and how many letters of each group it has."""


def outline_of(change: Change) -> Outline:
    """Return the outline of what a change wrote, as ``changed_block`` would say it."""
    return outline(change.block, change.after_text, change.before_text)


def outline(block: str | None, after: str | None, before: str | None) -> Outline:
    """Return the outline of a change's block, or of its text after where there is none before."""
    if block is None:
        if after is None:
            return NO_TEXT, _BLANK
        if before is not None:
            return NOT_TOLD, _BLANK
        block = after
    raw = block.encode(errors="replace")
    size = len(raw)
    counts = [size - len(raw.translate(None, one)) for one in GROUPS]
    if max(counts) > COUNTED_MOST:
        counts = [min(one, COUNTED_MOST) for one in counts]
    return len(block), bytes(counts)


def may_be_alike(one: Outline, other: Outline, threshold: float) -> bool:
    """Return False only where the ratio of the two texts can't be above the threshold.

    Characters in common are at most half of both lengths less what the counts differ by, and
    difflib's matches are at most the characters in common.
    """
    left, right = one[0], other[0]
    if left < 0 or right < 0:
        return NO_TEXT not in {left, right}
    total = left + right
    if not total:
        return False  # two empty blocks are no return
    if 2.0 * min(left, right) / total <= threshold:
        return False
    apart: int = sum(map(abs, map(sub, one[1], other[1])))
    apart += abs(left - sum(one[1]) - right + sum(other[1]))
    common = (total - apart) // 2
    return threshold < 2.0 * common / total
