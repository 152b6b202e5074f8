"""A repository with one agent's instructions, to queue edits of."""

from pathlib import Path

import pytest
from queueing import OLD, PATH
from sandbox import commit_all, git


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    path = tmp_path / PATH
    path.parent.mkdir(parents=True)
    path.write_bytes(OLD)
    (tmp_path / "other.txt").write_text("x\n")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit_all(tmp_path, "Begin")
    return tmp_path
