"""The journal of a clone: raw while a cycle may read it, then redacted, then gone."""

import os
from pathlib import Path

import pytest
from crashing import QUICK
from fakes import door, hire
from sandbox import make_repository


def test_runs_stay_raw_until_a_cycle_used_them_and_go_when_their_days_are_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repository(tmp_path / "repo", more=QUICK)
    hire(monkeypatch)
    journal = repo / ".git/healbot/journal"

    def kept(folder: str) -> set[Path]:
        return {path for path in (journal / folder).rglob("*") if path.is_file()}

    def cycle(*words: str) -> None:
        answer = door("cycle", "--repo", str(repo), "--mode", "observe", *words)
        assert answer.code in {0, 1}, answer.err

    cycle("--dry-run")
    assert kept("runs")
    assert not kept("settled")  # no ledger tells of them, so the next cycle draws them
    cycle()
    first = kept("settled")
    assert first
    assert not kept("runs")
    for path in first:
        os.utime(path, (0, 0))
    cycle()
    assert kept("settled")
    assert not kept("settled") & first
