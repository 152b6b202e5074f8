"""The embedded forge, in a real repository: what an Intent leaves in refs and records, once."""

from pathlib import Path

import pytest
from queueing import AT, NEW, OLD, PATH, forge, merging, opening, tip
from sandbox import commit_all, git

from healbot.cycle.execute import execute
from healbot.errors import HarnessChangedError, InputError, RefusedError
from healbot.forges.git import GitRepo
from healbot.records.intent import (
    ClosePull,
    Effect,
    Intent,
    PostCheck,
    Restore,
    SayOnPull,
    UpdatePull,
)
from healbot.records.pull import Pull
from healbot.stores.state import StateBranch


def do(desk: Path, intent: Intent) -> Effect:
    return execute([intent], forge(desk), lambda: None)[0]


def one(desk: Path, number: int = 1) -> Pull:
    pull = forge(desk).pull(number)
    assert pull is not None
    return pull


def test_opening_makes_one_commit_one_branch_and_one_draft_record(desk: Path) -> None:
    effect = do(desk, opening(desk))
    pull = one(desk)
    assert (effect.number, effect.found) == (1, False)
    assert (pull.state, pull.draft, pull.labels) == ("open", True, ("healbot",))
    assert tip(desk, "healbot/s/escalate") == pull.head_sha == effect.sha
    assert git(desk, "diff", "--name-only", "main", "healbot/s/escalate") == PATH
    assert tip(desk, "refs/healbot/pulls/1/head") == effect.sha


def test_the_same_intent_twice_has_one_effect(desk: Path) -> None:
    first = do(desk, opening(desk))
    refs = git(desk, "for-each-ref")
    again = do(desk, opening(desk))
    assert again.found
    assert (again.number, again.sha) == (first.number, first.sha)
    assert git(desk, "for-each-ref") == refs
    update = UpdatePull(key="u", number=1, body="new card", draft=False)
    check = PostCheck(
        key="c", number=1, head_sha=first.sha, name="healbot/canary", conclusion="success"
    )
    say = SayOnPull(key="s", number=1, marker="outcome", body="kept", at=AT)
    merge = merging(1, first.sha)
    for intent in (update, check, say, merge):
        assert not do(desk, intent).found
        refs = git(desk, "for-each-ref")
        assert do(desk, intent).found
        assert git(desk, "for-each-ref") == refs


def test_numbers_go_up_and_a_branch_of_somebody_else_is_left_alone(desk: Path) -> None:
    do(desk, opening(desk))
    git(desk, "branch", "taken", "main")
    before = git(desk, "for-each-ref")
    with pytest.raises(RefusedError, match="there already"):
        do(desk, opening(desk, "open:2", "taken"))
    assert git(desk, "for-each-ref") == before
    assert do(desk, opening(desk, "open:2", "other")).number == 2


def test_merging_makes_a_real_merge_commit_and_removes_the_branch(desk: Path) -> None:
    before = tip(desk)
    head = do(desk, opening(desk)).sha
    effect = do(desk, merging(1, head))
    assert git(desk, "rev-parse", "main^1", "main^2").split() == [before, head]
    assert (effect.sha, effect.before_sha) == (tip(desk), before)
    assert (desk / PATH).read_bytes() == NEW
    assert git(desk, "branch", "--list", "healbot/s/*") == ""
    pull = one(desk)
    assert (pull.state, pull.closed_by, pull.merged_sha) == ("merged", "Ada", tip(desk))


def test_a_merge_goes_on_top_of_other_people_s_work(desk: Path) -> None:
    head = do(desk, opening(desk)).sha
    (desk / "other.txt").write_text("y\n")
    commit_all(desk, "Other work")
    do(desk, merging(1, head))
    assert (desk / "other.txt").read_text() == "y\n"
    assert (desk / PATH).read_bytes() == NEW


def test_a_file_that_changed_a_new_commit_on_the_branch_or_a_conflict_stops_the_merge(
    desk: Path,
) -> None:
    head = do(desk, opening(desk)).sha
    with pytest.raises(HarnessChangedError, match="changed since the cycle read it"):
        do(desk, merging(1, head, unchanged=b"something else"))
    with pytest.raises(HarnessChangedError, match="changed since"):
        do(desk, merging(1, head, unchanged=None))
    repo = GitRepo(desk)
    more = repo.commit({"x": b"1"}, base=head, parents=(head,), message="more", at=AT)
    git(desk, "update-ref", "refs/heads/healbot/s/escalate", more)
    with pytest.raises(HarnessChangedError, match="not judged"):
        do(desk, merging(1, head))
    git(desk, "update-ref", "refs/heads/healbot/s/escalate", head)
    (desk / PATH).write_bytes(b"- Answer rudely.\n")
    commit_all(desk, "Another edit of the same line")
    before = git(desk, "for-each-ref")
    with pytest.raises(HarnessChangedError, match="conflicts"):
        do(desk, merging(1, head, unchanged=b"- Answer rudely.\n"))
    assert git(desk, "for-each-ref") == before
    assert one(desk).state == "open"


