"""Reading run records: one bad line costs that line, and ours are never learned from."""

import json

import pytest

from healbot.rules.observing import cleaned, read_runs

GOOD = {"session": "s", "at": "2026-03-01T00:00:00Z", "input": "mail a@x.org"}


def line(**fields: object) -> bytes:
    return json.dumps({**GOOD, **fields}).encode()


def test_damaged_lines_are_counted_and_the_rest_is_read() -> None:
    lines = [line(), b"\xff\xfe", b"[1]", b"", line(verdict="perhaps"), b"[" * 100_000, line()]
    read = read_runs(iter(lines))
    assert len(read.runs) == 2
    assert read.damaged == (2, 3, 5, 6)


@pytest.mark.parametrize(
    "fields", [{"HEALBOT_SEED": "1"}, {"env": {"HEALBOT_SEED": "1"}}, {"cwd": "/ours/a"}]
)
def test_runs_of_healbots_own_are_refused(fields: dict[str, object]) -> None:
    assert read_runs(iter([line(**fields)]), ["/ours"]).ours == (1,)


def test_what_is_kept_is_redacted_and_a_telling_session_id_is_replaced() -> None:
    (run,) = read_runs(iter([line(session="a@x.org")])).runs
    done = cleaned(run)
    assert done.input == "mail [email-1]"
    assert len(done.session) == 64
    assert cleaned(done) == done
