"""``healbot audit``: the chain of the state or of files, and where it breaks."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from healbot.cycle.book import CUT, DEEPEN, LOST, fetching
from healbot.entry.facts import Facts, segments_of
from healbot.entry.loop import who
from healbot.entry.printing import as_json
from healbot.entry.wiring import Shop
from healbot.errors import ChainError, CouldNotTellError, InputError
from healbot.ports import Anchored
from healbot.records.ledger import Entry, Forgotten, Restarted
from healbot.records.record import shown
from healbot.records.settings import AgentSettings
from healbot.rules.chain import ACCEPT, MEND, SET_BACK, Chain, read_chain

SHORTEST_HEAD = 8
"""How many digits of a head are enough to name it."""
_HEAD = re.compile(r"[0-9a-f]{8,64}")
Places = Mapping[str, str]
"""Heads recorded elsewhere, each with where."""


def chosen(shop: Shop, agent: str | None) -> tuple[AgentSettings, ...]:
    """Return the named agent, or all."""
    return (shop.agent(agent),) if agent else shop.settings.agents


def of_state(shop: Shop, agent: AgentSettings, head: str) -> Facts:
    """Return an agent's chain, held against every head that was recorded outside it."""
    anchored = shop.anchors.read(agent.name)
    facts = _facts(segments_of(shop, agent), anchored.heads, head)
    broken = facts["broken"]
    assert isinstance(broken, list)  # noqa: S101 - made below
    said: Facts = {
        "agent": agent.name,
        **facts,
        "broken": [*([anchored.set_back] if anchored.set_back else []), *broken],
        "next": SET_BACK if anchored.set_back else facts["next"],
        "away": "",
    }
    return said if facts["entries"] or anchored.here else said | _absent(anchored)


def _absent(anchored: Anchored) -> Facts:
    """Say why a ledger that has no entry here is none to begin; see ``book.require_here``."""
    fetch = fetching(anchored.remote)
    if anchored.elsewhere:
        return {"away": f"This clone holds no ledger, but {anchored.elsewhere} does", "next": fetch}
    if anchored.shallow:
        return {"away": CUT, "next": DEEPEN}
    if anchored.heads and anchored.ended:
        return {"away": "healbot was removed here", "next": "The next cycle begins a new ledger."}
    return {"broken": [LOST], "next": fetch} if anchored.heads else {}


def of_files(paths: Sequence[Path], head: str) -> Facts:
    """Return the chain in some segment files, in the order of their names.

    Raises:
        InputError: A file can't be read.
    """
    segments = {}
    for path in paths:
        try:
            segments[str(path)] = path.read_bytes()
        except OSError as error:
            raise InputError(
                f"{path} can't be read: {error.strerror}.", "Name segments."
            ) from error
    facts = _facts(segments, {}, head)
    if not facts["entries"]:
        names = ", ".join(map(str, paths))
        nothing = f"no line of {names} is an entry of a ledger"
        facts["broken"] = [nothing]
    return facts


def _facts(segments: dict[str, bytes], places: Places, head: str) -> Facts:
    asked = {_whole(head, read_chain(segments)): "by --head"} if head else {}
    anchors = {**asked, **places}
    chain = read_chain(segments, anchors)
    return {
        "entries": len(chain.entries),
        "head": chain.head,
        "anchors": len(anchors),
        "broken": [f"{one.path}:{one.line}: {one.text}" for one in chain.broken],
        "next": ACCEPT if chain.missing and len(chain.missing) == len(chain.broken) else MEND,
        "excused": _excuses(chain.entries),
        "forgotten": sum(isinstance(one.body, Forgotten) for one in chain.entries),
        "log": [
            {"number": one.number, "at": one.at, "cycle": one.cycle, "kind": one.body.kind}
            for one in chain.entries
        ],
    }


def _whole(head: str, chain: Chain) -> str:
    """Return the whole digest that a head's first digits name; the digits where none does.

    Raises:
        InputError: It is no digest, or too short, or names several lines.
    """
    head = head.strip().lower()
    if not _HEAD.fullmatch(head):
        raise InputError(
            f"{head!r} is no head of a ledger.",
            f"Give its 64 hexadecimal digits, or the first {SHORTEST_HEAD} or more of them.",
        )
    named = sorted({one for one in chain.digests if one.startswith(head)})
    if len(named) > 1:
        raise InputError(f"{len(named)} lines have a digest that begins so.", "Give more digits.")
    return named[0] if named else head


def _excuses(entries: Sequence[Entry]) -> list[Facts]:
    return [
        {
            "number": one.number,
            "at": one.at,
            "heads": len(one.body.heads),
            "base_sha": one.body.base_sha,
            "by": one.body.by,
            "why": one.body.why,
        }
        for one in entries
        if isinstance(one.body, Restarted)
    ]


def accept(shop: Shop, agents: Sequence[AgentSettings], why: str) -> list[str]:
    """Let chains go on without heads that are missing, and record who let them; says what it did.

    Raises:
        ChainError: A line itself is wrong: that is nothing to accept.
        InputError: No reason is given.
    """
    if not why.strip():
        raise InputError("Accepting a state needs a reason.", 'Say audit --accept "why".')
    said = []
    for agent in agents:
        with shop.book(agent).accepting(by=who(), why=why.strip()) as book:
            done = book.restarted
        if done is None:
            said.append(f"{agent.name}: nothing is missing, so nothing was written.")
        else:
            said.append(
                f"{agent.name}: the chain goes on without {len(done.heads)} heads recorded "
                f"elsewhere; the entry {shown(book.head)} says who let it."
            )
    return said


def show(facts: Sequence[Facts], *, verify: bool, as_document: bool) -> None:
    """Print what was read; with ``verify`` a broken chain is an error.

    Raises:
        ChainError: A chain is broken, or files hold no line of one.
        CouldNotTellError: The ledger is not in this clone.
    """
    if as_document:
        as_json(facts[0] if len(facts) == 1 else {"chains": list(facts)})
    broken: list[str] = []
    advice = ""
    for one in facts:
        places = one["broken"]
        assert isinstance(places, list)  # noqa: S101 - made above
        if not as_document:
            _print(one, verify=verify)
        if verify and one.get("away"):
            raise CouldNotTellError(f"{one['agent']}: {one['away']}.", str(one["next"]))
        if "agent" not in one and not one["entries"]:
            raise ChainError(f"{places[0]}.".capitalize(), "Name segments of agents/<name>/audit/.")
        broken += places
        advice = advice or (str(one["next"]) if places else "")
    if verify and broken:
        raise ChainError(
            broken[0] if len(broken) == 1 else f"{len(broken)} places:\n  " + "\n  ".join(broken),
            advice,
        )


def _print(one: Facts, *, verify: bool) -> None:
    name = f"{one['agent']}: " if "agent" in one else ""
    excuses, log = one["excused"], one["log"]
    assert isinstance(excuses, list)  # noqa: S101 - made above
    assert isinstance(log, list)  # noqa: S101 - made above
    if verify and not one["broken"]:
        print(
            f"{name}{one['entries']} entries, the chain holds; {one['anchors']} heads recorded "
            f"elsewhere are in it. Head {one['head']}"
        )
        for each in excuses:
            print(
                f"{name}entry {each['number']} goes on without {each['heads']} heads recorded "
                f"before ({each['at']:%Y-%m-%d}, {each['by']}: {each['why']})"
            )
    if verify:
        return
    for entry in log:
        at = entry["at"].isoformat(timespec="seconds")
        print(f"{name}{entry['number']}\t{at}\t{entry['cycle'] or '-'}\t{entry['kind']}")