def test_closing_removes_the_branch_says_why_and_is_final(desk: Path) -> None:
    head = do(desk, opening(desk)).sha
    do(desk, ClosePull(key="close:1", number=1, by="Ada", at=AT, because="no need"))
    pull = one(desk)
    assert (pull.state, pull.closed_by) == ("closed", "Ada")
    assert [comment.body for comment in pull.comments] == ["no need"]
    assert git(desk, "branch", "--list", "healbot/s/*") == ""
    assert tip(desk, "refs/healbot/pulls/1/head") == head
    for late in (merging(1, head), UpdatePull(key="u", number=1, body="b", draft=True)):
        with pytest.raises(RefusedError, match="closed already"):
            do(desk, late)


def test_a_comment_of_ours_is_edited_in_place_and_a_person_s_is_added(desk: Path) -> None:
    do(desk, opening(desk))
    for number, (marker, body) in enumerate(
        [("outcome", "a"), ("", "person"), ("outcome", "b"), ("", "person 2")]
    ):
        do(desk, SayOnPull(key=f"k{number}", number=1, marker=marker, body=body, at=AT))
    assert [comment.body for comment in one(desk).comments] == ["b", "person", "person 2"]


def test_a_check_stands_on_its_head_and_is_replaced_by_name(desk: Path) -> None:
    head = do(desk, opening(desk)).sha
    for conclusion in ("failure", "success"):
        do(
            desk,
            PostCheck(key="c", number=1, head_sha=head, name="n", conclusion=conclusion),
        )
    assert [(check.head_sha, check.conclusion) for check in one(desk).checks] == [(head, "success")]


def restoring(desk: Path, *, reverts: str | None = None, content: bytes = OLD) -> Restore:
    return Restore(
        key="restore:1", base_ref="main", expect=tip(desk), reverts_sha=reverts,
        files={PATH: content}, commit_message="revert(s): pull request 1\n", by="Ada", at=AT,
    )  # fmt: skip


def merged(desk: Path) -> str:
    do(desk, merging(1, do(desk, opening(desk)).sha))
    return tip(desk)


def test_a_restore_is_a_true_revert_on_top_of_later_work(desk: Path) -> None:
    sha = merged(desk)
    (desk / "other.txt").write_text("later\n")
    later = commit_all(desk, "Later work")
    effect = do(desk, restoring(desk, reverts=sha))
    assert (desk / PATH).read_bytes() == OLD
    assert (desk / "other.txt").read_text() == "later\n"
    assert git(desk, "rev-parse", "main^") == later == effect.before_sha
    assert effect.note == ""


def test_where_later_edits_stand_in_the_way_the_saved_files_come_back_and_it_says_so(
    desk: Path,
) -> None:
    sha = merged(desk)
    (desk / PATH).write_bytes(NEW.replace(b"Escalate", b"Always escalate"))
    commit_all(desk, "Later edit")
    effect = do(desk, restoring(desk, reverts=sha))
    assert (desk / PATH).read_bytes() == OLD
    assert "later edits" in effect.note


def test_the_same_words_later_are_another_restore(desk: Path) -> None:
    for _ in range(2):
        (desk / PATH).write_bytes(NEW)
        commit_all(desk, "A person's edit")
        effect = do(desk, restoring(desk))
        assert not effect.found
        assert (desk / PATH).read_bytes() == OLD


def test_a_restore_onto_a_branch_that_moved_is_refused(desk: Path) -> None:
    stale = restoring(desk)
    (desk / "other.txt").write_text("later\n")
    commit_all(desk, "Later work")
    with pytest.raises(HarnessChangedError, match="moved meanwhile"):
        do(desk, stale)


def test_a_missing_or_damaged_record_is_one_clear_sentence(desk: Path) -> None:
    with pytest.raises(InputError, match="no pull request 7"):
        do(desk, ClosePull(key="c", number=7, by="Ada", at=AT))
    repo = GitRepo(desk)
    store = StateBranch(repo, repo)
    store.save(store.load(), {"pulls/1.json": b"{}", "pulls/x.json": b""}, message="m", at=AT)
    with pytest.raises(InputError, match=r"pulls/1\.json on healbot/state"):
        forge(desk).pulls()
