"""``healbot audit``: the chain of the state or of files, and where it breaks."""

from collections.abc import Sequence
from pathlib import Path

from healbot.entry.facts import Facts, anchors_of, segments_of
from healbot.entry.printing import as_json
from healbot.entry.wiring import Shop
from healbot.errors import ChainError, CouldNotTellError, InputError
from healbot.records.settings import AgentSettings
from healbot.rules.chain import read_chain


def chosen(shop: Shop, agent: str | None) -> tuple[AgentSettings, ...]:
    """Return the named agent, or all."""
    return (shop.agent(agent),) if agent else shop.settings.agents


def of_state(shop: Shop, agent: AgentSettings, head: str) -> Facts:
    """Return an agent's chain, held against every head that was recorded outside it."""
    anchors = (*anchors_of(shop, agent), *([head] if head else []))
    facts = _facts(segments_of(shop, agent), anchors)
    return {"agent": agent.name, **facts}


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
    return _facts(segments, [head] if head else [])


def _facts(segments: dict[str, bytes], anchors: Sequence[str]) -> Facts:
    chain = read_chain(segments, anchors)
    return {
        "entries": len(chain.entries),
        "head": chain.head,
        "anchors": len(anchors),
        "broken": [f"{one.path}:{one.line}: {one.text}" for one in chain.broken],
        "log": [
            {"number": one.number, "at": one.at, "cycle": one.cycle, "kind": one.body.kind}
            for one in chain.entries
        ],
    }


def show(facts: Sequence[Facts], *, verify: bool, as_document: bool) -> None:
    """Print what was read; with ``verify`` a broken chain is an error.

    Raises:
        ChainError: A chain is broken.
    """
    if as_document:
        as_json(facts[0] if len(facts) == 1 else {"chains": list(facts)})
    broken: list[str] = []
    for one in facts:
        places = one["broken"]
        assert isinstance(places, list)  # noqa: S101 - made above
        broken += places
        if not as_document:
            _print(one, verify=verify)
        if verify and not one["entries"] and one["anchors"]:
            raise CouldNotTellError(
                f"This clone holds no ledger, but {one['anchors']} heads of one are recorded in "
                "its commits.",
                "Fetch healbot/state, or set forge.remote; after an uninstall there is none.",
            )
    if verify and broken:
        raise ChainError(
            broken[0] if len(broken) == 1 else f"{len(broken)} places:\n  " + "\n  ".join(broken),
            "Nothing is written until it holds; restore the state branch from a clone that has it.",
        )


def _print(one: Facts, *, verify: bool) -> None:
    name = f"{one['agent']}: " if "agent" in one else ""
    if verify and not one["broken"]:
        print(
            f"{name}{one['entries']} entries, the chain holds; {one['anchors']} heads recorded "
            f"elsewhere are in it. Head {one['head']}"
        )
    if verify:
        return
    log = one["log"]
    assert isinstance(log, list)  # noqa: S101 - made above
    for entry in log:
        at = entry["at"].isoformat(timespec="seconds")
        print(f"{name}{entry['number']}\t{at}\t{entry['cycle'] or '-'}\t{entry['kind']}")
