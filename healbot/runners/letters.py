"""What is said to an agent behind a URL, and what its answer means: JSON both ways, no network.

Knows the workspace's texts and the case; reads nothing of what tells right from wrong.
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from healbot.records.run import Job
from healbot.records.settings import AgentSettings
from healbot.rules.layout import harness_of, instructions_path
from healbot.runners import report
from healbot.runners.capture import Capture
from healbot.runners.program import messages_of, text_of
from healbot.runners.veil import Veil

OUTPUT_BYTES = 1_000_000
"""How much of an answer's output is kept (the head and the tail of it), as of a program's."""
BODY_BYTES = OUTPUT_BYTES + report.MAX_BYTES
"""How much of an answer is read as JSON: an output, and a report of the longest kind."""
PASSED_OVER = frozenset({".git", ".venv", "node_modules"})


class Said(NamedTuple):
    """An answer, understood."""

    output: str
    truncated: bool
    seen: report.Report


def letter(job: Job, agent: AgentSettings) -> dict[str, object]:
    """Return the request's body: the task, and the texts that the agent is to follow.

    Raises:
        HealbotError: The workspace does not hold the agent's instructions.
    """
    modes = dict(_modes(job.folder))
    harness = harness_of(modes, lambda path: (job.folder / path).read_bytes(), agent)
    instructions = harness.get(instructions_path(harness, agent))
    return {
        "input": _plain(text_of(job.case) or ""),
        "messages": _plain(messages_of(job.case)),
        "agent": agent.name,
        "case_id": job.case.written_id,
        "seed": job.seed,
        "instructions": _plain(instructions.text if instructions else ""),
        "skills": {one.skill: _plain(one.text) for one in harness.files if one.skill},
        "files": _plain(job.case.files),
    }


def understood(body: Capture, secrets: Mapping[str, str]) -> Said:
    """Return what a body says; the value of a variable that it repeats is named, not shown."""
    veil = Veil(secrets)
    text = body.content().decode("utf-8", "replace")
    fields = {} if body.truncated else _fields(text, veil)
    output = fields.get("output")
    if output is None:
        return _clipped(veil.text(text), report.Report(), truncated=body.truncated)
    said = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return _clipped(veil.text(said), report.of(fields), truncated=False)


def _clipped(text: str, seen: report.Report, *, truncated: bool) -> Said:
    kept = Capture(OUTPUT_BYTES)
    kept.feed(text.encode("utf-8", "replace"))
    cut = truncated or kept.truncated
    return Said(kept.content().decode("utf-8", "replace"), cut, seen)


def _fields(text: str, veil: Veil) -> dict[str, Any]:
    """Return a JSON object's fields; what they hold is veiled once its escapes are read."""
    try:
        value = veil.deep(json.loads(text.removeprefix("\ufeff")))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _plain(value: Any) -> Any:
    """Return data that can be sent as UTF-8, half characters replaced."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _modes(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every file below a folder with its git mode, following no link."""
    for place, folders, names in os.walk(folder):
        linked = [name for name in folders if Path(place, name).is_symlink()]
        folders[:] = sorted({*folders} - {*linked} - PASSED_OVER)
        for name in (*names, *linked):
            path = Path(place, name)
            mode = "120000" if stat.S_ISLNK(path.lstat().st_mode) else "100644"
            yield path.relative_to(folder).as_posix(), mode
