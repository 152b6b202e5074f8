"""Init writes what a repository lacks, all or nothing, over no file and through no link."""

import json
import os
from pathlib import Path

import pytest
from fakes import door
from sandbox import commit_all, git

from healbot.entry import placing
from healbot.entry.init import write_starter
from healbot.entry.placing import Placed, place_all
from healbot.errors import Exit, InputError
from healbot.records.settings import SETTINGS_PATH
from healbot.rules.reading import read_settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "instructions.md").write_text("# Shop\n")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if ".git" not in path.parts and path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def settings(root: Path) -> str:
    return (root / SETTINGS_PATH).read_text()


def test_an_agent_without_a_program_is_said_plainly(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_starter(root, dry_run=False)
    told = capsys.readouterr().out
    assert "no program that runs it" in told
    assert "Fill in run.command of shop" in told
    assert "This will be the first commit." in told
    (agent,) = read_settings(settings(root)).agents
    assert agent.run[0].command == "your-agent-here"
    assert set(tree(root)) == {"instructions.md", SETTINGS_PATH, "cases/starter.yml"}


def test_every_agent_gets_an_entry_cases_and_the_evals_that_are_there(root: Path) -> None:
    (root / "instructions.md").unlink()
    for path in ("agents/a b/instructions.md", "agents/c/instructions.md", "agents/c/agent.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    (root / "promptfooconfig.yaml").write_text("tests: []\n")
    write_starter(root, dry_run=False)
    agents = read_settings(settings(root)).agents
    assert [(one.name, one.dir) for one in agents] == [("a-b", "agents/a b"), ("c", "agents/c")]
    assert agents[1].cases == ("agents/c/cases", "promptfooconfig.yaml")
    assert (root / "agents/a b/cases/starter.yml").exists()


def test_a_dry_run_writes_nothing_and_the_document_says_all(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(root)
    write_starter(root, dry_run=True, as_document=True)
    said = json.loads(capsys.readouterr().out)
    assert [one["action"] for one in said["files"]] == ["would-write", "would-write"]
    assert said["agents"][0]["command"] is None
    assert tree(root) == before
    assert not (root / ".git/healbot").exists()


def test_settings_that_are_there_stay_and_an_empty_file_is_no_dead_end(root: Path) -> None:
    (root / ".github").mkdir()
    (root / SETTINGS_PATH).write_text("# version: 1\n# agents: []")
    write_starter(root, dry_run=False)
    assert settings(root).startswith("# version: 1\n# agents: []\nversion: 1\n")
    assert read_settings(settings(root)).agents
    before = tree(root)
    with pytest.raises(InputError, match="is there already; nothing was written"):
        write_starter(root, dry_run=False)
    assert tree(root) == before


def test_other_content_of_a_cases_folder_is_left_alone_and_cases_are_kept(root: Path) -> None:
    (root / "cases").mkdir()
    (root / "cases/data.yml").write_text("rows: 3\n")
    write_starter(root, dry_run=False)
    assert read_settings(settings(root)).agents[0].cases == (".healbot/cases/shop",)
    (root / SETTINGS_PATH).unlink()
    (root / "cases/data.yml").write_text(
        "- {id: a, input: b, assert: [{type: contains, value: c}]}"
    )
    write_starter(root, dry_run=False)
    assert read_settings(settings(root)).agents[0].cases == ("cases",)
    assert not (root / "cases/starter.yml").exists()


def test_no_link_is_written_through(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (root / ".github").symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="is a symlink"):
        write_starter(root, dry_run=False)
    assert not any((tmp_path / "outside").iterdir())


def test_all_files_are_written_or_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(root)
    real = placing._link_in  # the moment that a disk fills up

    def full(place: Path, content: bytes) -> None:
        if place.name == "healbot.yml":
            raise OSError(28, "No space left on device")
        real(place, content)

    monkeypatch.setattr(placing, "_link_in", full)
    with pytest.raises(OSError, match="No space"):
        write_starter(root, dry_run=False)
    assert tree(root) == before
    assert not (root / "cases").exists()


def test_a_file_that_appears_meanwhile_is_never_replaced(root: Path) -> None:
    with pytest.raises(InputError, match="meanwhile"):
        place_all(root, {"a/new.txt": Placed(b"x"), "instructions.md": Placed(b"y")})
    assert tree(root) == {"instructions.md": b"# Shop\n"}
    assert not (root / "a").exists()


def test_special_places_are_named(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit_all(root, "Begin")
    (root / "instructions.md").write_text("# Changed\n")
    write_starter(root, dry_run=True)
    assert "uncommitted changes (instructions.md)" in capsys.readouterr().out
    git(root, "worktree", "add", "--quiet", "--detach", str(tmp_path / "beside"))
    write_starter(tmp_path / "beside", dry_run=True)
    told = capsys.readouterr().out
    assert "linked worktree" in told
    assert "HEAD is detached" in told
    git(tmp_path, "init", "--quiet", "--bare", str(tmp_path / "bare"))
    with pytest.raises(InputError, match="bare repository"):
        write_starter(tmp_path / "bare", dry_run=False)


def test_a_repository_without_an_agent_gets_one_sentence(root: Path) -> None:
    (root / "instructions.md").unlink()
    with pytest.raises(InputError, match=r"No instructions\.md, AGENTS\.md or CLAUDE\.md"):
        write_starter(root, dry_run=False)


def test_a_folder_whose_name_is_not_utf8_is_refused_in_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "repo" / os.fsdecode(b"x\xffy")
    folder.mkdir(parents=True)
    (folder / "AGENTS.md").write_text("# A\n")
    (folder / "agent.py").write_text("print(1)\n")
    git(tmp_path / "repo", "init", "--quiet")
    git(tmp_path / "repo", "add", "--all")
    answer = door("init", "--repo", str(tmp_path / "repo"))
    assert answer.code == Exit.INPUT, answer.err
    assert "not UTF-8" in answer.err
