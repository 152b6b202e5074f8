"""An editor that answers from a file: for tests, dry runs and demonstrations.

Knows the answers' shape. What it says goes through the same guard, gate and canary as any other.
"""

from pydantic import Field, ValidationError

from healbot.errors import InputError
from healbot.records.brief import Brief
from healbot.records.edit import Edit, Hunk, Proposal
from healbot.records.record import Record
from healbot.rules.reading import parse


class Answer(Record):
    """One answer: hunks with a reason.

    Attributes:
        claims: Ids of the cases that it says it fixes; left out: those that failed.
    """

    summary: str = Field(max_length=200)
    reason: str = ""
    hunks: tuple[Hunk, ...] = Field(min_length=1)
    claims: tuple[str, ...] = ()


class Answers(Record):
    """The file: a list of answers under ``proposals``."""

    proposals: tuple[Answer, ...]


class ScriptedEditor:
    """Proposes what its file says, whatever failed."""

    def __init__(self, content: bytes, path: str) -> None:
        try:
            self._answers = Answers.model_validate(parse(content, path).data).proposals
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the top"
            raise InputError(
                f"{path}: {where}: {first['msg']}",
                "A scripted editor's file holds proposals: [{summary, hunks: [{path, op, …}]}].",
            ) from error

    def propose(self, brief: Brief) -> tuple[Proposal, ...]:
        """Return every answer of the file, in its order."""
        failed = tuple(one.case.id for one in brief.failed)
        return tuple(
            Proposal(
                editor="scripted",
                edit=Edit(hunks=answer.hunks),
                summary=answer.summary,
                reason=answer.reason,
                baseline=brief.harness.revision,
                candidate="",
                claims=answer.claims or failed,
                born_of="script",
            )
            for answer in self._answers
        )
