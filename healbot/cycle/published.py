"""What of a run leaves this machine: its address, its verdicts and its cost, no text of it.

Knows the journal's published line and the corpus's; the fullest form that privacy allows elsewhere
is a setting that widens this, never the other way round.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from healbot.records.case import Standing
from healbot.records.ledger import Body, Earned, Used
from healbot.records.record import canonical
from healbot.rules.progress import uses


def beside(agent: str, body: Body, at: datetime) -> dict[str, bytes]:
    """Return the lines that join other state files together with an entry, by path."""
    lines = {f"agents/{agent}/journal/{at:%Y-%m}.jsonl": _join(_runs(body.kind, uses(body)))}
    if isinstance(body, Earned):
        earned = _standings(body.standings, body.used)
        lines[f"agents/{agent}/corpus.jsonl"] = _join(earned)
    return {path: data for path, data in lines.items() if data}


def splits_lines(splits: Mapping[str, str]) -> bytes:
    """Return the lines that record newly given splits."""
    return _join({"cluster": cluster, "split": str(split)} for cluster, split in splits.items())


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
