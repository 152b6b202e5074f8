"""A lesson: a scoped statement that outlives a run.

Standard library only: it is on the hook path.
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson.

    Attributes:
        key: Names it within its scope.
        value: The statement, one imperative sentence.
        seen_count: Sightings in distinct runs.
        first_seen_at, last_seen_at: In UTC.
        helped, hurt: Votes of decided cycles that cited it.
        trigger: A failure signature, or a word for what set it off.
    """

    key: str
    value: str
    scope: str = "global"
    tags: tuple[str, ...] = ()
    trigger: str = ""
    seen_count: int = 1
    first_seen_at: datetime | None = None
    last_seen_at: datetime | None = None
    helped: int = 0
    hurt: int = 0
    source: str = ""
    path: str = ""
