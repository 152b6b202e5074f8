"""Two at once, people in between: a cycle beside another, a dirty work tree, a moving branch."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from crashing import MERGED, QUICK
from sandbox import (
    INSTRUCTIONS,
    LESSON,
    NAME,
    PAUSE_VARIABLE,
    ROOT,
    STARTS_VARIABLE,
    commit_all,
    git,
    healbot,
    make_repository,
    plain_environment,
)  # fmt: skip

SLOW = "0.3"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", more=QUICK)


def begin(repo: Path, *words: str, pause: str = SLOW) -> subprocess.Popen[str]:
    """Start a cycle beside us."""
    more = {PAUSE_VARIABLE: pause, STARTS_VARIABLE: str(repo.parent / "starts")}
    return subprocess.Popen(
        (sys.executable, "-m", "healbot", "cycle", *words, "--repo", str(repo)),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env=plain_environment(**more),
    )  # fmt: skip


def wait_for_runs(repo: Path) -> None:
    """Return once the agent of a cycle beside us was started."""
    until = time.monotonic() + 30
    while not (repo.parent / "starts").exists():
        assert time.monotonic() < until
        time.sleep(0.02)


def ended(cycle: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = cycle.communicate(timeout=60)
    return cycle.returncode, out, err


def kinds(repo: Path) -> tuple[str, ...]:
    """Return the ledger's kinds, after it was verified."""
    done = healbot(repo, "audit", "--verify", "--json")
    assert done.returncode == 0, done.stderr
    return tuple(entry["kind"] for entry in json.loads(done.stdout)["log"])


def merges(repo: Path) -> int:
    return len(git(repo, "rev-list", "--merges", "main").split())


def pull(repo: Path) -> dict[str, object]:
    done = healbot(repo, "pulls", "show", "1", "--json")
    assert done.returncode == 0, done.stderr
    shown: dict[str, object] = json.loads(done.stdout)
    return shown


def test_of_two_cycles_at_once_one_works_and_the_other_is_told(repo: Path) -> None:
    both = [ended(one) for one in (begin(repo), begin(repo))]
    assert sorted(code for code, _, _ in both) == [0, 5]
    refused = next(err for code, _, err in both if code == 5)
    assert refused.startswith("healbot: Another cycle of 's' is under way (process ")
    assert "Traceback" not in refused
    assert kinds(repo) == MERGED
    assert merges(repo) == 1


def test_a_killed_cycle_is_taken_over_at_once(repo: Path) -> None:
    first = begin(repo)
    wait_for_runs(repo)
    first.kill()
    ended(first)
    assert git(repo, "for-each-ref", "refs/healbot/lease") != ""
    assert healbot(repo, "cycle").returncode == 0
    assert kinds(repo) == MERGED


def test_another_machines_lease_holds_until_it_expires(repo: Path) -> None:
    for until, code in (("2999-01-01T00:00:00+00:00", 5), ("2020-01-01T00:00:00+00:00", 0)):
        said = {"host": "elsewhere", "pid": 1, "born": "1", "mark": "m", "until": until}
        tree = git(repo, "hash-object", "-w", "-t", "tree", "/dev/null")
        lease = git(repo, "commit-tree", tree, "-m", json.dumps(said))
        git(repo, "update-ref", f"refs/healbot/lease/{NAME}", lease)
        done = healbot(repo, "cycle")
        assert done.returncode == code, done.stderr
    assert kinds(repo) == MERGED


def test_uncommitted_work_in_the_way_is_kept_and_the_merge_waits_for_it(repo: Path) -> None:
    mine = "# Support\n\n- Answer politely, and briefly.\n"
    (repo / INSTRUCTIONS).write_text(mine)
    done = healbot(repo, "cycle")
    assert done.returncode == 8
    assert "Uncommitted changes in" in done.stderr
    assert (repo / INSTRUCTIONS).read_text() == mine
    assert (pull(repo)["state"], merges(repo)) == ("open", 0)
    git(repo, "checkout", "--quiet", "--", INSTRUCTIONS)
    assert healbot(repo, "cycle").returncode == 0
    assert kinds(repo) == MERGED
    assert git(repo, "status", "--porcelain") == ""


def test_uncommitted_work_elsewhere_and_a_touched_file_are_in_nobodys_way(repo: Path) -> None:
    (repo / "notes.txt").write_text("mine\n")
    (repo / "new.txt").write_text("mine too\n")
    (repo / INSTRUCTIONS).touch()
    assert healbot(repo, "cycle").returncode == 0
    assert merges(repo) == 1
    assert git(repo, "status", "--porcelain") == "M notes.txt\n?? new.txt"


def test_a_branch_that_moved_by_something_else_still_takes_the_merge(repo: Path) -> None:
    cycle = begin(repo)
    wait_for_runs(repo)
    (repo / "notes.txt").write_text("one\ntwo\nthree\nfour\n")
    mine = commit_all(repo, "Write a fourth note")
    assert ended(cycle)[0] == 0
    assert git(repo, "rev-parse", "main^1") == mine
    assert (repo / "notes.txt").read_text().endswith("four\n")
    assert kinds(repo) == MERGED


def test_a_harness_that_a_person_changed_meanwhile_is_not_overwritten(repo: Path) -> None:
    mine = "# Support\n\n- Answer politely, and briefly.\n"
    cycle = begin(repo)
    wait_for_runs(repo)
    (repo / INSTRUCTIONS).write_text(mine)
    commit_all(repo, "Ask for brevity")
    assert ended(cycle)[0] == 0
    assert (repo / INSTRUCTIONS).read_text() == mine
    closed = pull(repo)
    assert (closed["state"], closed["closed_by"]) == ("closed", "healbot")
    comments = closed["comments"]
    assert isinstance(comments, list)
    assert "changed since the cycle read it." in comments[-1]["body"]
    assert kinds(repo)[-1] == "closed"
    assert merges(repo) == 0


def test_a_rollback_made_twice_with_the_same_words_is_made_twice(repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD:" + INSTRUCTIONS)
    assert healbot(repo, "cycle").returncode == 0
    merged = git(repo, "rev-parse", "HEAD:" + INSTRUCTIONS)
    revision = json.loads(healbot(repo, "status", "--json").stdout)["agents"][0]["revision"]
    words = ("rollback", "--why", "it was worse")
    assert healbot(repo, *words).returncode == 0
    for _ in range(2):
        done = healbot(repo, *words, "--to", revision[:12])
        assert done.returncode == 0, done.stderr
        assert git(repo, "rev-parse", "HEAD:" + INSTRUCTIONS) == merged
        (repo / INSTRUCTIONS).write_text(git(repo, "cat-file", "blob", first) + "\n")
        commit_all(repo, "Back by hand")
    assert kinds(repo).count("rolled-back") == 3


def test_a_persons_revert_is_recorded_once(repo: Path) -> None:
    assert healbot(repo, "cycle").returncode == 0
    git(repo, "revert", "--no-edit", "--mainline", "1", "HEAD")
    (repo / LESSON).unlink()
    commit_all(repo, "Forget the lesson")
    for _ in range(2):
        done = healbot(repo, "cycle")
        assert (done.returncode, "A rollback was made" in done.stderr) == (5, True)
    assert kinds(repo) == (*MERGED, "rolled-back")
