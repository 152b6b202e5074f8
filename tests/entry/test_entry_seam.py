"""``healbot seam`` hands its words and its exit code through."""

import json
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from healbot.entry.seam import app


def _outer() -> typer.Typer:
    outer = typer.Typer()
    outer.add_typer(app, name="seam")
    return outer


def _run(*words: str) -> object:
    return get_command(_outer()).main(["seam", *words], prog_name="healbot", standalone_mode=False)


def test_it_says_the_codes_of_the_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heals = tmp_path / "heals.jsonl"
    heals.write_text("")
    assert _run("--heals", str(heals)) == 0
    assert json.loads(capsys.readouterr().out)["S"] is None
    heals.write_text("{}\n")
    assert _run("--heals", str(heals)) == 3
    assert "line 1, field trigger" in capsys.readouterr().err
    assert _run("--heels", str(heals)) == 3
    assert "Did you mean --heals?" in capsys.readouterr().err


def test_help_is_the_seams_own_and_names_certify(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--help") == 0
    assert "healbot seam certify" in capsys.readouterr().out
    assert _run("certify", "--help") == 0
    assert "--owner" in capsys.readouterr().out


def test_a_baseline_signed_here_has_todays_date(tmp_path: Path) -> None:
    (tmp_path / "h").write_text("")
    (tmp_path / "s").write_text('{"id": "a", "result": "pass"}\n')
    out = tmp_path / "certified.json"
    files = ["--heals", str(tmp_path / "h"), "--surface", str(tmp_path / "s"), "--out", str(out)]
    assert _run("certify", *files, "--owner", "R. Doe") == 0
    assert len(json.loads(out.read_text())["date"]) == len("2026-06-10")
