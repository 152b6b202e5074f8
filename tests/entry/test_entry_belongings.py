"""Uninstall takes only what is healbot's: no link, no person's branch, no copy, no unsaved work."""

import json
from pathlib import Path

import pytest
from crashing import QUICK
from sandbox import (
    agent_only,
    commit_all,
    git,
    healbot,
    make_repository,
    plain_environment,
    refs,
)

from healbot.entry.init import write_starter
from healbot.entry.uninstall import Wishes, uninstall
from healbot.entry.unlocking import open_shop
from healbot.records.pull import Pull
from healbot.records.settings import SETTINGS_PATH


def away(folder: Path) -> None:
    uninstall(folder, {}, wishes=Wishes(), agreed=lambda: True)


@pytest.mark.parametrize("linked", [SETTINGS_PATH, ".github"])
def test_nothing_is_written_or_removed_through_a_link(
    tmp_path: Path, linked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = agent_only(tmp_path / "shop")
    (folder / ".github").mkdir()
    (folder / SETTINGS_PATH).write_text("# later\n")
    write_starter(folder, dry_run=False)
    outside = tmp_path / "outside"
    (folder / linked).rename(outside)
    (folder / linked).symlink_to(outside)
    held = outside if outside.is_file() else outside / "healbot.yml"
    before = held.read_bytes()
    away(folder)
    assert held.read_bytes() == before
    assert (folder / linked).is_symlink()
    assert f"kept: {linked} is a symlink" in capsys.readouterr().out


def test_a_forged_record_of_a_pull_request_removes_no_persons_branch(tmp_path: Path) -> None:
    more = QUICK + "forge: {remote: origin}\n"
    folder = make_repository(tmp_path / "one", more=more)
    git(tmp_path, "init", "--quiet", "--bare", str(tmp_path / "hub"))
    git(folder, "remote", "add", "origin", str(tmp_path / "hub"))
    head = git(folder, "rev-parse", "main")
    git(folder, "push", "--quiet", "origin", "main", "main:refs/heads/release")
    git(folder, "push", "--quiet", "origin", "main:refs/healbot/pulls/9/head")
    shop = open_shop(folder, plain_environment())
    pull = Pull(
        number=9,
        key="k",
        agent="s",
        title="t",
        body="b",
        branch="release",
        head_sha=head,
        base_ref="main",
        opened_at=shop.clock.now(),
    )
    record = {"pulls/9.json": pull.model_dump_json().encode()}
    shop.store.save(shop.store.load(), record, message="forged", at=shop.clock.now())
    done = healbot(folder, "uninstall", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert refs(tmp_path / "hub").splitlines() == ["refs/heads/main", "refs/heads/release"]
    said = json.loads(done.stdout)
    assert "refs/heads/healbot/state" in said["remote_refs"]
    assert "refs/heads/release" not in said["remote_refs"]


def test_a_copy_of_the_starter_cases_elsewhere_is_a_persons(tmp_path: Path) -> None:
    folder = agent_only(tmp_path / "shop")
    write_starter(folder, dry_run=False)
    copy = folder / "docs/cases/starter.yml"
    copy.parent.mkdir(parents=True)
    copy.write_bytes((folder / "agents/s/cases/starter.yml").read_bytes())
    away(folder)
    assert copy.exists()
    assert not (folder / "agents/s/cases/starter.yml").exists()


def test_changed_settings_go_only_where_git_has_them_or_yes_was_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = agent_only(tmp_path / "shop")
    write_starter(folder, dry_run=False)
    place = folder / SETTINGS_PATH
    place.write_text(place.read_text() + "# mine\n")
    away(folder)
    assert place.exists()
    assert "changes that were never committed" in capsys.readouterr().out
    done = healbot(folder, "uninstall", "--yes", "--json")
    assert "never committed" in json.loads(done.stdout)["changed"][0]
    assert not place.exists()
    write_starter(folder, dry_run=False)
    place.write_text(place.read_text() + "# mine\n")
    commit_all(folder, "Mine")
    away(folder)
    assert not place.exists()
    assert "the last commit has it" in capsys.readouterr().out
