"""``healbot forget``: erases what is kept of a session or of all, and says what it can't reach.

Knows its options and how its answer is printed; the work is done elsewhere.
"""

import sys
from typing import Annotated

import typer

from healbot.entry.options import HERE, JsonOption, RepoOption, opened
from healbot.entry.printing import as_json
from healbot.errors import InputError, NotNowError, UsageError

SessionOption = Annotated[str, typer.Option("--session", help="The session's id.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def forget(
    *,
    session: SessionOption = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Every session, and the clone's runs with their texts.")
    ] = False,
    yes: YesOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go.")] = False,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Erase a session's content, from history too; the chain stays whole."""
    from healbot.entry import erasure  # noqa: PLC0415 - heavy, only here

    if bool(session) == everything:
        raise UsageError("Say what to forget.", "Give --session ID, or --all.")
    wanted = None if everything else session
    with opened(repo) as shop:
        erasure.require_free(shop)
        kept = erasure.survey(shop, wanted)
        note = erasure.unfinished(shop)
        digest = None if wanted is None else erasure.session_digest(wanted)
        if not any(kept) and not (note and note.session == digest):
            _nothing(wanted, as_document=as_document)
            return
        if dry_run:
            _tell(kept._asdict(), as_document=as_document, done=False)
            return
        _require_yes(wanted, kept.records, kept.lines, yes=yes)
        if note:
            done = erasure.carry_out(shop, note)
        if note is None or note.session != digest:
            done = erasure.carry_out(shop, erasure.begun(shop, wanted, kept))
    facts = {
        "records": done.note.records,
        "lines": done.note.lines,
        "objects": done.removed,
        "objects_stayed": done.stayed,
        "held_by": list(done.holders),
        "session": done.note.session,
        "act": done.note.act,
        "cannot_reach": list(erasure.BEYOND),
    }
    _tell(facts, as_document=as_document, done=True)


def _nothing(session: str | None, *, as_document: bool) -> None:
    if session is not None:
        raise InputError(
            "Nothing is kept of that session here.", "Check its id, or look in another clone."
        )
    _tell({"records": 0, "lines": 0}, as_document=as_document, done=False)


def _require_yes(session: str | None, records: int, lines: int, *, yes: bool) -> None:
    if yes:
        return
    what = "everything" if session is None else "this session"
    if not sys.stdin.isatty():
        raise UsageError(
            f"Forgetting {what} can't be undone, so it has to be confirmed.", "Add --yes."
        )
    question = f"Erase {what}: {records} files here and {lines} lines of the state? No way back."
    if not typer.confirm(question, err=True):
        raise NotNowError("Nothing was erased.", "healbot forget --yes erases it.")


def _tell(facts: dict[str, object], *, as_document: bool, done: bool) -> None:
    if as_document:
        as_json({"done": done, **facts})
        return
    verb = "Erased" if done else "Would erase"
    print(f"{verb} {facts['records']} files of this clone and {facts['lines']} lines of the state.")
    if not done:
        return
    print(f"{facts['objects']} git objects that held them are gone from this clone.")
    held = facts["held_by"]
    assert isinstance(held, list)  # noqa: S101 - made above
    if held:
        print(f"Your own refs still hold the old commits: {', '.join(held)}. Delete them.")
    if facts["objects_stayed"]:
        print(
            f"{facts['objects_stayed']} objects had to stay: a ref, reflog, stash or kept pack of "
            "yours holds them."
        )
    print("The ledgers record that this was done, not what. Not reached:")
    reach = facts["cannot_reach"]
    assert isinstance(reach, list)  # noqa: S101 - made above
    for line in reach:
        print(f"  - {line}")
