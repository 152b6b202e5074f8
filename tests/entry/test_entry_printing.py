"""How commands show what they found: one document, or rows that no text can break out of."""

import json

import pytest

from healbot.entry.printing import as_json, table

ROWS: list[dict[str, object]] = [
    {"id": "a\x1b[31m", "tags": ["x", "y"], "why": None},
    {"id": "b\nc", "tags": [], "why": "ü" * 300},
]


def test_a_document_keeps_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    as_json({"ü": [1, None]})
    out = capsys.readouterr().out
    assert "ü" in out
    assert json.loads(out) == {"ü": [1, None]}


def test_in_a_pipe_every_row_is_one_line_of_cells(capsys: pytest.CaptureFixture[str]) -> None:
    table(ROWS, ("id", "tags", "why", "missing"), empty="none")
    lines = capsys.readouterr().out.splitlines()
    assert [len(line.split("\t")) for line in lines] == [4, 4]
    assert lines[0].split("\t")[1:] == ["x, y", "-", "-"]
    assert "\x1b" not in "".join(lines)
    assert "ü" * 300 in lines[1]


def test_on_a_terminal_there_are_headings_and_long_cells_end_in_dots(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    table(ROWS, ("id", "why"), empty="none")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["ID", "WHY"]
    assert all(len(line) <= 60 for line in lines)
    assert lines[2].endswith("…")


def test_nothing_is_said_on_stderr_and_stdout_stays_empty(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table([], ("id",), empty="no cases")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "no cases\n")
