"""Heal events and fixtures as lines and files, for the tests of the seam."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO

from healbot.seam.command import Door, run
from healbot.seam.schema import HealEvent, parse_event

START = datetime(2026, 6, 2, 12, tzinfo=UTC)


def at(days: float) -> str:
    return (START + timedelta(days=days)).isoformat()


def event(heal_id: Any = "h1", *, days: float = 0, **more: Any) -> dict[str, Any]:
    """A healthy heal; ``signature`` and any field of the record may be given."""
    signature = more.pop("signature", "timeout:fetch:checkout")
    data = {
        "heal_id": heal_id,
        "ts": at(days),
        "loop_id": f"loop-{heal_id}",
        "cycle": 1,
        "level": 2,
        "trigger": {"failure_signature": signature, "evidence": "3 timeouts"},
        "visible_before": 0.5,
        "visible_after": 0.75,
        "holdout_before": 0.5,
        "holdout_after": 0.75,
        "was_real_failure": True,
        **more,
    }
    return {key: value for key, value in data.items() if value is not ...}


def heal_event(heal_id: str = "h1", *, days: float = 0, **more: Any) -> HealEvent:
    return parse_event(event(heal_id, days=days, **more))


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@dataclass
class Desk:
    """A door onto files in memory."""

    files: dict[str, bytes] = field(default_factory=dict)
    out: str = ""
    told: str = ""

    def put(self, name: str, content: object) -> str:
        if isinstance(content, bytes):
            self.files[name] = content
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            self.files[name] = text.encode()
        return name

    def _open(self, path: str) -> BinaryIO:
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return io.BytesIO(self.files[path])

    def _save(self, path: str, text: str) -> None:
        self.files[path] = text.encode()

    def _write(self, text: str) -> None:
        self.out += text

    def _tell(self, text: str) -> None:
        self.told += text

    def run(self, *words: str, today: str = "2026-06-10") -> int:
        self.out = self.told = ""
        door = Door(self._open, self._save, self._write, self._tell, today)
        return run(words, door)

    def grade(
        self, heals: Sequence[Mapping[str, Any]], *words: str, **fixtures: Any
    ) -> dict[str, Any]:
        """Grade heals with fixtures given as values; lists are files of lines."""
        self.put("heals.jsonl", lines(*heals))
        given = []
        for name, value in fixtures.items():
            text = lines(*value) if isinstance(value, list) and name != "protected" else value
            given += [f"--{name}", self.put(name, text)]
        self.code = self.run("--heals", "heals.jsonl", *given, *words)
        assert self.code != 3, self.told
        report: dict[str, Any] = json.loads(self.out)
        return report
