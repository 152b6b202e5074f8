"""Uninstall leaves nothing of healbot's and all that is the user's, however often it is called."""

import json
from pathlib import Path

import pytest
from crashing import QUICK
from sandbox import INSTRUCTIONS, agent_only, commit_all, git, healbot, make_repository, refs

from healbot.entry import uninstall as removing
from healbot.entry.clock import SystemClock
from healbot.entry.init import write_starter
from healbot.entry.uninstall import Wishes, uninstall
from healbot.errors import NotNowError
from healbot.forges.git import GitRepo
from healbot.records.settings import SETTINGS_PATH
from healbot.stores.permit import RefPermit


def away(folder: Path, *, cases: bool = False) -> None:
    uninstall(folder, {}, wishes=Wishes(cases=cases), agreed=lambda: True)


def seen(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder of the work tree."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if ".git" not in path.relative_to(folder).parts
    }


def test_init_and_uninstall_leave_the_tree_as_it_was(tmp_path: Path) -> None:
    folder = agent_only(tmp_path / "shop")
    (folder / ".github").mkdir()
    (folder / SETTINGS_PATH).write_text("# later\n")
    (folder / "empty").mkdir()
    before = seen(folder)
    write_starter(folder, dry_run=False)
    assert seen(folder) != before
    away(folder)
    assert seen(folder) == before
    assert not (folder / ".git/healbot").exists()


def test_after_a_merged_cycle_only_what_was_merged_is_left_and_a_second_life_verifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_repository(tmp_path / "one", more=QUICK)
    assert healbot(folder, "cycle").returncode == 0
    settings = (folder / SETTINGS_PATH).read_bytes()
    merged = (folder / INSTRUCTIONS).read_bytes()
    assert b"escalate" in merged
    away(folder)
    assert refs(folder) == "refs/heads/main"
    assert not (folder / ".git/healbot").exists()
    assert not (folder / SETTINGS_PATH).exists()
    assert (folder / INSTRUCTIONS).read_bytes() == merged
    assert (folder / "agents/s/cases/c.yml").exists()
    told = capsys.readouterr().out
    assert "required check healbot/canary" in told
    assert "SANDBOX_STARTS" in told
    commit_all(folder, "Without")
    away(folder)
    assert "nothing of healbot's left" in capsys.readouterr().out
    (folder / ".github").mkdir(exist_ok=True)
    (folder / SETTINGS_PATH).write_bytes(settings)
    commit_all(folder, "Again")
    again = healbot(folder, "cycle", "--mode", "observe")
    assert again.returncode == 0, again.stderr
    verified = healbot(folder, "audit", "--verify")
    assert verified.returncode == 0, verified.stderr


def test_a_remote_is_cleaned_as_well_and_a_persons_branch_stays(tmp_path: Path) -> None:
    more = QUICK + "forge: {remote: origin}\n"
    folder = make_repository(tmp_path / "one", mode="manual", more=more)
    git(tmp_path, "init", "--quiet", "--bare", str(tmp_path / "hub"))
    git(folder, "remote", "add", "origin", str(tmp_path / "hub"))
    git(folder, "push", "--quiet", "origin", "main")
    assert healbot(folder, "cycle").returncode == 0
    git(folder, "push", "--quiet", "origin", "main:refs/heads/healbot/mine")
    assert "refs/heads/healbot/state" in refs(tmp_path / "hub")
    (folder / SETTINGS_PATH).write_text("forge: {remote: origin}\nagents: [oh: no\n")  # broken
    away(folder)
    left = refs(tmp_path / "hub").splitlines()
    assert left == ["refs/heads/healbot/mine", "refs/heads/main"]
    own = [ref for ref in refs(folder).splitlines() if not ref.startswith("refs/remotes/")]
    assert own == ["refs/heads/main"]


def test_changed_starter_cases_stay_unless_they_are_to_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = agent_only(tmp_path / "shop")
    write_starter(folder, dry_run=False)
    starter = folder / "agents/s/cases/starter.yml"
    starter.write_text(starter.read_text().replace("first-task", "refund"))
    away(folder)
    assert starter.exists()
    assert "cases/starter.yml was changed" in capsys.readouterr().out
    away(folder, cases=True)
    assert not starter.exists()


def test_a_removal_that_was_cut_off_is_finished_by_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_repository(tmp_path / "one", more=QUICK)
    assert healbot(folder, "cycle", "--mode", "observe").returncode == 0

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(removing, "_remove_files", killed)
        with pytest.raises(KeyboardInterrupt):
            away(folder)
    assert (folder / SETTINGS_PATH).exists()
    away(folder)
    assert refs(folder) == "refs/heads/main"
    assert not (folder / SETTINGS_PATH).exists()
    assert not (folder / ".git/healbot").exists()


def test_it_waits_for_a_cycle_that_lives(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "one", more=QUICK)
    repo = GitRepo(folder)
    RefPermit(repo, repo, SystemClock(), minutes=5).take("s")
    with pytest.raises(NotNowError, match="under way"):
        away(folder)
    assert (folder / SETTINGS_PATH).exists()


def test_nobody_there_to_agree_removes_nothing(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "one", more=QUICK)
    asked = healbot(folder, "uninstall")
    assert asked.returncode == 2
    assert "--yes" in asked.stderr
    shown = json.loads(healbot(folder, "uninstall", "--dry-run", "--json").stdout)
    assert shown["files"] == [SETTINGS_PATH]
    assert shown["done"] is False
    assert (folder / SETTINGS_PATH).exists()
