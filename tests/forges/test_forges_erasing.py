"""Objects are taken out only where git says what is held."""

from pathlib import Path

import pytest
from sandbox import git, make_repository

from healbot.errors import RefusedError
from healbot.forges.erasing import Erasing
from healbot.forges.git import GitRepo


def test_a_broken_ref_stops_it_before_the_first_object_goes(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    held, tip = git(folder, "rev-parse", "HEAD:notes.txt"), git(folder, "rev-parse", "HEAD")
    (folder / ".git/refs/heads/broken").write_text("1" * 40 + "\n")
    erasing = GitRepo(folder).erasing
    for act in (erasing.require_whole, lambda: erasing.erase([held])):
        with pytest.raises(RefusedError, match="broken"):
            act()
    with pytest.raises(RefusedError, match="broken"):
        erasing.only_below([tip])
    assert git(folder, "cat-file", "-t", held) == "blob"


def test_a_git_that_fails_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "objects/ab").mkdir(parents=True)
    (tmp_path / "objects/ab" / ("c" * 38)).touch()
    erasing = Erasing(lambda *_, **__: (128, b"", "fatal: no\n"), tmp_path)
    with pytest.raises(RefusedError, match="fatal: no"):
        erasing.lost_commits()
    with pytest.raises(RefusedError, match="fatal: no"):
        erasing.holders("1" * 40)
