"""An edit: anchored changes with a reason; a proposal: an edit with its evidence.

Knows the shape only; applying and inverting are ``rules/edits.py``, what no edit may do is
``rules/guard.py``.
"""

from datetime import date
from typing import Literal

from pydantic import Field, model_validator

from healbot.records.record import Record, digest_of

Op = Literal["replace", "insert-after", "insert-before", "delete", "append"]


class Hunk(Record):
    """One anchored change in one file.

    Attributes:
        anchor: Exact text that occurs exactly once in the file; empty only for ``append``.
        text: What replaces or joins it; empty only for ``delete``.
    """

    path: str
    op: Op
    anchor: str = ""
    text: str = ""

    @model_validator(mode="after")
    def _whole(self) -> "Hunk":
        if self.op == "append" and self.anchor:
            raise ValueError("append takes no anchor")
        if self.op == "delete" and self.text:
            raise ValueError("delete takes no text")
        if self.op not in {"delete", "replace"} and not self.text:
            raise ValueError(f"{self.op} needs text")
        return self


class Edit(Record):
    """A set of anchored replacements, insertions and deletions, applied in order, or not at all."""

    hunks: tuple[Hunk, ...] = Field(min_length=1)

    @property
    def digest(self) -> str:
        """Names the edit's content."""
        return digest_of(self)


class Earlier(Record):
    """A person's no, or a verdict, to the same edit; and what is new since, a phrase each.

    Attributes:
        number: The pull request, where there was one.
        what: What became of it: ``closed``, ``rolled back`` or ``refused``.
    """

    number: int | None = None
    what: str
    by: str = ""
    on: date
    new_since: tuple[str, ...] = ()


class Prediction(Record):
    """What a proposal says will become of a training case; recorded, and scored later."""

    case: str
    way: Literal["better", "same", "worse"]


class Proposal(Record):
    """An edit with why, from whom, and the revision that it yields.

    Attributes:
        claims: Ids of the cases that it says it fixes.
        cites: Keys of the lessons that it rests on.
        prediction: Which cases it says will go which way, each case once.
        prompt: Digest of the prompt that a model was given; empty: no model wrote it.
        born_of: ``lesson`` edits wait for a person unless a setting lets them through.
    """

    editor: str
    edit: Edit
    summary: str = Field(max_length=200)
    reason: str = ""
    baseline: str
    candidate: str
    claims: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    prediction: tuple[Prediction, ...] = ()
    prompt: str = ""
    born_of: Literal["lesson", "model", "script", "person"] = "script"
    needs_person: tuple[str, ...] = Field((), description="Why a person must look, if one must.")
    earlier: tuple[Earlier, ...] = Field((), description="The same edit, refused before.")

    @property
    def digest(self) -> str:
        """Names the proposal."""
        return digest_of(self)
