"""What of a run leaves this machine: its address, its verdicts and its cost, no text of it.

Knows the journal's published line and the corpus's; the fullest form that privacy allows elsewhere
is a setting that widens this, never the other way round.
"""

from collections.abc import Iterable, Mapping

from healbot.records.case import Standing
from healbot.records.ledger import Applied, Body, Earned, Entry, RolledBack, Used
from healbot.records.record import canonical
from healbot.rules.progress import Progress, uses


def lines_beside(agent: str, entry: Entry, progress: Progress) -> dict[str, bytes]:
    """Return the lines that join other state files together with an entry, by path.

    ``progress`` is what stood before it.
    """
    body = entry.body
    runs = _join(_runs(body.kind, uses(body)))
    lines = {
        f"agents/{agent}/journal/{entry.at:%Y-%m}.jsonl": runs,
        f"agents/{agent}/corpus.jsonl": _join(_corpus(body, progress)),
    }
    return {path: data for path, data in lines.items() if data}


def _corpus(body: Body, progress: Progress) -> Iterable[Mapping[str, object]]:
    """What each case earned or lost by an entry; the last line about a case holds."""
    match body:
        case Earned():
            yield from _standings(body.standings, body.used)
        case Applied():
            for case in body.fixed:
                yield {"case": case, "standing": str(Standing.FIXED), "revision": body.after}
        case RolledBack():
            undone = (
                merge
                for merge in progress.merges
                if merge.rolled_back is None and merge.applied.sha == body.reverted_sha
            )
            plain = str(Standing.PLAIN)
            for case in (case for merge in undone for case in merge.applied.fixed):
                yield {"case": case, "standing": plain, "revision": body.after}
        case _:
            return


def _runs(decision: str, used: Iterable[Used]) -> Iterable[Mapping[str, object]]:
    for one in used:
        for place, (repeat, outcome) in enumerate(zip(one.repeats, one.outcomes, strict=True)):
            yield {
                "decision": decision,
                "case": one.case,
                "revision": one.revision,
                "runner": one.runner,
                "repeat": repeat,
                "outcome": str(outcome),
                "tokens": one.tokens[place],
            }


def _standings(
    standings: Mapping[str, Standing], used: Iterable[Used]
) -> Iterable[Mapping[str, object]]:
    for one in used:
        if one.case in standings:
            yield {
                "case": one.case,
                "standing": str(standings[one.case]),
                "revision": one.revision,
                "repeats": list(one.repeats),
            }


def _join(lines: Iterable[Mapping[str, object]]) -> bytes:
    return "".join(canonical(line) + "\n" for line in lines).encode()
