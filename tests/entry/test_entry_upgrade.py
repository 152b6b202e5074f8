"""Upgrade mends what is missing or left over, leaves a person's files alone, and is honest."""

import json
import os
from pathlib import Path

import pytest
from sandbox import commit_all, git, make_repository

from healbot.entry import starter
from healbot.entry.clock import SystemClock
from healbot.entry.outside import workspaces_of
from healbot.entry.upgrade import bring_up
from healbot.errors import InputError
from healbot.forges.git import GitRepo
from healbot.records.record import digest_bytes
from healbot.stores.permit import RefPermit
from healbot.stores.state import README, README_PATH, STATE_REF, StateBranch


def upgraded(folder: Path, capsys: pytest.CaptureFixture[str], *, dry_run: bool = False) -> str:
    bring_up(folder, {}, dry_run=dry_run, as_document=False)
    return capsys.readouterr().out


def test_nothing_to_do_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_repository(tmp_path / "one")
    assert "All is up to date: settings version 1" in upgraded(folder, capsys)


def test_what_interrupted_work_left_is_swept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_repository(tmp_path / "one")
    repo = GitRepo(folder)
    store = StateBranch(repo, repo)
    clock = SystemClock()
    store.save(store.load(), {README_PATH: b"old"}, message="x", at=clock.now())
    RefPermit(repo, repo, clock, minutes=-1).take("s")
    git(folder, "update-ref", "refs/healbot/remote/heads/main", "HEAD")
    workspace = workspaces_of(repo.private) / "s" / "runs" / "tmp1"
    home = repo.private / "homes" / "tmp2"
    for place in (workspace, home):
        (place / "inner").mkdir(parents=True)
    os.utime(home, (0, 0))
    assert "would mend" in upgraded(folder, capsys, dry_run=True)
    assert workspace.exists()
    told = upgraded(folder, capsys)
    assert told.count("mended ") == 5
    assert not workspace.exists()
    assert not home.exists()
    kept = repo.tree(repo.resolve(STATE_REF) or "")
    assert repo.blob(kept[README_PATH].blob) == README
    assert not repo.refs("refs/healbot/lease/")
    assert "All is up to date" in upgraded(folder, capsys)


def test_starter_cases_of_an_older_version_are_renewed_and_changed_ones_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_repository(tmp_path / "one")
    old = b"# an older starter\n"
    monkeypatch.setattr(starter, "EARLIER_CASES", frozenset({digest_bytes(old)}))
    (folder / "agents/s/cases/starter.yml").write_bytes(old)
    (folder / "agents/t/cases").mkdir(parents=True)
    mine = starter.starter_cases() + "# mine\n"
    (folder / "agents/t/cases/starter.yml").write_text(mine)
    told = upgraded(folder, capsys)
    assert "mended agents/s/cases/starter.yml" in told
    assert "kept   agents/t/cases/starter.yml" in told
    assert (folder / "agents/s/cases/starter.yml").read_text() == starter.starter_cases()
    assert (folder / "agents/t/cases/starter.yml").read_text() == mine


def test_without_settings_there_is_nothing_to_upgrade(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_repository(tmp_path / "one")
    bring_up(folder, {}, dry_run=True, as_document=True)
    assert json.loads(capsys.readouterr().out)["mended"] == []
    (folder / ".github/healbot.yml").unlink()
    commit_all(folder, "Gone")
    with pytest.raises(InputError, match="There is no"):
        bring_up(folder, {}, dry_run=True, as_document=False)
