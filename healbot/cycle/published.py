"""What of a run leaves this machine: its address, its verdicts and its cost, no text of it.

Knows the journal's published line, the corpus's and that of an observed run; the privacy setting
widens a line by texts without secrets and personal data, never the other way round.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal

from healbot.records.case import Standing
from healbot.records.ledger import Applied, Body, Earned, Entry, RolledBack, Used
from healbot.records.observed import UNKNOWN_REVISION, ObservedRun, keyed
from healbot.records.record import canonical
from healbot.records.run import Outcome, Run, RunKey
from healbot.rules.privacy import redact_value
from healbot.rules.progress import Progress, uses
from healbot.rules.signature import observed_signature, published_signature

Level = Literal["verdicts", "redacted", "full"]
Widen = Callable[[RunKey], Mapping[str, Any]]
"""What of a run's texts joins its published line."""
TEXT_CHARACTERS = 20_000
"""How much of one text is published; the state branch is to stay small."""


def no_texts(_: RunKey) -> Mapping[str, Any]:
    """Publish verdicts only."""
    return {}


def widening(level: Level, find: Callable[[RunKey], Run | None]) -> Widen:
    """Return what a privacy level adds to a run's line; ``find`` reads the clone's journal."""
    if level == "verdicts":
        return no_texts

    def texts(key: RunKey) -> Mapping[str, Any]:
        run = find(key)
        if run is None:
            return {}
        whole = run.model_dump(mode="json", exclude={"schema_version", "key", "case_id"})
        kept = whole if level == "full" else {one: whole[one] for one in ("stdout", "stderr")}
        return {"run": _shortened(redact_value(kept).value)}

    return texts


def observed_path(agent: str, run: ObservedRun) -> str:
    """Return the state file that an observed run's line belongs into."""
    return f"agents/{agent}/runs/{run.at:%Y-%m}.jsonl"


def observed_line(run: ObservedRun, level: Level, *, words: Collection[str]) -> Mapping[str, Any]:
    """Return what is published of an observed run, which is already redacted.

    ``words`` are those of signatures that users wrote themselves; no other word is shown.
    """
    failed = run.verdict == Outcome.FAIL
    signature = observed_signature(run) if failed else None
    line: dict[str, Any] = {
        "session": keyed(run.session),
        "step": run.digest,
        "at": run.at.isoformat(),
        "revision": run.revision,
        "verdict": str(run.verdict),
        "signature": published_signature(signature, words) if signature else None,
    }
    if level == "redacted":
        line |= {"input": run.input, "output": run.output, "error": run.error}
    elif level == "full":
        whole = run.model_dump(mode="json", exclude={"schema_version"})
        line |= {name: value for name, value in whole.items() if name not in line}
        line |= {"signature": signature}
    return {name: _shortened(value) for name, value in line.items()}


def observed_before(content: bytes) -> dict[str, str]:
    """Return the steps that a state file tells of, each with its revision; the last line holds."""
    told: dict[str, str] = {}
    for line in content.splitlines():
        try:
            raw = json.loads(line)
            told[raw["step"]] = str(raw["revision"])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return told


def is_news(run: ObservedRun, told: Mapping[str, str]) -> bool:
    """Say whether a line is to be written: of a new step, or of one that is dated by now."""
    before = told.get(run.digest)
    return before is None or (before == UNKNOWN_REVISION and run.revision != UNKNOWN_REVISION)


def _shortened(value: Any) -> Any:
    """Cut long texts inside plain data."""
    if isinstance(value, str):
        cut = f"{value[:TEXT_CHARACTERS]}… ({len(value)} characters)"
        text = value if len(value) <= TEXT_CHARACTERS else cut
        return text.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {str(key): _shortened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(inner) for inner in value]
    return value


def lines_beside(
    agent: str, entry: Entry, progress: Progress, *, widen: Widen = no_texts
) -> dict[str, bytes]:
    """Return the lines that join other state files together with an entry, by path.

    ``progress`` is what stood before it; ``widen`` adds what privacy allows of each run.
    """
    body = entry.body
    runs = _join(_runs(body.kind, uses(body), widen))
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


def _runs(decision: str, used: Iterable[Used], widen: Widen) -> Iterable[Mapping[str, object]]:
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
                **widen(
                    RunKey(revision=one.revision, case=one.case, runner=one.runner, repeat=repeat)
                ),
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
