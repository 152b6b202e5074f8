"""Which split a case is in: written, recorded, or given by a stable hash and recorded once.

Knows cases and the record only. A case and its near-duplicates are always in one split, so that
what the gate judges on was never shown to an editor.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from healbot.errors import InputError
from healbot.records.case import Case, Split
from healbot.records.record import canonical
from healbot.rules.matching import clusters, shape_of

HELDOUT_SHARE = 0.3
"""Share of the clusters that the hash holds out. It never gives ``test``."""
NEXT_STEP = "Give them the same split, or remove one; healbot cases lint lists all."


class Assigned(NamedTuple):
    """Cases, each with its split, and the whole record to keep.

    Attributes:
        recorded: Split by ``text:<digest>`` and ``id:<case id>``. The first follows the words of a
            case through a new id, the second its id through a new wording.
    """

    cases: tuple[Case, ...]
    recorded: Mapping[str, Split]


def render_record(splits: Mapping[str, Split]) -> bytes:
    """Return the lines that add splits to the record, one a key."""
    lines = (canonical({"cluster": key, "split": str(split)}) for key, split in splits.items())
    return "".join(f"{line}\n" for line in lines).encode()


def parse_record(data: bytes, path: str) -> dict[str, Split]:
    """Read the record back; the last line about a key holds.

    Raises:
        InputError: A line is no record; names it.
    """
    found = {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        try:
            one = json.loads(line)
            found[str(one["cluster"])] = Split(one["split"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}:{number} on healbot/state is no record of a split.",
                "Restore it from the branch's history with git, then run the command again.",
            ) from error
    return found


class _Cluster(NamedTuple):
    """Near-duplicates: their places among the cases, and the key that the hash is taken of."""

    places: tuple[int, ...]
    key: str


def assign(cases: Sequence[Case], recorded: Mapping[str, Split]) -> Assigned:
    """Give every case its split.

    For a whole cluster: what is written, else what is recorded, else train where one of it was born
    of a failure, else a hash. With two clusters or more to choose from, at least one is held out
    and at least one is left to learn from. The record only grows and follows what is written.

    Raises:
        InputError: A case and a near-duplicate of it are in two splits; names both places.
    """
    texts = [f"text:{shape_of(case).key}" for case in cases]
    given: dict[int, Split] = {}
    open_: list[_Cluster] = []
    for places in clusters(cases):
        split = _known(places, cases, texts=texts, recorded=recorded)
        if split is None:
            open_.append(_Cluster(places, min(texts[place] for place in places)))
        else:
            given |= dict.fromkeys(places, split)
    given |= _by_hash(open_, set(given.values()))
    done = tuple(case.model_copy(update={"split": given[at]}) for at, case in enumerate(cases))
    now = dict(recorded)
    for at, case in enumerate(cases):
        now[texts[at]] = now[f"id:{case.id}"] = given[at]
    return Assigned(done, now)


def conflicts(cases: Sequence[Case]) -> tuple[tuple[Case, Case], ...]:
    """Return pairs of near-duplicates that are written into two splits."""
    return tuple(pair for places in clusters(cases) for pair in _torn([cases[at] for at in places]))


def _torn(group: Sequence[Case]) -> list[tuple[Case, Case]]:
    written = [case for case in group if case.split is not None]
    return [(written[0], case) for case in written[1:] if case.split != written[0].split]


def _known(
    places: Sequence[int],
    cases: Sequence[Case],
    *,
    texts: Sequence[str],
    recorded: Mapping[str, Split],
) -> Split | None:
    """Return a cluster's split where anything but the hash decides it."""
    group = [cases[at] for at in places]
    torn = _torn(group)
    if torn:
        one, other = torn[0]
        raise InputError(
            f"{other.origin}: the case {other.id!r} ({other.split}) is a near-duplicate of "
            f"{one.id!r} ({one.split}) at {one.origin}, in another split.",
            NEXT_STEP,
        )
    written = next((case.split for case in group if case.split is not None), None)
    if written is not None:
        return written
    before = {at: recorded.get(texts[at], recorded.get(f"id:{cases[at].id}")) for at in places}
    known = sorted({split for split in before.values() if split is not None})
    if len(known) > 1:
        one, other = (
            cases[next(at for at in places if before[at] == split)] for split in known[:2]
        )
        raise InputError(
            f"{other.origin}: the case {other.id!r} (recorded as {known[1]}) has become a "
            f"near-duplicate of {one.id!r} (recorded as {known[0]}) at {one.origin}.",
            "Write the same split into both, or remove one of them or what joins them.",
        )
    if known:
        return known[0]
    return Split.TRAIN if any(case.born == "failure" for case in group) else None


def _by_hash(open_: Sequence[_Cluster], present: set[Split]) -> dict[int, Split]:
    """Give the clusters that nothing else decides their split."""
    drawn = sorted((_draw(cluster.key), cluster.places) for cluster in open_)
    held = sum(draw < HELDOUT_SHARE for draw, _ in drawn)
    has_other = len(drawn) > 1 or bool(present)
    if Split.HELDOUT not in present and has_other:
        held = max(held, 1)
    if Split.TRAIN not in present:
        held = max(min(held, len(drawn) - 1), 0)
    return {
        place: Split.HELDOUT if rank < held else Split.TRAIN
        for rank, (_, places) in enumerate(drawn)
        for place in places
    }


def _draw(key: str) -> float:
    """Return a number in [0, 1) that depends on the key alone."""
    return int.from_bytes(hashlib.sha256(f"split {key}".encode()).digest()[:8], "big") / 2**64
