"""Forgetting: what is kept of a session, erased from this clone and from the state's history.

Knows the order, and a note that lets a second call finish what a first one began: the state branch
without the lines, an entry in each ledger, the clone's own files, and last the objects that held
them. The note holds digests only.
"""

import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from healbot.cycle.book import Book
from healbot.entry.forget_note import Note, noted, place_of
from healbot.entry.loop import who
from healbot.entry.outside import workspaces_of
from healbot.entry.wiring import Shop
from healbot.errors import NotNowError, StaleError
from healbot.forges.erasing import Erased
from healbot.ports import Swap
from healbot.records.ledger import Forgotten
from healbot.records.observed import keyed
from healbot.rules.forgetting import concerned, without
from healbot.runners import folders
from healbot.stores.state import ANCHOR_PREFIX, STATE_REF, TIP_REF

ATTEMPTS = 8
WHOLE = ("journal", "homes", "workspaces")
"""Folders of the clone that only forgetting everything empties."""
LAST_FAILED = "last-failed-*.json"
BEYOND = (
    "other clones and forks: run healbot forget there as well",
    "what a remote keeps of the branch's old commits until it collects its garbage",
    "logs and artifacts of CI runs, and mails or webhooks that were sent",
    "what the agents' own tools keep of the session",
    "texts of pull requests, comments and merged commits",
)
"""What no command here can reach."""


class Kept(NamedTuple):
    """What is kept: files of the clone, and lines of the state branch and its history."""

    records: int
    lines: int


class Outcome(NamedTuple):
    """What was done.

    Attributes:
        removed: How many git objects went from this clone.
        stayed: How many that held content had to stay.
        holders: Refs of the user's that still hold the old commits.
    """

    note: Note
    removed: int
    stayed: int
    holders: tuple[str, ...]


def survey(shop: Shop, session: str | None) -> Kept:
    """Count what is kept of a session (by its id), or of all; nothing is changed."""
    digest = None if session is None else keyed(session)
    return Kept(len(_files(shop, digest)), _lines(shop, digest))


def require_free(shop: Shop) -> None:
    """Raise where somebody alive holds a lease."""
    for agent in shop.settings.agents:
        held = shop.permit.holder(agent.name)
        if held:
            raise NotNowError(
                f"A cycle of {agent.name!r} is under way ({held.holder}); nothing was erased.",
                "Wait for it or end it, then run this again.",
            )


def begun(shop: Shop, session: str | None, kept: Kept) -> Note:
    """Note an act of forgetting, so that a second call can finish it."""
    digest = None if session is None else keyed(session)
    note = Note(
        act=secrets.token_hex(8), session=digest, by=who(), records=kept.records, lines=kept.lines
    )
    return noted(shop, note)


def carry_out(shop: Shop, note: Note) -> Outcome:
    """Carry an act of forgetting to its end; what is done already is not done again."""
    with ExitStack() as stack:
        books = [stack.enter_context(shop.book(agent)) for agent in shop.settings.agents]
        note = _rewrite(shop, note)
        for book in books:
            _record(book, note)
        _erase_files(shop, note.session)
        note, erased = _erase_objects(shop, note)
    place_of(shop).unlink(missing_ok=True)
    holders = shop.repo.erasing.holders(note.since) if note.since else ()
    stayed = len(erased.left | (erased.held & set(note.blobs)))
    return Outcome(note, erased.removed, stayed, holders)


def _rewrite(shop: Shop, note: Note) -> Note:
    """Put a history without the lines in the place of the state branch's."""
    session = note.session
    for _ in range(ATTEMPTS):
        state = shop.store.load().sha
        if state is None:
            return note
        moved, blobs = shop.repo.rewriting.without(
            state, lambda path, content: without(path, content, session)[0], concerned
        )
        if not moved:
            shop.repo.rewriting.follow(note.moved)  # an earlier call may have been cut off before
            return note
        tips = tuple(dict.fromkeys((*note.tips, state)))
        since = note.since or next(iter(moved))
        blobs = tuple(dict.fromkeys((*note.blobs, *blobs)))
        told = {"tips": tips, "since": since, "blobs": blobs, "moved": {**note.moved, **moved}}
        note = noted(shop, note.model_copy(update=told))
        swaps = [Swap(STATE_REF, state, moved[state])]
        refs = {**shop.repo.refs(ANCHOR_PREFIX), TIP_REF: shop.repo.resolve(TIP_REF) or ""}
        swaps += [Swap(ref, sha, moved[sha]) for ref, sha in refs.items() if sha in moved]
        try:
            shop.repo.swap(swaps)
        except StaleError:
            continue
        shop.repo.rewriting.follow(note.moved)
        return note
    raise NotNowError("The state branch keeps moving.", "Run the command again in a minute.")


def _record(book: Book, note: Note) -> None:
    if note.act not in book.acts():
        body = Forgotten(
            act=note.act,
            by=note.by,
            session=note.session,
            records=note.records,
            lines=note.lines,
        )
        book.append(body, cycle=None)


def _erase_objects(shop: Shop, note: Note) -> tuple[Note, Erased]:
    erasing = shop.repo.erasing
    erasing.forget_reflogs()
    mark = b'"session":"' + (note.session or "").encode()
    names = dict.fromkeys(note.objects)
    names |= dict.fromkeys(erasing.only_below((*note.tips, *erasing.lost_commits())))
    names |= dict.fromkeys(erasing.loose_with(mark))
    note = noted(shop, note.model_copy(update={"objects": tuple(names)}))
    erased = erasing.erase(names)
    if erased.removed:
        erasing.forget_graph()
    return note, erased


def _erase_files(shop: Shop, session: str | None) -> None:
    shop.observed.erase(session)
    if session is not None:
        return
    for name in WHOLE:
        folders.remove(shop.repo.private / name)
    folders.remove(workspaces_of(shop.repo.private))
    for path in shop.repo.private.glob(LAST_FAILED):
        path.unlink(missing_ok=True)


def _files(shop: Shop, session: str | None) -> Sequence[Path]:
    """Return the clone's files that hold content of a session (by its key), or of any."""
    found = list(shop.observed.files(session))
    if session is None:
        places = [shop.repo.private / name for name in WHOLE]
        found += [path for place in places for path in place.rglob("*") if path.is_file()]
        found += shop.repo.private.glob(LAST_FAILED)
    return found


def _lines(shop: Shop, session: str | None) -> int:
    state = shop.store.load().sha
    if state is None:
        return 0
    rewriting = shop.repo.rewriting
    paths = {
        touch.blob: touch.path
        for commit in rewriting.commits(state)
        for touch in commit.touches
        if touch.blob and concerned(touch.path)
    }
    gone = {
        (paths[blob], line)
        for blob, content in rewriting.contents(paths)
        for line in without(paths[blob], content, session)[1]
    }
    return len(gone)
