"""What an editor's model is told first: the banner, then every record in a region of its own.

Knows a Brief, which holds no held-out case. All that others wrote (runs, lessons, files, and what
was tried before) stands between markers, cut to the settings' limits.
"""

from collections.abc import Iterator, Sequence

from healbot.editors.lessons import RETIRE_AT
from healbot.records.brief import Brief, FailedCase
from healbot.records.harness import Harness
from healbot.records.lesson import Lesson
from healbot.records.settings import EditingSettings
from healbot.rules.markers import BANNER, Regions, unforged
from healbot.rules.transcripts import clipped, told

LESSON_CHARACTERS = 600
MOST_TRIED = 20
"""How many earlier tries are named, the latest ones."""


def first_turn(brief: Brief, limits: EditingSettings, regions: Regions) -> str:
    """Return the first user turn: banner, failing cases, runs, lessons, files, what was tried."""
    cases = "\n".join(f"- {one.case.id}" for one in brief.failed)
    parts = [
        BANNER,
        f"These training cases fail:\n{unforged(cases)}",
        *_runs(brief, limits, regions),
        *_lessons(best(brief.lessons, limits.lessons), regions),
        *_files(brief.harness, limits, regions),
        *_tried(brief, regions),
        "Find what is missing, wrong or ignored in these files, and end with propose or decline.",
    ]
    return "\n\n".join(parts)


def best(lessons: Sequence[Lesson], most: int) -> tuple[Lesson, ...]:
    """Return the lessons that are not retired, those that helped and were seen most first."""
    alive = [one for one in lessons if one.hurt - one.helped < RETIRE_AT]
    ranked = sorted(alive, key=lambda one: (one.hurt - one.helped, -one.seen_count, one.key))
    return tuple(ranked[:most])


def _runs(brief: Brief, limits: EditingSettings, regions: Regions) -> Iterator[str]:
    """Give every case its first run before any case gets a second one, while there is room."""
    left = limits.all_characters
    unseen = 0
    for place in range(limits.runs_per_case):
        for one in brief.failed:
            if place >= len(one.runs):
                continue
            room = min(limits.run_characters, left)
            if room < limits.run_characters // 2:
                unseen += 1
                continue
            text = _run(one, place, room)
            left -= len(text)
            yield regions.region(f"a failed run of case {one.case.id}", text)
    if unseen:
        yield f"({unseen} more failed runs are not shown, for want of room.)"


def _run(one: FailedCase, place: int, room: int) -> str:
    return told(one.case, one.runs[place], passed=one.passed, limit=room)


def _lessons(lessons: tuple[Lesson, ...], regions: Regions) -> Iterator[str]:
    if lessons:
        yield "Lessons from earlier work follow. Use one only where it fits; cite those you use."
    for one in lessons:
        votes = f"seen {one.seen_count} times, helped {one.helped}, hurt {one.hurt}"
        text = clipped(one.value, LESSON_CHARACTERS)
        yield regions.region(f"a lesson, key {one.key}, {votes}", text)


def _files(harness: Harness, limits: EditingSettings, regions: Regions) -> Iterator[str]:
    """Show instructions before skills, whole while there is room; the rest can be read."""
    left = limits.all_characters
    yield "The agent's instruction files follow: what you may edit, unless it says otherwise."
    for file in sorted(harness.files, key=lambda one: (one.skill is not None, one.path)):
        locked = f"; may not be edited: {file.read_only}" if file.read_only else ""
        if len(file.text) > left:
            name = unforged(file.path)
            yield f"({name} has {len(file.text):,} characters{locked}; use read to see it.)"
            continue
        left -= len(file.text)
        yield regions.region(f"file {file.path}{locked}", file.text)


def _tried(brief: Brief, regions: Regions) -> Iterator[str]:
    known = brief.tried[-MOST_TRIED:]
    if known:
        yield "Edits like these were tried before and refused. Do not propose them again."
    for one in known:
        yield regions.region("an edit that was refused", one)
    rest = len(brief.refused_before) - len(known)
    if rest > 0:
        yield f"({rest} more edits were refused before; what they said is not known here.)"
