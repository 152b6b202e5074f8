"""The embedded editor: a lesson that recurred becomes a proposed rule. It needs no model.

Knows lessons and failures as data. A lesson is advice until it was seen often enough, is fresh, and
has not hurt more than it helped; it is matched to a failure by words, literally.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from healbot.errors import HealbotError
from healbot.records.brief import Brief, FailedCase
from healbot.records.edit import Edit, Proposal
from healbot.records.lesson import Lesson
from healbot.records.settings import LessonsSettings
from healbot.rules.additions import id_of, path_of, to_add

RETIRE_AT = 2
"""A lesson retires once hurt outnumbers helped by so much (spec: learning across cycles)."""
MOST = 2
"""How many lessons are proposed at once, each as an edit of its own."""
LONGEST_SUMMARY = 72

_WORD = re.compile(r"[a-z0-9]{3,}")


class LessonsEditor:
    """Proposes a rule from each lesson that recurred and fits a failure."""

    def __init__(
        self, settings: LessonsSettings, now: Callable[[], datetime], protect: tuple[str, ...] = ()
    ) -> None:
        self._settings = settings
        self._now = now
        self._protect = protect

    def propose(self, brief: Brief) -> tuple[Proposal, ...]:
        """Return proposals, the best-fitting lesson first."""
        ranked = []
        for lesson in brief.lessons:
            fits = [one for one in brief.failed if _fit(lesson, one)]
            if self.ripe(lesson) and fits and not path_of(brief.harness, _id(lesson)):
                score = max(_fit(lesson, one) for one in fits)
                ranked.append((-score, -lesson.seen_count, lesson.key, lesson, fits))
        proposals = []
        for *_, lesson, fits in sorted(ranked, key=lambda one: one[:3])[:MOST]:
            proposal = self._proposal(lesson, fits, brief)
            proposals += [proposal] if proposal else []
        return tuple(proposals)

    def ripe(self, lesson: Lesson) -> bool:
        """Whether a lesson may become a rule: it recurred, is fresh, and did not hurt."""
        limit = self._now() - timedelta(days=self._settings.expire_days)
        fresh = lesson.last_seen_at is None or lesson.last_seen_at >= limit
        recurred = lesson.seen_count >= self._settings.promote_at
        return recurred and fresh and lesson.hurt - lesson.helped < RETIRE_AT

    def _proposal(self, lesson: Lesson, fits: list[FailedCase], brief: Brief) -> Proposal | None:
        try:
            hunk = to_add(
                brief.harness,
                brief.instructions,
                lesson.value,
                addition_id=_id(lesson),
                protect=self._protect,
            )
        except HealbotError:
            return None
        return Proposal(
            editor="lessons",
            edit=Edit(hunks=(hunk,)),
            summary=_summary(lesson.value),
            reason=f"The lesson {lesson.key} was seen in {lesson.seen_count} runs.",
            baseline=brief.harness.revision,
            candidate="",
            claims=tuple(one.case.id for one in fits),
            cites=(lesson.key,),
            born_of="lesson",
        )


def _id(lesson: Lesson) -> str:
    return id_of(f"{lesson.scope}/{lesson.key}")


def _fit(lesson: Lesson, failed: FailedCase) -> int:
    """Count what a lesson shares with a failure: its trigger is the signature, or common words."""
    if lesson.trigger and lesson.trigger == failed.finding.signature:
        return 100
    named = {lesson.trigger, *lesson.tags} & {*failed.case.tags, failed.case.written_id}
    return 10 * len(named - {""}) + len(_words(lesson.key) & _words(failed.finding.signature))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _summary(value: str) -> str:
    first = re.split(r"(?<=[.!?])\s", value, maxsplit=1)[0].rstrip(".")
    return first if len(first) <= LONGEST_SUMMARY else first[: LONGEST_SUMMARY - 1].rstrip() + "…"
