"""Optional: configs compared by embeddings that the user computed, instead of by their text.

Knows vectors by heal id. Two configs are alike where the cosine is above the similarity limit;
where a vector is missing, their texts decide.
"""

import math
import operator
from collections.abc import Iterable

from healbot.seam import fields
from healbot.seam.faults import FieldError
from healbot.seam.heals import Heal
from healbot.seam.monotonicity import Alike

Vectors = dict[str, tuple[float, ...]]


def parse_vector(value: object) -> tuple[str, tuple[float, ...]]:
    """Read one decoded ``{"heal_id", "vector": [numbers]}`` line.

    Raises:
        FieldError: It is none.
    """
    data = fields.mapping(value, "embedding")
    numbers = data.get("vector")
    if not isinstance(numbers, list) or not numbers:
        raise FieldError("vector", f"has to be a list of numbers, is {fields.shown(numbers)}")
    if not all(type(one) in {int, float} and abs(one) < 1e100 for one in numbers):  # noqa: PLR2004
        raise FieldError("vector", "holds something that is no finite number")
    return fields.named(data, "heal_id"), tuple(float(one) for one in numbers)


def unit_vectors(pairs: Iterable[tuple[str, tuple[float, ...]]]) -> Vectors:
    """Return the vectors at length one; a vector of zeros tells nothing and is left out."""
    found: Vectors = {}
    for name, vector in pairs:
        length = math.hypot(*vector)
        if length:
            found[name] = tuple(one / length for one in vector)
    return found


def alike_by(vectors: Vectors, similarity: float) -> Alike:
    """Return a comparison by cosine; it can't tell where a vector is missing or of other size."""

    def alike(one: Heal, other: Heal) -> bool | None:
        left, right = vectors.get(one.heal_id), vectors.get(other.heal_id)
        if left is None or right is None or len(left) != len(right):
            return None
        return math.fsum(map(operator.mul, left, right)) > similarity

    return alike
