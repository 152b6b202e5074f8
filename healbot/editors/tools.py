"""The tools of an editor's model, and what it says with the last of them.

Knows their schemas; what they do is the workspace's and the conversation's business.
"""

from typing import Any

from pydantic import Field, ValidationError

from healbot.records.chat import ToolSpec
from healbot.records.edit import Prediction
from healbot.records.record import Record

READ, EDIT, PROPOSE, DECLINE = "read", "edit", "propose", "decline"
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}


class Offer(Record):
    """What ``propose`` says of the edits made so far."""

    summary: str = Field(min_length=1, max_length=200)
    reason: str = Field("", max_length=4_000)
    claims: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    prediction: tuple[Prediction, ...] = Field(min_length=1)


def offer_of(args: dict[str, Any], cases: frozenset[str], lessons: frozenset[str]) -> Offer | str:
    """Return what a call of ``propose`` says, or what is wrong with it, in a sentence."""
    try:
        offer = Offer.model_validate(args)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"{where}: {first['msg']}"
    predicted = [one.case for one in offer.prediction]
    strange = sorted({*offer.claims, *predicted} - cases)
    if strange:
        return f"no failing case is called {strange[0]!r}; they are {', '.join(sorted(cases))}"
    if len(predicted) != len(set(predicted)):
        return "the prediction names a case twice"
    uncited = sorted(set(offer.cites) - lessons)
    if uncited:
        return f"there is no lesson {uncited[0]!r}"
    return offer


def _object(needed: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(needed),
        "additionalProperties": False,
    }


def specs() -> tuple[ToolSpec, ...]:
    """Return the tools as a model is told of them."""
    ops = {
        "type": "string",
        "enum": ["replace", "insert-after", "insert-before", "delete", "append"],
    }
    prediction = _object(
        ("case", "way"),
        case=_TEXT,
        way={"type": "string", "enum": ["better", "same", "worse"]},
    )
    return (
        ToolSpec(
            name=READ,
            description="Show one of the agent's instruction files, with your edits so far.",
            parameters=_object(("path",), path=_TEXT),
        ),
        ToolSpec(
            name=EDIT,
            description="Change one place of a file. anchor is text quoted exactly from the file "
            "that occurs there once; append takes none. delete takes no text.",
            parameters=_object(("path", "op"), path=_TEXT, op=ops, anchor=_TEXT, text=_TEXT),
        ),
        ToolSpec(
            name=PROPOSE,
            description="Propose the edits made so far, and end.",
            parameters=_object(
                ("summary", "reason", "claims", "prediction"),
                summary={**_TEXT, "description": "Up to 70 characters, imperative."},
                reason=_TEXT,
                claims={**_TEXTS, "description": "Ids of the failing cases that this fixes."},
                cites={**_TEXTS, "description": "Keys of the lessons that it rests on."},
                prediction={"type": "array", "items": prediction},
            ),
        ),
        ToolSpec(
            name=DECLINE,
            description="Propose nothing, because no edit to these files would help.",
            parameters=_object(("reason",), reason=_TEXT),
        ),
    )
