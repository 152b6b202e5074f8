"""The chain: the next line of a ledger, and whether a ledger's lines are whole.

Knows entries and bytes. Finds an edited, inserted, removed or reordered line by itself; a cut tail
or a chain rewritten from scratch it finds with the heads anchored elsewhere.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from pydantic import Field

from healbot.errors import ChainError
from healbot.records.ledger import GENESIS, Body, Entry, Restarted, Spend
from healbot.records.record import Record, digest_bytes, shown

_SEGMENT = re.compile(r"(?:^|/)(agents/[^/]+/audit/\d{4}-\d\d\.jsonl)$")
"""A segment's place on the state branch, wherever a copy of it lies."""
MEND = (
    "Run healbot audit --verify for the whole list. No cycle, merge, close or rollback goes on "
    "until it holds: put the state branch back from its own history or from a clone that has it."
)
ACCEPT = (
    "Look with healbot audit --verify and git log healbot/state. No cycle, merge, close or "
    "rollback goes on until it holds: put the branch back (its newest commits are under "
    "refs/healbot/tip and refs/healbot/anchor/), or, where it is so on purpose, run "
    'healbot audit --accept "why".'
)
SET_BACK = (
    "Look with git log refs/healbot/tip; put it back with git update-ref refs/heads/healbot/state "
    "refs/healbot/tip (on the remote where there is one), or, where it is so on purpose, run "
    'healbot audit --accept "why".'
)
"""What to do about a broken chain, one that lacks heads recorded elsewhere, a branch set back."""


class Broken(Record):
    """One place where the chain does not hold."""

    path: str
    line: int
    text: str
    missing: str = Field("", description="The head recorded elsewhere that no line has.")


class Chain(Record):
    """A ledger as read: its entries as far as it holds, its head, and where it breaks.

    Attributes:
        digests: Of every line, in order.
    """

    entries: tuple[Entry, ...] = ()
    head: str = GENESIS
    broken: tuple[Broken, ...] = ()
    digests: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Heads that were recorded elsewhere, and that no line has."""
        return tuple(one.missing for one in self.broken if one.missing)


def audit_path(agent: str, at: datetime) -> str:
    """Return the segment of the state branch that holds an instant's entries."""
    return f"agents/{agent}/audit/{at:%Y-%m}.jsonl"


def extend(
    chain: Chain, body: Body, *, agent: str, cycle: str | None, at: datetime, spent: Spend
) -> Entry:
    """Return the next entry of a whole chain; time never goes back along it.

    Raises:
        ChainError: The chain does not hold, so nothing may be built on it.
    """
    require_whole(chain)
    last = chain.entries[-1] if chain.entries else None
    return Entry(
        number=last.number + 1 if last else 1,
        previous=chain.head,
        at=max(at, last.at) if last else at,
        agent=agent,
        cycle=cycle,
        spent=spent,
        body=body,
    )


def require_whole(chain: Chain) -> None:
    """Raise where a chain is broken, with the first place."""
    if chain.broken:
        first = chain.broken[0]
        where = f" at {first.path}:{first.line}" if first.path else ""
        raise ChainError(
            f"The ledger's chain is broken{where}: {first.text}",
            ACCEPT if first.missing else MEND,
        )


def require_linked(chain: Chain) -> None:
    """Raise where a line itself is wrong; heads that are missing are let pass."""
    require_whole(
        chain.model_copy(update={"broken": tuple(one for one in chain.broken if not one.missing)})
    )


def recorded(anchors: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    """Return heads with where each is recorded, in words."""
    return dict(anchors) if isinstance(anchors, Mapping) else dict.fromkeys(anchors, "elsewhere")


def read_chain(
    segments: Mapping[str, bytes], anchors: Mapping[str, str] | Iterable[str] = ()
) -> Chain:
    """Read segments in the order of their names and say where they do not hold.

    Args:
        segments: Path to bytes, one line an entry, each line ended by a newline.
        anchors: Heads recorded outside: each must be the digest of some line, or be excused by an
            entry; with where each is recorded, in words.
    """
    entries: list[Entry] = []
    broken: list[Broken] = []
    digests: list[str] = []
    head, number = GENESIS, 0
    for path in sorted(segments):
        for place, raw in enumerate(_lines(segments[path]), start=1):
            entry, wrong = _read(raw, head=head, number=number, path=path)
            if wrong:
                broken.append(Broken(path=path, line=place, text=wrong))
            if not raw.strip():
                continue
            head = digest_bytes(raw.removesuffix(b"\n"))
            digests.append(head)
            number = entry.number if entry else number + 1
            if entry:
                entries.append(entry)
    end = max(segments, default="")
    held = {GENESIS, *digests, *_excused(entries)}
    broken += [
        Broken(
            path=end,
            line=len(_lines(segments.get(end, b""))) + 1,
            text=f"no line has the digest {shown(anchor)}, which was recorded {where}: lines are "
            "cut off at the end, or the chain was rewritten",
            missing=anchor,
        )
        for anchor, where in recorded(anchors).items()
        if anchor not in held
    ]
    return Chain(entries=tuple(entries), head=head, broken=tuple(broken), digests=tuple(digests))


def _excused(entries: Iterable[Entry]) -> Iterable[str]:
    for entry in entries:
        if isinstance(entry.body, Restarted):
            yield from entry.body.heads


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _read(raw: bytes, *, head: str, number: int, path: str) -> tuple[Entry | None, str]:
    """Read one line against what came before it; returns the entry and what is wrong."""
    if not raw.strip() or not raw.endswith(b"\n"):
        empty = "an empty line was put in"
        return None, "the line is cut off in the middle" if raw.strip() else empty
    try:
        entry = Entry.parse(raw[:-1].decode())
    except ValueError as error:
        return None, f"the line was edited or damaged ({error})"
    if entry.previous != head:
        return entry, _unlinked(entry.number, number)
    if entry.number != number + 1:
        return entry, f"the line is numbered {entry.number}, not {number + 1}"
    place = _SEGMENT.search(path)
    if place and place[1] != audit_path(entry.agent, entry.at):
        return entry, "the line stands in the wrong agent's or month's file"
    return entry, ""


def _unlinked(here: int, before: int) -> str:
    """Say why a line does not hold the digest of the one before it."""
    if here > before + 1:
        return f"{here - before - 1} line(s) before this one were removed"
    if here <= before:
        return "the line is inserted, repeated or out of order"
    return "the line before this one was edited, or this one was put in its place"
