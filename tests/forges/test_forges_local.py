"""The embedded forge, in a real repository: what an Intent leaves in refs and records, once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sandbox import commit_all, git

from healbot.cycle.execute import execute
from healbot.errors import HarnessChangedError, InputError, RefusedError
from healbot.forges.git import GitRepo
from healbot.forges.local import LocalForge
from healbot.records.intent import (
    ClosePull,
    Effect,
    Intent,
    MergePull,
    OpenPull,
    PostCheck,
    Restore,
    SayOnPull,
    UpdatePull,
)
from healbot.records.pull import Pull
from healbot.records.record import digest_bytes
from healbot.stores.state import StateBranch

AT = datetime(2026, 1, 1, tzinfo=UTC)
OLD, NEW = b"- Answer politely.\n", b"- Answer politely.\n- Escalate.\n"
PATH = "agents/s/instructions.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / PATH
    path.parent.mkdir(parents=True)
    path.write_bytes(OLD)
    (tmp_path / "other.txt").write_text("x\n")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit_all(tmp_path, "Begin")
    return tmp_path


def forge(folder: Path) -> LocalForge:
    repo = GitRepo(folder)
    return LocalForge(repo, repo, StateBranch(repo, repo))


def do(folder: Path, intent: Intent) -> Effect:
    return execute([intent], forge(folder), lambda: None)[0]


def tip(folder: Path, ref: str = "main") -> str:
    return git(folder, "rev-parse", ref)


def opening(folder: Path, key: str = "open:1", branch: str = "healbot/s/escalate") -> OpenPull:
    return OpenPull(
        key=key, agent="s", at=AT, base_ref="main", base_sha=tip(folder), branch=branch,
        files={PATH: NEW}, commit_message="fix(s): escalate\n", title="fix(s): escalate",
        body="card", labels=("healbot",),
    )  # fmt: skip


def merging(number: int, head: str, unchanged: bytes | None = OLD) -> MergePull:
    digest = None if unchanged is None else digest_bytes(unchanged)
    return MergePull(
        key="merge:1", number=number, head_sha=head, by="Ada", at=AT,
        commit_message="Merge pull request 1\n", unchanged={PATH: digest},
    )  # fmt: skip


def one(folder: Path, number: int = 1) -> Pull:
    pull = forge(folder).pull(number)
    assert pull is not None
    return pull


def test_opening_makes_one_commit_one_branch_and_one_draft_record(folder: Path) -> None:
    effect = do(folder, opening(folder))
    pull = one(folder)
    assert (effect.number, effect.found) == (1, False)
    assert (pull.state, pull.draft, pull.labels) == ("open", True, ("healbot",))
    assert tip(folder, "healbot/s/escalate") == pull.head_sha == effect.sha
    assert git(folder, "diff", "--name-only", "main", "healbot/s/escalate") == PATH
    assert tip(folder, "refs/healbot/pulls/1/head") == effect.sha


def test_the_same_intent_twice_has_one_effect(folder: Path) -> None:
    first = do(folder, opening(folder))
    refs = git(folder, "for-each-ref")
    again = do(folder, opening(folder))
    assert again.found
    assert (again.number, again.sha) == (first.number, first.sha)
    assert git(folder, "for-each-ref") == refs
    update = UpdatePull(key="u", number=1, body="new card", draft=False)
    check = PostCheck(
        key="c", number=1, head_sha=first.sha, name="healbot/canary", conclusion="success"
    )
    say = SayOnPull(key="s", number=1, marker="outcome", body="kept", at=AT)
    merge = merging(1, first.sha)
    for intent in (update, check, say, merge):
        assert not do(folder, intent).found
        refs = git(folder, "for-each-ref")
        assert do(folder, intent).found
        assert git(folder, "for-each-ref") == refs


def test_numbers_go_up_and_a_branch_of_somebody_else_is_left_alone(folder: Path) -> None:
    do(folder, opening(folder))
    git(folder, "branch", "taken", "main")
    before = git(folder, "for-each-ref")
    with pytest.raises(RefusedError, match="there already"):
        do(folder, opening(folder, "open:2", "taken"))
    assert git(folder, "for-each-ref") == before
    assert do(folder, opening(folder, "open:2", "other")).number == 2


def test_merging_makes_a_real_merge_commit_and_removes_the_branch(folder: Path) -> None:
    before = tip(folder)
    head = do(folder, opening(folder)).sha
    effect = do(folder, merging(1, head))
    assert git(folder, "rev-parse", "main^1", "main^2").split() == [before, head]
    assert (effect.sha, effect.before_sha) == (tip(folder), before)
    assert (folder / PATH).read_bytes() == NEW
    assert git(folder, "branch", "--list", "healbot/s/*") == ""
    pull = one(folder)
    assert (pull.state, pull.closed_by, pull.merged_sha) == ("merged", "Ada", tip(folder))


def test_a_merge_goes_on_top_of_other_people_s_work(folder: Path) -> None:
    head = do(folder, opening(folder)).sha
    (folder / "other.txt").write_text("y\n")
    commit_all(folder, "Other work")
    do(folder, merging(1, head))
    assert (folder / "other.txt").read_text() == "y\n"
    assert (folder / PATH).read_bytes() == NEW


def test_a_file_that_changed_a_new_commit_on_the_branch_or_a_conflict_stops_the_merge(
    folder: Path,
) -> None:
    head = do(folder, opening(folder)).sha
    with pytest.raises(HarnessChangedError, match="changed since the cycle read it"):
        do(folder, merging(1, head, unchanged=b"something else"))
    with pytest.raises(HarnessChangedError, match="changed since"):
        do(folder, merging(1, head, unchanged=None))
    repo = GitRepo(folder)
    more = repo.commit({"x": b"1"}, base=head, parents=(head,), message="more", at=AT)
    git(folder, "update-ref", "refs/heads/healbot/s/escalate", more)
    with pytest.raises(HarnessChangedError, match="not judged"):
        do(folder, merging(1, head))
    git(folder, "update-ref", "refs/heads/healbot/s/escalate", head)
    (folder / PATH).write_bytes(b"- Answer rudely.\n")
    commit_all(folder, "Another edit of the same line")
    before = git(folder, "for-each-ref")
    with pytest.raises(HarnessChangedError, match="conflicts"):
        do(folder, merging(1, head, unchanged=b"- Answer rudely.\n"))
    assert git(folder, "for-each-ref") == before
    assert one(folder).state == "open"


def test_closing_removes_the_branch_says_why_and_is_final(folder: Path) -> None:
    head = do(folder, opening(folder)).sha
    do(folder, ClosePull(key="close:1", number=1, by="Ada", at=AT, because="no need"))
    pull = one(folder)
    assert (pull.state, pull.closed_by) == ("closed", "Ada")
    assert [comment.body for comment in pull.comments] == ["no need"]
    assert git(folder, "branch", "--list", "healbot/s/*") == ""
    assert tip(folder, "refs/healbot/pulls/1/head") == head
    for late in (merging(1, head), UpdatePull(key="u", number=1, body="b", draft=True)):
        with pytest.raises(RefusedError, match="closed already"):
            do(folder, late)


def test_a_comment_of_ours_is_edited_in_place_and_a_person_s_is_added(folder: Path) -> None:
    do(folder, opening(folder))
    for number, (marker, body) in enumerate(
        [("outcome", "a"), ("", "person"), ("outcome", "b"), ("", "person 2")]
    ):
        do(folder, SayOnPull(key=f"k{number}", number=1, marker=marker, body=body, at=AT))
    assert [comment.body for comment in one(folder).comments] == ["b", "person", "person 2"]


def test_a_check_stands_on_its_head_and_is_replaced_by_name(folder: Path) -> None:
    head = do(folder, opening(folder)).sha
    for conclusion in ("failure", "success"):
        do(
            folder,
            PostCheck(key="c", number=1, head_sha=head, name="n", conclusion=conclusion),  # type: ignore[arg-type]
        )
    assert [(check.head_sha, check.conclusion) for check in one(folder).checks] == [
        (head, "success")
    ]


def restoring(folder: Path, *, reverts: str | None = None, content: bytes = OLD) -> Restore:
    return Restore(
        key="restore:1", base_ref="main", expect=tip(folder), reverts_sha=reverts,
        files={PATH: content}, commit_message="revert(s): pull request 1\n", by="Ada", at=AT,
    )  # fmt: skip


def merged(folder: Path) -> str:
    do(folder, merging(1, do(folder, opening(folder)).sha))
    return tip(folder)


def test_a_restore_is_a_true_revert_on_top_of_later_work(folder: Path) -> None:
    sha = merged(folder)
    (folder / "other.txt").write_text("later\n")
    later = commit_all(folder, "Later work")
    effect = do(folder, restoring(folder, reverts=sha))
    assert (folder / PATH).read_bytes() == OLD
    assert (folder / "other.txt").read_text() == "later\n"
    assert git(folder, "rev-parse", "main^") == later == effect.before_sha
    assert effect.note == ""


def test_where_later_edits_stand_in_the_way_the_saved_files_come_back_and_it_says_so(
    folder: Path,
) -> None:
    sha = merged(folder)
    (folder / PATH).write_bytes(NEW.replace(b"Escalate", b"Always escalate"))
    commit_all(folder, "Later edit")
    effect = do(folder, restoring(folder, reverts=sha))
    assert (folder / PATH).read_bytes() == OLD
    assert "later edits" in effect.note


def test_the_same_words_later_are_another_restore(folder: Path) -> None:
    for _ in range(2):
        (folder / PATH).write_bytes(NEW)
        commit_all(folder, "A person's edit")
        effect = do(folder, restoring(folder))
        assert not effect.found
        assert (folder / PATH).read_bytes() == OLD


def test_a_restore_onto_a_branch_that_moved_is_refused(folder: Path) -> None:
    stale = restoring(folder)
    (folder / "other.txt").write_text("later\n")
    commit_all(folder, "Later work")
    with pytest.raises(HarnessChangedError, match="moved meanwhile"):
        do(folder, stale)


def test_a_missing_or_damaged_record_is_one_clear_sentence(folder: Path) -> None:
    with pytest.raises(InputError, match="no pull request 7"):
        do(folder, ClosePull(key="c", number=7, by="Ada", at=AT))
    repo = GitRepo(folder)
    store = StateBranch(repo, repo)
    store.save(store.load(), {"pulls/1.json": b"{}", "pulls/x.json": b""}, message="m", at=AT)
    with pytest.raises(InputError, match=r"pulls/1\.json on healbot/state"):
        forge(folder).pulls()
