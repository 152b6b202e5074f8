"""The quick way from a decoded line to a heal, for lines of the usual shape: most are.

Knows what ``parse_event`` and ``Intake.take`` do, and does the same at a fraction of the cost;
whatever is unusual, wrong or missing goes their way, which also says what is wrong.
"""

import sys
from collections.abc import Sequence
from functools import lru_cache
from types import NoneType
from typing import Any

from healbot.seam import fields
from healbot.seam.faults import FieldError
from healbot.seam.gates import spending_ratio
from healbot.seam.heals import Heal, Intake
from healbot.seam.outlines import outline
from healbot.seam.schema import CYCLES_MOST, LEVELS_MOST, SCORE_KINDS, Change

Kinds = frozenset[Any]
_TEXT: Kinds = frozenset([str, NoneType])
_WHOLE: Kinds = frozenset([int, NoneType])
_SHARE: Kinds = frozenset([float, int, NoneType])
_FIELDS: dict[str, Kinds] = {
    "visible_before": _SHARE,
    "visible_after": _SHARE,
    "holdout_before": _SHARE,
    "holdout_after": _SHARE,
    "score": _SHARE,
    "cycle": frozenset([int]),
    "level": _WHOLE,
    "tokens_spent": _WHOLE,
    "task_tokens": _WHOLE,
    "heal_id": frozenset([str]),
    "loop_id": frozenset([str]),
    "ts": frozenset([str]),
    "trigger": frozenset([dict]),
    "change": frozenset([dict, NoneType]),
    "was_real_failure": frozenset([bool, NoneType]),
    "score_kind": _TEXT,
    "in_force_at": _TEXT,
    "revision": _TEXT,
    "break_glass": _TEXT,
}
"""Each field that is looked at, and the types with which a line is of the usual shape."""
_SHARES, _RANGED, _OTHERS = 5, 9, 7
"""Where the shares end, where the numbers with a range end, and where all others begin."""
_CHANGES = ("target", "before_hash", "after_text", "before_text", "block")
_NO_CHANGE = (None,) * len(_CHANGES)


def quick_heal(intake: Intake, value: object, place: int) -> tuple[Heal, bool] | None:
    """Take in a decoded line; returns the heal and whether its time names a zone.

    None, and nothing taken in, where the line is not of the usual shape, be it right or wrong.
    """
    if type(value) is not dict:
        return None
    values: list[Any] = [*map(value.get, _FIELDS)]
    if not (_are_usual(tuple(map(type, values))) and _are_in_range(values)):
        return None
    change = value.get("change")
    texts = _NO_CHANGE if change is None else (*map(change.get, _CHANGES),)
    if not _are_texts(tuple(map(type, texts))):
        return None
    try:
        return _taken(intake, values, texts=texts, place=place)
    except FieldError:  # a time that is none, or a trigger without its signature
        return None


@lru_cache(maxsize=256)
def _are_usual(kinds: tuple[type, ...]) -> bool:
    return all(kind in known for kind, known in zip(kinds, _FIELDS.values(), strict=True))


@lru_cache(maxsize=64)
def _are_texts(kinds: tuple[type, ...]) -> bool:
    return all(kind in _TEXT for kind in kinds)


def _are_in_range(values: Sequence[Any]) -> bool:
    one, two, three, four, five, cycle, level, spent, task = values[:_RANGED]
    return (
        (one is None or 0 <= one <= 1)
        and (two is None or 0 <= two <= 1)
        and (three is None or 0 <= three <= 1)
        and (four is None or 0 <= four <= 1)
        and (five is None or 0 <= five <= 1)
        and 0 <= cycle <= CYCLES_MOST
        and (level is None or 0 <= level <= LEVELS_MOST)
        and (spent is None or 0 <= spent <= fields.TOKENS_MOST)
        and (task is None or 0 <= task <= fields.TOKENS_MOST)
    )


def _taken(
    intake: Intake, values: Sequence[Any], *, texts: tuple[str | None, ...], place: int
) -> tuple[Heal, bool] | None:
    (
        spent, task, heal_id, loop_id, ts, trigger, _, real, kind, in_force_at, revision, glass,
    ) = values[_OTHERS:]  # fmt: skip
    signature = trigger.get("failure_signature")
    is_named = heal_id and loop_id and signature and type(signature) is str
    is_known = kind is None or kind in SCORE_KINDS
    if not (is_named and is_known and type(trigger.get("evidence")) in _TEXT):
        return None
    instant, is_zoned = fields.instant(ts, "ts")
    at = force = instant.timestamp()
    if in_force_at is not None:
        force = fields.instant(in_force_at, "in_force_at")[0].timestamp()
    touched, bounded, tainted = None, False, None
    if intake.protected is not None or intake.holdout is not None:
        touched, bounded, tainted = intake.look_into(Change(*texts))
    _, before, after_text, before_text, block = texts
    row = intake.columns.add(
        tuple(values[:_SHARES]),
        ratio=spending_ratio(spent, task),
        before=before,
        place=place,
        outline=outline(block, after_text, before_text),
    )
    return Heal(
        heal_id,
        at,
        sys.intern(loop_id),
        values[5],
        sys.intern(signature),
        real,
        kind,
        glass,
        force,
        revision and sys.intern(revision),
        touched,
        bounded,
        tainted,
        intake.columns,
        row,
    ), is_zoned
