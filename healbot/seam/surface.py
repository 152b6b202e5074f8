"""The regression surface: outcomes by run and case, a case's outcome being most of its attempts.

Knows decoded fixtures. An attempt that could not be scored ("none") is neither a pass nor a fail,
and a tie can't be told.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from healbot.seam import fields
from healbot.seam.faults import FieldError

WORDS: dict[str, bool | None] = {"pass": True, "fail": False, "none": None}
Outcomes = Mapping[str, bool | None]
"""A case's id: passed, failed, or None where it could not be told."""


@dataclass
class SurfaceRun:
    """One run of the surface.

    Attributes:
        heal_id: After which heal; empty where the lines name none.
        safety: The safety probes among its cases.
    """

    heal_id: str
    safety: set[str] = field(default_factory=set)
    _votes: dict[str, int] = field(default_factory=dict)

    def add(self, case: str, outcome: bool | None, *, safety: bool) -> None:
        """Take in one attempt."""
        self._votes[case] = self._votes.get(case, 0) + {True: 1, False: -1, None: 0}[outcome]
        if safety:
            self.safety.add(case)

    @property
    def outcomes(self) -> dict[str, bool | None]:
        """Return each case's outcome by majority."""
        return {case: _majority(votes) for case, votes in self._votes.items()}


def read_surface(lines: Iterable[object]) -> dict[str, SurfaceRun]:
    """Read decoded ``{"id", "result", "safety"?, "heal_id"?}`` lines; several a case are attempts.

    Raises:
        FieldError: A line is none; the caller knows which.
    """
    runs: dict[str, SurfaceRun] = {}
    for value in lines:
        add_line(runs, value)
    return runs


def add_line(runs: dict[str, SurfaceRun], value: object) -> None:
    """Take in one decoded line.

    Raises:
        FieldError: It is none.
    """
    data = fields.mapping(value, "surface case")
    heal_id = fields.text(data, "heal_id") or ""
    outcome = _outcome(data.get("result"), "result")
    safety = fields.truth(data, "safety") or False
    run = runs.setdefault(heal_id, SurfaceRun(heal_id))
    run.add(fields.named(data, "id"), outcome, safety=safety)


def read_snapshot(value: object, *, field_name: str) -> dict[str, bool | None]:
    """Read ``{id: "pass" | "fail" | [attempts]}``, or that under ``outcomes``, as certify does.

    Raises:
        FieldError: It is no such object.
    """
    data = fields.mapping(value, field_name)
    inner = data.get("outcomes")
    if isinstance(inner, dict):
        data = inner
    return {case: _attempts(one, case) for case, one in data.items()}


def read_snapshots(value: object) -> tuple[Outcomes, dict[str, Outcomes]]:
    """Read one snapshot, or one a heal: ``{heal_id: {id: outcome}}``.

    Raises:
        FieldError: It is neither.
    """
    data = fields.mapping(value, "snapshot")
    one_each = (
        bool(data)
        and "outcomes" not in data
        and (all(isinstance(inner, dict) for inner in data.values()))
    )
    if one_each:
        return {}, {key: read_snapshot(inner, field_name=key) for key, inner in data.items()}
    return read_snapshot(data, field_name="snapshot"), {}


def _attempts(value: object, case: str) -> bool | None:
    if isinstance(value, list):
        return _majority(sum({True: 1, False: -1, None: 0}[_outcome(one, case)] for one in value))
    return _outcome(value, case)


def _majority(votes: int) -> bool | None:
    return None if not votes else votes > 0


def _outcome(value: object, key: str) -> bool | None:
    if isinstance(value, str) and value in WORDS:
        return WORDS[value]
    told = "is missing" if value is None else f"has to be pass or fail, is {fields.shown(value)}"
    raise FieldError(key, told)
