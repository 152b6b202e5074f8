"""A failure recurs when distinct sessions met it since, under the live revision."""

from datetime import UTC, datetime, timedelta
from typing import Any

from healbot.records.observed import ObservedRun, Session
from healbot.records.run import Outcome
from healbot.rules.recurrence import Seen, kinds_of, seen_again, seen_in, seen_on
from healbot.rules.signature import published_signature

AT = datetime(2026, 1, 1, tzinfo=UTC)
LATER = AT + timedelta(hours=1)


def seen(session: str, **fields: Any) -> Seen:
    plain = Seen(session, LATER, "live", "missed:escalation:reviewer")
    return plain._replace(**fields)


def test_only_distinct_sessions_since_under_the_live_revision_count() -> None:
    others = [seen("b", at=AT), seen("c", revision="other"), seen("d", signature="exit:1:x")]
    assert not seen_again([seen("a"), seen("a"), *others], revision="live", since=AT)
    counts = seen_again([seen("a"), seen("e"), *others], revision="live", since=AT)
    assert counts["missed:escalation"] == 2
    assert not any(kind.startswith("exit") for kind in counts)


def test_a_signature_is_of_one_kind_with_its_published_form_whatever_comes_third() -> None:
    plain = "missed:zebra:reviewer"
    assert kinds_of(plain) & kinds_of(published_signature(plain, ()))
    assert kinds_of(plain) & kinds_of("missed:zebra:refund")
    assert not kinds_of(plain) & kinds_of("missed:horse:reviewer")


def test_failed_steps_are_read_from_sessions_and_from_published_lines() -> None:
    bad = ObservedRun(session="s", at=AT, agent="s", verdict=Outcome.FAIL, missed="zebra")
    good = bad.model_copy(update={"verdict": Outcome.PASS})
    session = Session(key="k", steps=(good, bad))
    assert [one.signature for one in seen_in([session], "s")] == ["missed:zebra:-"]
    assert not list(seen_in([session], "other"))
    line = (
        b'{"session":"k","at":"2026-01-01T00:00:00","revision":"r","verdict":"fail",'
        b'"signature":"missed:x1:-"}'
    )
    assert list(seen_on([b"{", b"[]", line])) == [Seen("k", AT, "r", "missed:x1:-")]


def test_the_last_published_line_about_a_step_holds() -> None:
    line = (
        '{"session":"k","at":"2026-01-01T00:00:00","revision":"R","verdict":"fail",'
        '"signature":"missed:x1:-","step":"S"}'
    )
    steps = (("unknown", "1"), ("unknown", "2"), ("live", "1"))
    lines = [line.replace("R", rev).replace('"S"', f'"{step}"').encode() for rev, step in steps]
    assert sorted(one.revision for one in seen_on(lines)) == ["live", "unknown"]
