"""``healbot forget``: erases what is kept of a session or of all, and says what it can't reach.

Knows its options and how its answer is printed; the work is done elsewhere.
"""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from healbot.entry.options import HERE, JsonOption, RepoOption, opened
from healbot.entry.printing import as_json
from healbot.entry.wiring import Shop
from healbot.errors import InputError, NotNowError, UsageError
from healbot.records.observed import keyed
from healbot.stores.observed import SHORTEST_PREFIX

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
    from healbot.entry.case_traces import made_of  # noqa: PLC0415 - heavy, only here
    from healbot.entry.forget_note import unfinished  # noqa: PLC0415 - heavy, only here

    if bool(session) == everything:
        raise UsageError("Say what to forget.", "Give --session ID, or --all.")
    with opened(repo) as shop:
        erasure.require_free(shop)
        note = unfinished(shop)
        wanted = None if everything else _full(shop, session, note.session if note else None)
        kept = erasure.survey(shop, wanted)
        digest = None if wanted is None else keyed(wanted)
        cases = made_of(shop, digest)
        if not any(kept) and not (note and note.session == digest):
            _nothing(wanted, cases, as_document=as_document)
            return
        if dry_run:
            facts = {**kept._asdict(), "case_files": list(cases)}
            _tell(facts, as_document=as_document, done=False)
            return
        _require_yes(wanted, kept.records, kept.lines, yes=yes)
        shop.repo.erasing.require_whole()
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
        "case_files": list(cases),
        "cannot_reach": [*map(_of_cases, cases), *erasure.BEYOND],
    }
    _tell(facts, as_document=as_document, done=True)


def _full(shop: Shop, name: str, begun: str | None) -> str:
    """Return a session's key where its name begins it, as ``runs list`` shows it."""
    found = shop.observed.named(name)
    if found:
        return found.key
    is_begun = begun is not None and len(name) >= SHORTEST_PREFIX and begun.startswith(name)
    return begun if begun and is_begun else name


def _of_cases(path: str) -> str:
    return f"{path}: it has cases made of this; take them out, and out of the branch's history"


def _nothing(session: str | None, cases: Sequence[str], *, as_document: bool) -> None:
    if session is not None and cases:
        raise InputError(
            f"Of that session only cases made of it are here, in {', '.join(cases)}.",
            "Take them out by hand, and out of the branch's history.",
        )
    if session is not None:
        raise InputError(
            "Nothing is kept of that session here.", "Check its id, or look in another clone."
        )
    facts = {"records": 0, "lines": 0, "case_files": list(cases)}
    _tell(facts, as_document=as_document, done=False)


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
        files = facts["case_files"]
        assert isinstance(files, list)  # noqa: S101 - made above
        for path in files:
            print(f"Not reached: {_of_cases(path)}.")
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
