"""From lines to observed runs and their redacted form: what is read, what is ours, what is damaged.

Pure. A run of healbot's own making is never learned from, so it is refused here.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from healbot.records.observed import ObservedRun, session_key
from healbot.rules.privacy import redact, redact_value

MARK = "HEALBOT_"
"""Variables that healbot sets in the environment of the runs that it makes."""
LONGEST_LINE = 64_000_000
"""Characters of one line; a longer one is skipped as damaged."""


class Read(NamedTuple):
    """What was read.

    Attributes:
        runs: As they are written, in the order of their lines; not to be kept before ``cleaned``.
        damaged: Numbers of the lines that are no run record.
        ours: Numbers of the lines that healbot's own runs left.
    """

    runs: tuple[ObservedRun, ...]
    damaged: tuple[int, ...]
    ours: tuple[int, ...]


def read_runs(lines: Iterator[bytes], own_folders: Sequence[str] = ()) -> Read:
    """Read run records, one JSON object a line; empty lines are passed over."""
    runs, damaged, ours = [], [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        raw = _object(line)
        if raw is None:
            damaged.append(number)
        elif _is_ours(raw, own_folders):
            ours.append(number)
        elif (run := _run(raw)) is None:
            damaged.append(number)
        else:
            runs.append(run)
    return Read(tuple(runs), tuple(damaged), tuple(ours))


def cleaned(run: ObservedRun) -> ObservedRun:
    """Return a run without secrets and personal data; a session id that holds some is its key."""
    plain = run.model_dump(mode="json")
    kept = {name: plain.pop(name) for name in ("session", "at", "revision", "commit")}
    if kept["session"] != redact(kept["session"]):
        kept["session"] = session_key(run.session)
    return ObservedRun.model_validate({**redact_value(plain).value, **kept})


def _object(line: bytes) -> dict[str, Any] | None:
    if len(line) > LONGEST_LINE:
        return None
    try:
        raw = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def _run(raw: dict[str, Any]) -> ObservedRun | None:
    try:
        return ObservedRun.model_validate(raw)
    except (ValueError, RecursionError):
        return None


def _is_ours(raw: dict[str, Any], own_folders: Sequence[str]) -> bool:
    """Our runs carry our variables' names, or lie in folders that we made."""
    if any(key.startswith(MARK) for key in raw):
        return True
    environment = raw.get("env") or raw.get("environment")
    if isinstance(environment, dict) and any(str(key).startswith(MARK) for key in environment):
        return True
    cwd = raw.get("cwd")
    return isinstance(cwd, str) and any(
        cwd == folder or cwd.startswith(folder.rstrip("/") + "/") for folder in own_folders
    )
