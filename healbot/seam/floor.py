"""The A/A floor: how much gap, regression and churn two identical harnesses show.

Knows three measured shares. It is reported beside the axes, and taken off only on request.
"""

from dataclasses import dataclass

from healbot.seam import fields
from healbot.seam.faults import FieldError

NAMES = ("gap", "regression", "churn")


@dataclass(frozen=True)
class Floor:
    """Measured shares; what is None was not measured."""

    gap: float | None = None
    regression: float | None = None
    churn: float | None = None

    def document(self) -> dict[str, object]:
        """Return it beside the axes that it belongs to."""
        return {"E": {"gap": self.gap}, "A": {"regression": self.regression, "churn": self.churn}}


NO_FLOOR = Floor()


def parse_floor(value: object) -> Floor:
    """Read ``{"gap", "regression", "churn"}``.

    Raises:
        FieldError: It is no such object, or holds an unknown name.
    """
    data = fields.mapping(value, "floor")
    for key in data:
        if key not in NAMES:
            raise FieldError(key, f"is no part of a floor; use {', '.join(NAMES)}")
    return Floor(*(fields.share(data, key) for key in NAMES))
