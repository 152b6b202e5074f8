"""The one door to git, on real repositories: what is read, made, moved, and left alone."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sandbox import commit_all, git

from healbot.errors import HarnessChangedError, InputError, StaleError
from healbot.forges.git import GitRepo
from healbot.ports import Swap

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
MAIN = "refs/heads/main"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/one.txt").write_bytes(b"one\r\n\xff")
    (tmp_path / "a/run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "a/run.sh").chmod(0o755)
    (tmp_path / "ü b.txt").write_text("two\n")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit_all(tmp_path, "Begin")
    return tmp_path


def head(folder: Path, ref: str = MAIN) -> str:
    return git(folder, "rev-parse", ref)


def commit(repo: GitRepo, files: dict[str, bytes | None], onto: str, message: str = "m") -> str:
    return repo.commit(files, base=onto, parents=(onto,), message=message, at=AT)


def test_a_folder_that_is_no_repository_and_a_remote_that_is_not_there_are_named(
    tmp_path: Path, folder: Path
) -> None:
    with pytest.raises(InputError, match="is no git repository"):
        GitRepo(tmp_path / "nowhere")
    with pytest.raises(InputError, match="the remote 'far'"):
        GitRepo(folder, remote="far")


def test_a_tree_is_read_with_its_modes_and_exact_bytes(folder: Path) -> None:
    repo = GitRepo(folder)
    tree = repo.tree(head(folder))
    assert {path: file.mode for path, file in tree.items()} == {
        "a/one.txt": "100644",
        "a/run.sh": "100755",
        "ü b.txt": "100644",
    }
    assert repo.blob(tree["a/one.txt"].blob) == b"one\r\n\xff"
    assert set(repo.tree(head(folder), "a/")) == {"a/one.txt", "a/run.sh"}
    assert repo.resolve("refs/heads/none") is None
    assert repo.current_branch() == "main"


def test_a_commit_sets_and_removes_files_keeps_modes_and_moves_no_ref(folder: Path) -> None:
    repo, before = GitRepo(folder), head(folder)
    refs = git(folder, "for-each-ref")
    sha = commit(repo, {"a/run.sh": b"#!/bin/sh\nexit\n", "ü b.txt": None, "n/ü.md": b"x"}, before)
    tree = repo.tree(sha)
    assert set(tree) == {"a/one.txt", "a/run.sh", "n/ü.md"}
    assert tree["a/run.sh"].mode == "100755"
    assert git(folder, "for-each-ref") == refs
    assert git(folder, "status", "--porcelain") == ""


def test_the_same_arguments_make_the_same_commit(folder: Path) -> None:
    files: dict[str, bytes | None] = {"x": b"1"}
    one = commit(GitRepo(folder), files, head(folder), "Title\n\nbody – ü\n")
    assert commit(GitRepo(folder), files, head(folder), "Title\n\nbody – ü\n") == one
    (info,) = GitRepo(folder).log(one, limit=1)
    assert info.message.strip() == "Title\n\nbody – ü"
    assert (info.parents, info.author, info.at) == ((head(folder),), "healbot", AT)


def test_no_hook_and_no_signature_of_the_user_takes_part(folder: Path) -> None:
    hooks = folder / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "reference-transaction", "post-checkout"):
        (hooks / name).write_text("#!/bin/sh\nexit 1\n")
        (hooks / name).chmod(0o755)
    git(folder, "config", "commit.gpgSign", "true")
    git(folder, "config", "gpg.program", "/bin/false")
    repo = GitRepo(folder)
    sha = commit(repo, {"x": b"1"}, head(folder))
    repo.swap([Swap(MAIN, head(folder), sha)])
    assert head(folder) == sha


def test_a_merge_has_both_parents_and_a_conflict_is_none(folder: Path) -> None:
    repo, base = GitRepo(folder), head(folder)
    one = commit(repo, {"x": b"1\n"}, base)
    other = commit(repo, {"y": b"2\n"}, base)
    merged = repo.merge(one, other, message="merge", at=AT)
    assert merged is not None
    assert git(folder, "rev-parse", f"{merged}^1", f"{merged}^2").split() == [one, other]
    assert {"x", "y"} <= set(repo.tree(merged))
    assert repo.merge(one, commit(repo, {"x": b"other\n"}, base), message="m", at=AT) is None
    assert repo.merge_base(one, other) == base


def test_a_merge_commit_is_reverted_under_later_work_and_a_conflict_is_none(folder: Path) -> None:
    repo, base = GitRepo(folder), head(folder)
    side = commit(repo, {"ü b.txt": b"changed\n"}, base)
    later = commit(repo, {"new.txt": b"1"}, base)
    merged = repo.merge(later, side, message="merge", at=AT)
    assert merged is not None
    top = commit(repo, {"more.txt": b"2"}, merged)
    undone = repo.revert(top, merged, message="revert", at=AT)
    assert undone is not None
    tree = repo.tree(undone)
    assert {"new.txt", "more.txt"} <= set(tree)
    assert repo.blob(tree["ü b.txt"].blob) == b"two\n"
    touched = commit(repo, {"ü b.txt": b"changed again\n"}, merged)
    assert repo.revert(touched, merged, message="revert", at=AT) is None


def test_refs_move_all_or_none(folder: Path) -> None:
    repo, base = GitRepo(folder), head(folder)
    sha = commit(repo, {"x": b"1"}, base)
    with pytest.raises(StaleError):
        repo.swap([Swap("refs/heads/new", None, sha), Swap("refs/heads/other", base, sha)])
    assert repo.resolve("refs/heads/new") is None
    repo.swap([Swap("refs/heads/new", None, sha), Swap("refs/healbot/x", None, base)])
    assert repo.refs("refs/heads/") == {MAIN: base, "refs/heads/new": sha}
    with pytest.raises(StaleError):
        repo.swap([Swap("refs/heads/new", None, base)])
    repo.swap([Swap("refs/heads/new", sha, None)])
    assert repo.resolve("refs/heads/new") is None


def test_a_checked_out_branch_takes_its_work_tree_along_and_leaves_other_work(folder: Path) -> None:
    (folder / "draft.txt").write_text("untracked")
    (folder / "ü b.txt").write_text("my own work\n")
    repo, base = GitRepo(folder), head(folder)
    sha = commit(repo, {"a/one.txt": b"new\n", "n.txt": b"n"}, base)
    repo.swap([Swap(MAIN, base, sha)])
    assert (folder / "a/one.txt").read_bytes() == b"new\n"
    assert (folder / "n.txt").read_bytes() == b"n"
    assert (folder / "ü b.txt").read_text() == "my own work\n"
    assert (folder / "draft.txt").read_text() == "untracked"


def test_uncommitted_work_in_the_way_stops_it_and_nothing_moves(folder: Path) -> None:
    (folder / "a/one.txt").write_text("my own work\n")
    repo, base = GitRepo(folder), head(folder)
    sha = commit(repo, {"a/one.txt": b"new\n"}, base)
    with pytest.raises(HarnessChangedError, match="in the way"):
        repo.swap([Swap(MAIN, base, sha)])
    assert head(folder) == base
    assert (folder / "a/one.txt").read_text() == "my own work\n"


def test_a_lost_race_puts_the_work_tree_back(folder: Path) -> None:
    repo, base = GitRepo(folder), head(folder)
    sha = commit(repo, {"a/one.txt": b"new\n"}, base)
    with pytest.raises(StaleError):
        repo.swap([Swap(MAIN, base, sha), Swap("refs/heads/none", base, sha)])
    assert head(folder) == base
    assert (folder / "a/one.txt").read_bytes() == b"one\r\n\xff"
    assert git(folder, "status", "--porcelain") == ""


def test_every_work_tree_is_known_and_no_program_of_the_configuration_is_started(
    folder: Path, tmp_path: Path
) -> None:
    beside, proof = tmp_path / "line\nbreak", tmp_path / "started"
    git(folder, "worktree", "add", "--quiet", "-b", "side", str(beside))
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\ntouch '{proof}'\n")
    spy.chmod(0o755)
    git(folder, "config", "core.fsmonitor", str(spy))
    repo = GitRepo(folder)
    assert set(repo.worktrees()) == {folder, beside}
    sha = commit(repo, {"a/one.txt": b"1"}, head(folder))
    repo.swap([Swap(MAIN, head(folder), sha)])
    assert (folder / "a/one.txt").read_bytes() == b"1"
    assert not proof.exists()


def test_an_object_that_is_gone_is_said_in_a_sentence(folder: Path) -> None:
    name = git(folder, "rev-parse", "HEAD:a/one.txt")
    (folder / ".git/objects" / name[:2] / name[2:]).unlink()
    with pytest.raises(InputError, match=name) as found:
        GitRepo(folder).blob(name)
    assert "git fsck" in found.value.next_step
