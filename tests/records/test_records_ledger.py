"""One line of the ledger: rendered and read back, in one canonical form only."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.records.case import Standing
from healbot.records.ledger import (
    GENESIS,
    Applied,
    Body,
    Closed,
    Declined,
    Diagnosed,
    Earned,
    Entry,
    Finding,
    Forgotten,
    Gated,
    Measured,
    Probed,
    ProposalNote,
    Proposed,
    Queued,
    Restarted,
    RolledBack,
    Spend,
    Switched,
    Used,
)
from healbot.records.record import digest_bytes
from healbot.records.run import Outcome
from healbot.records.verdict import Reason, Verdict, Word

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
DIGESTS = st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}")
INSTANTS = st.datetimes(timezones=st.just(UTC), min_value=datetime(2000, 1, 1))  # noqa: DTZ001
SPENDS = st.builds(
    Spend,
    runs=st.integers(0, 10**6),
    tokens=st.integers(0, 10**12),
    usd=st.floats(0, 1e6, allow_nan=False),
    seconds=st.floats(0, 1e6, allow_nan=False),
)


@st.composite
def used(draw: st.DrawFn) -> Used:
    runs = draw(
        st.lists(
            st.tuples(
                st.integers(0, 99), st.sampled_from(Outcome), st.none() | st.integers(0, 9999)
            ),
            max_size=4,
        )
    )
    return Used(
        case_id=draw(TEXT),
        case=draw(DIGESTS),
        revision=draw(DIGESTS),
        runner=draw(DIGESTS),
        repeats=tuple(repeat for repeat, _, _ in runs),
        outcomes=tuple(outcome for _, outcome, _ in runs),
        tokens=tuple(tokens for _, _, tokens in runs),
    )


USES = st.lists(used(), max_size=2).map(tuple)
VERDICTS = st.builds(
    Verdict,
    word=st.sampled_from(Word),
    reasons=st.lists(st.builds(Reason, rule=TEXT, text=TEXT), max_size=2).map(tuple),
    gained=st.lists(TEXT, max_size=2).map(tuple),
)
NOTES = st.builds(
    ProposalNote, proposal=DIGESTS, edit=DIGESTS, editor=TEXT, candidate=DIGESTS,
    refused=st.none() | TEXT,
)  # fmt: skip
BODIES: st.SearchStrategy[Body] = st.one_of(
    st.builds(Measured, used=USES, failing=st.lists(TEXT, max_size=2).map(tuple)),
    st.builds(
        Diagnosed,
        used=USES,
        findings=st.lists(
            st.builds(
                Finding, case_id=TEXT, signature=TEXT, distinct_runs=st.integers(0, 9),
                was_real=st.none() | st.booleans(),
            ),
            max_size=2,
        ).map(tuple),
    ),
    st.builds(Proposed, proposals=st.lists(NOTES, max_size=2).map(tuple), note=TEXT),
    st.builds(Probed, used=USES, order=st.lists(DIGESTS, max_size=2).map(tuple)),
    st.builds(
        Earned,
        used=USES,
        standings=st.dictionaries(DIGESTS, st.sampled_from(Standing), max_size=2),
    ),
    st.builds(Gated, proposal=DIGESTS, candidate=DIGESTS, used=USES, verdict=VERDICTS),
    st.builds(Queued, number=st.integers(1, 99), because=TEXT),
    st.builds(
        Applied, number=st.integers(1, 9), by=TEXT, before=DIGESTS, after=DIGESTS, sha=TEXT,
        base_before_sha=TEXT, proposal=DIGESTS, fixed=st.lists(DIGESTS, max_size=2).map(tuple),
    ),
    st.builds(Declined, number=st.integers(1, 9), by=TEXT, candidate=DIGESTS),
    st.builds(
        RolledBack, number=st.none() | st.integers(1, 9), by=TEXT, why=TEXT, before=DIGESTS,
        after=DIGESTS, reverted_sha=TEXT, sha=TEXT,
    ),
    st.builds(Closed, outcome=st.sampled_from(["healthy", "merged", "queued"]), note=TEXT),
    st.builds(Switched, stopped=st.booleans(), by=TEXT, why=TEXT),
    st.builds(
        Forgotten, act=TEXT, by=TEXT, session=st.none() | DIGESTS, records=st.integers(0, 9),
        lines=st.integers(0, 9),
    ),
    st.builds(
        Restarted, heads=st.lists(DIGESTS, max_size=3).map(tuple), base_sha=TEXT, by=TEXT, why=TEXT
    ),
)  # fmt: skip
ENTRIES = st.builds(
    Entry, number=st.integers(1, 10**6), previous=DIGESTS, at=INSTANTS, agent=TEXT,
    cycle=st.none() | TEXT, spent=SPENDS, body=BODIES,
)  # fmt: skip
ONE = Entry(
    number=1,
    previous=GENESIS,
    at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    agent="s",
    body=Switched(stopped=True, by="Ada"),
)


@given(ENTRIES)
@settings(max_examples=120)
def test_every_entry_is_one_line_that_reads_back_as_itself(entry: Entry) -> None:
    line = entry.render()
    assert "\n" not in line
    again = Entry.parse(line)
    assert again == entry
    assert again.render() == line
    assert entry.digest == digest_bytes(line.encode())


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line + " ",
        lambda line: " " + line,
        lambda line: line.replace(",", ", ", 1),
        lambda line: line.replace('"agent":"s"', '"agent":"s","agent":"s"'),
        lambda line: json.dumps(dict(reversed(json.loads(line).items())), separators=(",", ":")),
        lambda line: line.replace('"s"', '"\\u0073"'),
    ],
)
def test_another_spelling_of_the_same_entry_is_none(change: object) -> None:
    assert callable(change)
    with pytest.raises(ValueError, match="not in canonical form"):
        Entry.parse(change(ONE.render()))


@pytest.mark.parametrize(
    "line",
    ["", "{}", "[]", "null", "[" * 5000, ONE.render()[:-1], ONE.render().replace("switched", "x")],
)
def test_what_is_no_entry_is_refused_in_one_line(line: str) -> None:
    with pytest.raises(ValueError, match="no ledger entry") as caught:
        Entry.parse(line)
    assert "\n" not in str(caught.value)


def test_an_instant_without_a_time_zone_is_no_instant() -> None:
    with pytest.raises(ValueError, match="no ledger entry"):
        Entry.parse(ONE.render().replace("05Z", "05"))


@given(SPENDS, SPENDS)
def test_spendings_add_up_in_any_order(one: Spend, other: Spend) -> None:
    assert one.plus(other) == other.plus(one)
    assert one.plus(Spend()).runs == one.runs
