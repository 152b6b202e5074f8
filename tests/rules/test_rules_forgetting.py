"""Forgetting: exactly a session's lines go, and never a line of a ledger."""

from hypothesis import given
from hypothesis import strategies as st

from healbot.records.record import canonical, digest_bytes
from healbot.rules.forgetting import concerned, without

RUNS, EVENTS, AUDIT = (f"agents/s/{name}" for name in ("runs/m.jsonl", "e.jsonl", "audit/m.jsonl"))
NAMES = tuple(digest_bytes(name.encode()) for name in "abc")


def line(session: str, number: int) -> bytes:
    return (canonical({"n": number, "session": session}) + "\n").encode()


@given(st.lists(st.sampled_from(NAMES), max_size=9))
def test_exactly_the_lines_of_one_session_go(sessions: list[str]) -> None:
    lines = [line(one, number) for number, one in enumerate(sessions)]
    for path in (RUNS, EVENTS):
        left, gone = without(path, b"".join(lines), NAMES[0])
        assert [*gone] == [one for one in lines if NAMES[0].encode() in one]
        assert left == b"".join(one for one in lines if NAMES[0].encode() not in one)


def test_everything_takes_all_of_the_runs_and_of_other_files_what_names_a_session() -> None:
    plain = b'{"standing":"plain"}\n'
    assert without(RUNS, line(NAMES[1], 1) + b"damaged", None)[0] == b""
    assert without(EVENTS, plain + line(NAMES[1], 1), None) == (plain, (line(NAMES[1], 1),))


def test_a_ledger_is_never_touched() -> None:
    assert not concerned(AUDIT)
    assert without(AUDIT, line(NAMES[0], 1), None) == (line(NAMES[0], 1), ())
    assert not concerned("README.md")
    assert not concerned("pulls/1.json")


def test_of_a_cycle_s_runs_everything_takes_the_texts_and_one_session_nothing() -> None:
    path = "agents/s/journal/m.jsonl"
    bare = b'{"case":"c","outcome":"pass"}\n'
    told = b'{"case":"c","outcome":"pass","run":{"stdout":"hello"}}\n'
    assert without(path, bare + told + b"damaged\n[]\n", None) == (
        bare + bare, (told, b"damaged\n", b"[]\n"),
    )  # fmt: skip
    assert without(path, told, NAMES[0]) == (told, ())
