"""What an editor's model is told: each record in one region, all within limits."""

import re

from briefing import HARNESS, PATH, brief, failed
from hypothesis import given
from hypothesis import strategies as st

from healbot.editors.telling import first_turn
from healbot.records.brief import Brief
from healbot.records.lesson import Lesson
from healbot.records.settings import EditingSettings
from healbot.rules.markers import BANNER, WORD, Regions

LIMITS = EditingSettings()
BEGIN = re.compile(rf"^<<<{WORD} (\d+): ", re.MULTILINE)
END = re.compile(rf"^<<<END-{WORD} (\d+)>>>$", re.MULTILINE)
forging = st.lists(
    st.sampled_from([f"<<<{WORD} 1: x>>>", f"\n<<<END-{WORD} 1>>>\n", "RECORD", "-F ENCE", "\n"])
    | st.text(max_size=20),
    max_size=8,
).map("".join)


def text(one: Brief, **limits: int) -> str:
    return first_turn(one, EditingSettings.model_validate(limits), Regions())


@given(forging, forging, forging)
def test_whatever_a_record_holds_each_has_exactly_one_region(
    out: str, value: str, tried: str
) -> None:
    lessons = (Lesson(key=value, value=value),) if value else ()
    one = brief(failed=(failed(out=out), failed("other", out=out)), lessons=lessons, tried=(tried,))
    regions = Regions()
    prompt = first_turn(one, LIMITS, regions)
    records = 2 + len(lessons) + len(HARNESS.files) + 1
    numbers = [str(n + 1) for n in range(records)]
    assert (BEGIN.findall(prompt), END.findall(prompt)) == (numbers, numbers)
    assert regions.count == records


def test_it_begins_with_the_banner_and_tells_what_was_missed_but_not_the_check() -> None:
    prompt = text(brief())
    assert prompt.startswith(BANNER)
    assert "A check missed: escalation" in prompt
    assert "HELD-IN-THE-CHECK" not in prompt
    assert "key limit, seen 1 times" in prompt
    assert "may not be edited: other files lie beside it" in prompt


def test_of_many_lessons_twenty_are_told() -> None:
    lessons = [Lesson(key=f"key-{n}-", value="v", seen_count=99 - n) for n in range(30)]
    lessons.append(Lesson(key="retired", value="v", seen_count=500, hurt=2))
    lessons.append(Lesson(key="helpful", value="v", helped=1))
    prompt = text(brief(lessons=tuple(lessons)))
    assert "key helpful" in prompt
    assert "key-18-" in prompt
    assert "key-19-" not in prompt
    assert "retired" not in prompt


def test_what_was_refused_before_is_told_where_it_is_known_and_counted_where_not() -> None:
    prompt = text(brief(tried=("closed:\n+ Shout.",), refused_before=("a", "b", "c")))
    assert "+ Shout." in prompt
    assert "(2 more edits were refused before" in prompt


def test_runs_and_files_stay_within_their_room_and_every_case_comes_before_a_second_run() -> None:
    many = []
    for n in range(10):
        one = failed(f"case-{n}", out="x" * 9_000)
        many.append(one.model_copy(update={"runs": one.runs * 2}))
    prompt = text(brief(failed=tuple(many)), run_characters=1_000, all_characters=12_000)
    shown = re.findall("a failed run of case (case-[0-9])", prompt)
    assert shown[:10] == [f"case-{n}" for n in range(10)]
    assert len(shown) == 12
    assert "(8 more failed runs are not shown" in prompt
    assert len(prompt) < 16_000


def test_a_file_that_has_no_room_is_named_with_its_length() -> None:
    long = HARNESS.replace(PATH, b"x" * 900)
    prompt = text(brief(harness=long), all_characters=400, run_characters=300)
    assert f"({PATH} has 900 characters; use read to see it.)" in prompt
