"""The records of SEAM: a heal event and its line in ``heal_events.jsonl``.

Knows the shape and its limits; reads no file and judges nothing. ``render_event`` and
``parse_event`` stand side by side: what one writes, the other reads.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime

from healbot.seam import fields
from healbot.seam.faults import FieldError
from healbot.seam.fields import Data

Shares = tuple[float | None, float | None, float | None, float | None, float | None]
CYCLES_MOST = 10**9
LEVELS_MOST = 3
SCORE_KINDS = ("holdout", "visible")


@dataclass(slots=True)
class Change:
    """What a heal changed.

    Attributes:
        target: The part that was changed, for instance a prompt's name.
        before_hash: The revision before.
        after_text: The text after: the changed block, or the whole where ``before_text`` is whole.
        before_text: The text before, of the same extent; the changed block is then computed.
        block: The changed block itself, where whole texts are given and the writer knows it.
    """

    target: str | None = None
    before_hash: str | None = None
    after_text: str | None = None
    before_text: str | None = None
    block: str | None = None


@dataclass(slots=True)
class HealEvent:
    """One heal. What is None is not known; scores are shares from 0 to 1.

    Not frozen: a million are read, and freezing costs as much as reading the JSON.

    Attributes:
        ts: When it was made, in UTC.
        loop_id: Groups the cycles that attacked the same failure.
        level: 0 retry, 1 task state, 2 agent configuration, 3 shared memory.
        failure_signature: ``errortype:tool:context``, deterministic.
        was_real_failure: What the retry probe found; False: a plain retry passed.
        score: The cycle's own score; ``score_kind`` says whether held-out or visible.
        in_force_at: When the change began to act (the merge); left out: ``ts``.
        revision: The revision that the heal made, as failures name theirs.
        break_glass: Why its spending is not escalated, where a person said so.
    """

    heal_id: str
    ts: datetime
    loop_id: str
    cycle: int
    failure_signature: str
    evidence: str | None = None
    level: int | None = None
    change: Change = field(default_factory=Change)
    visible_before: float | None = None
    visible_after: float | None = None
    holdout_before: float | None = None
    holdout_after: float | None = None
    score: float | None = None
    tokens_spent: int | None = None
    task_tokens: int | None = None
    was_real_failure: bool | None = None
    score_kind: str | None = None
    in_force_at: datetime | None = None
    revision: str | None = None
    break_glass: str | None = None


_SCALARS = (
    "level", "visible_before", "visible_after", "holdout_before", "holdout_after", "tokens_spent",
    "task_tokens", "was_real_failure", "score", "score_kind", "revision", "break_glass",
)  # fmt: skip
_CHANGES = ("target", "before_hash", "after_text", "before_text", "block")


def render_event(event: HealEvent) -> str:
    """Return the event's line for ``heal_events.jsonl``, with its line break."""
    trigger = {"failure_signature": event.failure_signature}
    if event.evidence is not None:
        trigger["evidence"] = event.evidence
    data: dict[str, object] = {
        "heal_id": event.heal_id,
        "ts": event.ts.isoformat(),
        "loop_id": event.loop_id,
        "cycle": event.cycle,
        "trigger": trigger,
    }
    change = {key: getattr(event.change, key) for key in _CHANGES}
    if any(value is not None for value in change.values()):
        data["change"] = {key: value for key, value in change.items() if value is not None}
    known = {key: getattr(event, key) for key in _SCALARS}
    data |= {key: value for key, value in known.items() if value is not None}
    if event.in_force_at is not None:
        data["in_force_at"] = event.in_force_at.isoformat()
    return json.dumps(data) + "\n"


def parse_event(value: object) -> HealEvent:
    """Read one decoded line; fields that are not known here are let be.

    Raises:
        FieldError: It is no heal event; names the field.
    """
    data = fields.mapping(value, "heal event")
    trigger = fields.mapping(data.get("trigger") or _missing(data, "trigger"), "trigger")
    cycle = fields.whole(data, "cycle", most=CYCLES_MOST)
    if cycle is None:
        raise FieldError("cycle", "is missing")
    in_force_at = data.get("in_force_at")
    visible_before, visible_after, holdout_before, holdout_after, score = _shares(data)
    return HealEvent(
        fields.named(data, "heal_id"),
        fields.instant(data.get("ts"), "ts")[0],
        fields.named(data, "loop_id"),
        cycle,
        fields.named(trigger, "failure_signature", prefix="trigger."),
        fields.text(trigger, "evidence", prefix="trigger."),
        fields.whole(data, "level", most=LEVELS_MOST),
        parse_change(data.get("change")),
        visible_before,
        visible_after,
        holdout_before,
        holdout_after,
        score,
        fields.whole(data, "tokens_spent", most=fields.TOKENS_MOST),
        fields.whole(data, "task_tokens", most=fields.TOKENS_MOST),
        fields.truth(data, "was_real_failure"),
        _kind(data),
        None if in_force_at is None else fields.instant(in_force_at, "in_force_at")[0],
        fields.text(data, "revision"),
        fields.text(data, "break_glass"),
    )


def _shares(data: Data) -> Shares:
    """Most are there, and right: look at all before asking for each."""
    get = data.get
    found = (
        get("visible_before"),
        get("visible_after"),
        get("holdout_before"),
        get("holdout_after"),
        get("score"),
    )
    for one in found:
        if type(one) is not float or not 0.0 <= one <= 1.0:
            return (
                fields.share(data, "visible_before"),
                fields.share(data, "visible_after"),
                fields.share(data, "holdout_before"),
                fields.share(data, "holdout_after"),
                fields.share(data, "score"),
            )
    return found  # type: ignore[return-value]  # each was looked at


def _missing(data: Data, key: str) -> object:
    if data.get(key) is None:
        raise FieldError(key, "is missing")
    return data[key]


def parse_change(value: object) -> Change:
    """Read the change of an event; missing as a whole, it says nothing.

    Raises:
        FieldError: It is no object, or holds something that is no text.
    """
    if value is None:
        return Change()
    data = fields.mapping(value, "change")
    get = data.get
    found = (
        get("target"),
        get("before_hash"),
        get("after_text"),
        get("before_text"),
        get("block"),
    )
    for one in found:
        if one is not None and type(one) is not str:
            return Change(*(fields.text(data, key, prefix="change.") for key in _CHANGES))
    return Change(*found)  # type: ignore[arg-type]  # each was looked at


def _kind(data: Data) -> str | None:
    kind = fields.text(data, "score_kind")
    if kind is not None and kind not in SCORE_KINDS:
        raise FieldError("score_kind", f"has to be holdout or visible, is {fields.shown(kind)}")
    return kind
