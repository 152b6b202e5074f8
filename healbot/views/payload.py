"""The machine's copy of a card inside its text: one hidden comment, compressed.

Knows how a card is packed and unpacked, and what is left out first where it grows too large. The
base64 alphabet has no hyphen, so nothing inside can end the comment. bz2 has one implementation,
so the same card gives the same text on every machine.
"""

import base64
import binascii
import bz2
import json
import re
from collections.abc import Iterator

from pydantic import ValidationError

from healbot.records.card import Card
from healbot.records.record import canonical

UNPACKED_LIMIT = 2 * 1024 * 1024
"""Bytes; a payload that unpacks to more is no card of ours, so none is packed from more."""

KEPT_TEXT = 160
KEPT_REASONS = 3
"""What the smallest payload keeps of title and reasons."""

LINE = re.compile(r"^<!-- healbot:payload 1 ([A-Za-z0-9+/=]+) -->[ \t]*\r?$", re.MULTILINE)


def pack(card: Card, limit: int) -> str:
    """Return the comment, at most ``limit`` characters; details are left out in stages to fit."""
    text = ""
    for stage in _stages(card):
        plain = canonical(stage.model_dump(mode="json", exclude_defaults=True)).encode()
        if len(plain) >= UNPACKED_LIMIT:
            continue
        packed = base64.b64encode(bz2.compress(plain)).decode()
        text = f"<!-- healbot:payload 1 {packed} -->"
        if len(text) <= limit:
            break
    return text


def unpack(text: str) -> Card | None:
    """Read the last payload line of a text, or None where there is none that is whole."""
    found = LINE.findall(text)
    if not found:
        return None
    try:
        unpacker = bz2.BZ2Decompressor()
        plain = unpacker.decompress(base64.b64decode(found[-1], validate=True), UNPACKED_LIMIT)
        return Card.model_validate(json.loads(plain)) if unpacker.eof else None
    except (binascii.Error, OSError, EOFError, ValidationError, ValueError, RecursionError):
        return None


def _stages(card: Card) -> Iterator[Card]:
    yield card
    less = card.model_copy(update={"runs": (), "complete": False})
    yield less
    less = less.model_copy(update={"lessons": (), "tried": (), "changes": ()})
    yield less
    canary = card.canary.model_copy(update={"left_out": ()}) if card.canary else None
    less = less.model_copy(update={"rows": (), "why": (), "canary": canary})
    yield less
    reasons = tuple(
        reason.model_copy(
            update={
                "rule": reason.rule[:KEPT_TEXT],
                "text": reason.text[:KEPT_TEXT],
                "case": reason.case[:KEPT_TEXT] if reason.case else reason.case,
            }
        )
        for reason in card.reasons[:KEPT_REASONS]
    )
    kept = {"agent", "word", "cycle", "baseline", "candidate", "ledger", "cost", "fixed_trigger"}
    values = {name: getattr(card, name) for name in kept}
    merging = card.merging.__class__(mode=card.merging.mode)
    title = card.title[:KEPT_TEXT]
    yield Card(**values, title=title, merging=merging, reasons=reasons, complete=False)
