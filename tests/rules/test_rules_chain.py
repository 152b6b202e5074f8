"""The chain: what is whole, and where what is not whole breaks."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from healbot.errors import ChainError
from healbot.records.ledger import GENESIS, Closed, Entry, Measured, Spend, Switched
from healbot.rules.chain import Chain, audit_path, extend, read_chain

START = datetime(2026, 1, 30, 23, 0, tzinfo=UTC)
BODIES = (
    Switched(stopped=True, by="Ada"),
    Measured(used=(), failing=("refund-over",)),
    Closed(outcome="healthy", note="every training case passes – überall"),
)


def ledger(count: int = 6, hours: float = 9) -> dict[str, bytes]:
    """Return the segments of a chain that goes on into another month."""
    chain, segments = Chain(), dict[str, bytes]()
    for number in range(count):
        at = START + timedelta(hours=hours * number)
        body = BODIES[number % len(BODIES)]
        entry = extend(chain, body, agent="s", cycle=None, at=at, spent=Spend(runs=number))
        chain = Chain(entries=(*chain.entries, entry), head=entry.digest)
        path = audit_path("s", at)
        segments[path] = segments.get(path, b"") + entry.render().encode() + b"\n"
    return segments


WHOLE = ledger()
HEAD = read_chain(WHOLE).head
ALL = b"".join(WHOLE[path] for path in sorted(WHOLE))
LINES = ALL.splitlines(keepends=True)


def as_one(data: bytes) -> dict[str, bytes]:
    return {"ledger.jsonl": data}


def test_a_chain_goes_on_across_months_and_reads_back_as_it_was_made() -> None:
    chain = read_chain(WHOLE, [HEAD])
    assert len(WHOLE) == 2
    assert [entry.number for entry in chain.entries] == [1, 2, 3, 4, 5, 6]
    assert chain.entries[0].previous == GENESIS
    assert chain.broken == ()
    assert chain.head == chain.entries[-1].digest


def test_no_file_at_all_is_an_empty_whole_chain() -> None:
    assert read_chain({}, [GENESIS]) == Chain()


def test_time_never_goes_back_along_a_chain() -> None:
    chain = read_chain(WHOLE)
    late = chain.entries[-1].at
    entry = extend(
        chain, BODIES[0], agent="s", cycle=None, at=late - timedelta(hours=3), spent=Spend()
    )
    assert entry.at == late


@given(st.integers(0, len(ALL) - 1), st.integers(0, 255))
@example(ALL.index(b"\n"), ord("\r"))
@settings(max_examples=150)
def test_any_byte_that_is_another_one_is_found(place: int, byte: int) -> None:
    changed = ALL[:place] + bytes([byte]) + ALL[place + 1 :]
    if changed != ALL:
        assert read_chain(as_one(changed), [HEAD]).broken


@given(st.integers(0, len(ALL)), st.integers(0, 255))
@example(0, ord("\n"))
@example(len(ALL), ord("\n"))
@example(len(ALL) - 1, ord("\r"))
@settings(max_examples=150)
def test_any_byte_that_is_put_in_is_found(place: int, byte: int) -> None:
    changed = ALL[:place] + bytes([byte]) + ALL[place:]
    assert read_chain(as_one(changed), [HEAD]).broken


@given(st.integers(0, len(ALL) - 1))
@settings(max_examples=100)
def test_any_byte_that_is_missing_is_found(place: int) -> None:
    assert read_chain(as_one(ALL[:place] + ALL[place + 1 :]), [HEAD]).broken


@pytest.mark.parametrize("place", range(len(LINES)))
def test_a_removed_line_is_found_where_it_stood(place: int) -> None:
    left = LINES[:place] + LINES[place + 1 :]
    broken = read_chain(as_one(b"".join(left)), [HEAD]).broken
    assert broken[0].line == place + 1
    expected = "removed" if place < len(LINES) - 1 else "cut off at the end"
    assert expected in broken[0].text


@pytest.mark.parametrize("place", range(len(LINES)))
def test_a_repeated_line_is_found_where_it_was_put(place: int) -> None:
    more = [*LINES[: place + 1], LINES[place], *LINES[place + 1 :]]
    (broken,) = read_chain(as_one(b"".join(more)), [HEAD]).broken
    assert broken.line == place + 2
    assert "repeated" in broken.text


@given(st.permutations(range(len(LINES))))
@settings(max_examples=60)
def test_lines_in_any_other_order_are_found_at_the_first_that_moved(order: list[int]) -> None:
    moved = b"".join(LINES[place] for place in order)
    broken = read_chain(as_one(moved), [HEAD]).broken
    first = next((at for at, place in enumerate(order) if at != place), None)
    assert bool(broken) == (first is not None)
    if first is not None:
        assert broken[0].line == first + 1


@given(st.integers(0, len(LINES) - 1))
def test_a_cut_tail_is_found_with_the_head_anchored_elsewhere_only(kept: int) -> None:
    data = as_one(b"".join(LINES[:kept]))
    assert not read_chain(data).broken
    (broken,) = read_chain(data, [HEAD, HEAD]).broken
    assert broken.line == kept + 1
    assert "cut off at the end, or the chain was rewritten" in broken.text


def test_a_line_edited_into_another_valid_one_is_found_at_the_line_after_it() -> None:
    entry = Entry.parse(LINES[2].decode().rstrip("\n"))
    forged = entry.model_copy(update={"spent": Spend(runs=0)}).render().encode() + b"\n"
    broken = read_chain(as_one(b"".join([*LINES[:2], forged, *LINES[3:]]))).broken
    assert broken[0].line == 4
    assert "the line before this one was edited" in broken[0].text


def test_an_edited_last_line_is_found_by_the_anchor() -> None:
    entry = Entry.parse(LINES[-1].decode().rstrip("\n"))
    forged = entry.model_copy(update={"spent": Spend(runs=0)}).render().encode() + b"\n"
    data = as_one(b"".join([*LINES[:-1], forged]))
    assert not read_chain(data).broken
    assert read_chain(data, [HEAD]).broken


def test_a_chain_rewritten_from_scratch_is_found_by_any_earlier_anchor() -> None:
    middle = Entry.parse(LINES[2].decode().rstrip("\n")).digest
    other = ledger(count=6, hours=8)
    assert not read_chain(other).broken
    assert len(read_chain(other, [HEAD, middle]).broken) == 2


def test_a_line_in_the_wrong_month_s_or_agent_s_file_is_found() -> None:
    first, second = sorted(WHOLE)
    joined = {first: WHOLE[first] + WHOLE[second]}
    assert "wrong agent's or month's file" in read_chain(joined).broken[0].text
    elsewhere = {path.replace("agents/s", "agents/t"): data for path, data in WHOLE.items()}
    assert read_chain(elsewhere).broken


def test_copies_of_the_segments_may_lie_in_any_folder() -> None:
    for folder in ("/tmp/audit/", "/tmp/x/agents/s/audit/", "copy/audit/of/"):
        copies = {folder + path.rsplit("/", 1)[-1]: data for path, data in WHOLE.items()}
        assert read_chain(copies, [HEAD]).broken == (), folder


def test_nothing_is_built_on_a_broken_chain() -> None:
    broken = read_chain(as_one(b"".join(LINES[1:])))
    with pytest.raises(ChainError, match=r"ledger\.jsonl:1: 1 line"):
        extend(broken, BODIES[0], agent="s", cycle=None, at=START, spent=Spend())
