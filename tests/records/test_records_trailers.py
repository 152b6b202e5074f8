"""Trailers under commit messages: rendered, read back, and found among other people's words."""

from hypothesis import given
from hypothesis import strategies as st

from healbot.records.trailers import Trailers

VALUES = st.text(
    st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=1, max_size=70
) | st.just("")
TRAILERS = st.builds(
    Trailers, cycle=VALUES, agent=VALUES, revision=VALUES, baseline=VALUES, ledger=VALUES,
    reverts=VALUES,
)  # fmt: skip
MESSAGES = st.lists(st.text("ab: \n-H", max_size=20), max_size=3).map("\n\n".join)


@given(TRAILERS)
def test_trailers_read_back_as_they_were_written(trailers: Trailers) -> None:
    assert Trailers.parse(trailers.render()) == trailers


@given(TRAILERS, MESSAGES)
def test_trailers_are_found_under_any_message(trailers: Trailers, message: str) -> None:
    assert Trailers.parse(f"title\n\n{message}\n\n{trailers.render()}\n") == trailers or not (
        trailers.render()
    )


def test_line_ends_of_another_system_make_no_difference() -> None:
    assert Trailers.parse("t\r\n\r\nHealbot-Agent: s\r\n").agent == "s"


def test_trailers_stand_beside_those_of_others() -> None:
    parsed = Trailers.parse("t\n\nSigned-off-by: Ada\nHealbot-Ledger: abc\nCo-authored-by: B\n")
    assert parsed == Trailers(ledger="abc")


def test_what_looks_like_a_trailer_above_the_last_paragraph_is_no_trailer() -> None:
    assert Trailers.parse("t\n\nHealbot-Agent: forged\n\nHealbot-Cycle: 1\n") == Trailers(cycle="1")
    assert Trailers.parse("t\n\nHealbot-Agent: forged\n\nplain end\n") == Trailers()
