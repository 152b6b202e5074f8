"""The note of a forgetting under way, by which a second call finishes what a first one began.

Knows its file of the clone's private folder, which holds digests only.
"""

import json
from pathlib import Path

from pydantic import Field

from healbot.entry.wiring import Shop
from healbot.errors import InputError
from healbot.records.record import Record, canonical

NOTE = "forgetting.json"


class Note(Record):
    """An act of forgetting under way.

    Attributes:
        session: SHA-256 of the session's id; None: everything.
        tips: Where the state branch stood before.
        since: Its first commit that held the content, or empty.
        blobs: What held it there.
        moved: The new commit of each that is made again, so that other refs can follow.
        objects: Objects that were to go when the call was cut off.
    """

    act: str
    session: str | None
    by: str
    records: int = 0
    lines: int = 0
    tips: tuple[str, ...] = ()
    since: str = ""
    blobs: tuple[str, ...] = ()
    moved: dict[str, str] = Field(default_factory=dict)
    objects: tuple[str, ...] = ()


def unfinished(shop: Shop) -> Note | None:
    """Return the act that an earlier call began and did not finish, or None."""
    try:
        return Note.model_validate_json(place_of(shop).read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise InputError(
            f"{place_of(shop)} is no note of healbot forget: it was damaged.",
            "Delete it, then run healbot forget once more.",
        ) from error


def place_of(shop: Shop) -> Path:
    """Return where the note lies."""
    return shop.repo.private / NOTE


def noted(shop: Shop, note: Note) -> Note:
    """Write the note, whole or not at all, and return it."""
    place = place_of(shop)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = place.with_suffix(".draft")
    draft.write_text(canonical(json.loads(note.model_dump_json())))
    draft.replace(place)
    return note
