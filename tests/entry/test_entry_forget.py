"""``healbot forget``: what is kept of a session goes, from history and objects; the rest stays."""

import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from crashing import QUICK
from sandbox import ROOT, git, make_repository, plain_environment
from telling import answered, call, kinds, lines_of

from healbot.entry.unlocking import open_shop
from healbot.records.ledger import Switched
from healbot.records.observed import ObservedRun, keyed
from healbot.records.record import canonical
from healbot.records.run import Outcome

AT = datetime(2026, 1, 1, tzinfo=UTC)
SECRET, OTHER = "marker-of-ada", "marker-of-bob"
ADA, BOB = "session of Ada", "session of Bob"
RUNS = "agents/s/runs/2026-01.jsonl"
AUDIT = ("audit", "--verify")


def line(session: str, text: str) -> bytes:
    fields = {"session": keyed(session), "text": text}
    return (canonical(fields) + "\n").encode()


def filled(folder: Path, remote: str = "") -> Path:
    """Make a repository whose state and clone hold two sessions, in an old and in a new commit."""
    more = f"forge: {{remote: {remote}}}\n" if remote else ""
    repo = make_repository(folder / "repo", more=more)
    if remote:
        git(repo, "init", "--quiet", "--bare", "../bare.git")
        git(repo, "remote", "add", remote, "../bare.git")
        git(repo, "push", "--quiet", remote, "main")
    shop = open_shop(repo, plain_environment())
    with shop.book(shop.agent(None)) as book:
        book.append(Switched(stopped=True, by="Ada"), cycle=None, beside={RUNS: line(ADA, SECRET)})
        book.append(Switched(stopped=False, by="Ada"), cycle=None, beside={RUNS: line(BOB, OTHER)})
        book.append(Switched(stopped=True, by="Ada"), cycle=None, beside={RUNS: line(ADA, SECRET)})
    pairs = ((ADA, SECRET), (BOB, OTHER))
    shop.observed.add(
        ObservedRun(session=keyed(name), at=AT, input=f"a task about {text}", verdict=Outcome.FAIL)
        for name, text in pairs
    )
    shop.journal.save(SECRET.encode())
    return repo


def everything(repo: Path) -> str:
    """Return the text of every object in the database, held by a ref or not, and of our files."""
    listed = git(
        repo, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"
    )
    names = "\n".join(one.split()[0] for one in listed.splitlines() if one.endswith("blob"))
    done = subprocess.run(
        ("git", "-C", str(repo), "cat-file", "--batch"),
        input=names.encode(), capture_output=True, check=True,
    )  # fmt: skip
    kept = [path for path in (repo / ".git/healbot").rglob("*") if path.is_file()]
    return (done.stdout + b"".join(path.read_bytes() for path in kept)).decode("utf-8", "replace")


def test_a_session_goes_from_files_history_and_objects_and_the_other_one_stays(
    tmp_path: Path,
) -> None:
    repo = filled(tmp_path)
    old = git(repo, "rev-parse", "healbot/state")
    assert call(repo, *AUDIT).code == 0
    done = answered(repo, "forget", "--session", ADA, "--yes")
    assert (done["records"], done["lines"], done["objects_stayed"]) == (1, 1, 0)
    assert done["objects"] > 0
    (private,) = (repo / ".git/healbot").glob("journal")
    shutil.rmtree(private)  # only forgetting everything empties it
    text = everything(repo)
    assert SECRET not in text
    assert OTHER in text
    assert git(repo, "show", f"healbot/state:{RUNS}") == line(BOB, OTHER).decode().strip()
    assert git(repo, "cat-file", "--batch-check", "--batch-all-objects").find(old) < 0
    assert git(repo, "fsck", "--full", "--no-dangling") == ""
    assert call(repo, *AUDIT).code == 0
    assert kinds(repo) == ["switched"] * 3 + ["forgotten"]
    assert ADA not in "".join(git(repo, "log", "-p", "healbot/state"))


def test_what_is_packed_goes_too_and_a_person_s_own_loose_ends_stay(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    (repo / "notes.txt").write_text("mine\n")
    git(repo, "stash")
    mine = git(repo, "commit-tree", "-m", "mine alone", "HEAD^{tree}")
    git(repo, "repack", "-a", "-d", "--quiet")
    git(repo, "commit-graph", "write", "--reachable")
    answered(repo, "forget", "--all", "--yes")
    text = everything(repo)
    assert SECRET not in text
    assert OTHER not in text
    assert git(repo, "cat-file", "-t", mine) == "commit"
    assert git(repo, "stash", "list")
    assert git(repo, "show", "stash@{0}:notes.txt") == "mine"
    assert git(repo, "fsck", "--full", "--no-dangling") == ""
    assert RUNS not in git(repo, "ls-tree", "-r", "--name-only", "healbot/state")
    assert call(repo, *AUDIT).code == 0


def test_what_a_ref_of_a_person_s_holds_stays_and_is_named(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    git(repo, "branch", "keep", "healbot/state")
    done = answered(repo, "forget", "--session", ADA, "--yes")
    assert done["held_by"] == ["refs/heads/keep"]
    assert git(repo, "show", f"keep:{RUNS}").count(SECRET) == 2


def test_a_remote_s_branch_is_rebuilt_as_well(tmp_path: Path) -> None:
    repo = filled(tmp_path, remote="origin")
    bare = tmp_path / "bare.git"
    assert SECRET in git(bare, "show", f"healbot/state:{RUNS}")
    answered(repo, "forget", "--session", ADA, "--yes")
    assert SECRET not in git(bare, "log", "-p", "healbot/state")
    assert git(bare, "rev-parse", "refs/healbot/tip") == git(bare, "rev-parse", "healbot/state")
    assert git(bare, "log", "-1", "--format=%s", "healbot/state").startswith("s: forgotten")
    assert call(repo, *AUDIT).code == 0
    shutil.rmtree(repo / ".git/healbot/journal")
    assert SECRET not in everything(repo)


def test_an_unknown_session_exits_with_3_and_says_nothing_of_others(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    done = call(repo, "forget", "--session", "another", "--yes")
    assert done.code == 3
    assert (done.out, "Ada" in done.err) == ("", False)
    assert kinds(repo) == ["switched"] * 3


def test_it_asks_before_and_a_pipe_cannot_be_asked(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    done = call(repo, "forget", "--all")
    assert done.code == 2
    assert "--yes" in done.err
    assert call(repo, "forget").code == 2
    assert call(repo, "forget", "--all", "--session", ADA, "--yes").code == 2
    dry = answered(repo, "forget", "--all", "--dry-run")
    assert (dry["done"], dry["lines"]) == (False, 2)
    assert SECRET in everything(repo)


def test_it_waits_for_a_cycle_under_way(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    shop = open_shop(repo, plain_environment())
    lease = shop.permit.take("s")
    assert call(repo, "forget", "--all", "--yes").code == 5
    shop.permit.release(lease)
    assert SECRET in everything(repo)


POINTS = (
    "noted 1", "noted 2", "swapped", "followed", "recorded", "erased files", "noted 3",
    "erased objects",
)  # fmt: skip
KILLED = """
import os, signal, sys
from pathlib import Path
from healbot.entry import erasure
from healbot.entry.main import run
from healbot.forges.erasing import Erasing
from healbot.forges.git import GitRepo
from healbot.forges.rewriting import Rewriting
point = sys.argv.pop(1)
counts = {}
def strike(owner, method, name, before=False):
    original = getattr(owner, method)
    def wrapped(*args, **kwargs):
        counts[name] = counts.get(name, 0) + 1
        here = point in (name, f"{name} {counts[name]}")
        if here and before:
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*args, **kwargs)
        if here and (name != "swapped" or "refs/heads/healbot/state" in str(args)):
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(owner, method, wrapped)
strike(erasure, "noted", "noted")
strike(GitRepo, "swap", "swapped")
strike(Rewriting, "follow", "followed")
strike(erasure, "_record", "recorded")
strike(erasure, "_erase_files", "erased files")
strike(Path, "unlink", "erased objects", before=True) if point == "x" else None
strike(Erasing, "erase", "erased objects")
sys.argv[0] = "healbot"
sys.exit(run())
"""


def killed_at(point: str, repo: Path) -> None:
    words = ("forget", "--session", ADA, "--yes", "--repo", str(repo))
    killed = subprocess.run(
        (sys.executable, "-c", KILLED, point, *words),
        check=False, capture_output=True, text=True, cwd=ROOT,
        env=plain_environment(PYTHONPATH=str(ROOT)),
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr


@pytest.mark.parametrize("point", POINTS)
def test_killed_anywhere_a_second_call_finishes(point: str, tmp_path: Path) -> None:
    repo = filled(tmp_path)
    killed_at(point, repo)
    done = answered(repo, "forget", "--session", ADA, "--yes")
    assert (done["records"], done["lines"]) == (1, 1)
    shutil.rmtree(repo / ".git/healbot/journal")
    assert SECRET not in everything(repo)
    assert OTHER in everything(repo)
    assert kinds(repo) == ["switched"] * 3 + ["forgotten"]
    assert call(repo, *AUDIT).code == 0
    assert call(repo, "forget", "--session", ADA, "--yes").code == 3
    assert git(repo, "fsck", "--full", "--no-dangling") == ""


def test_cut_off_after_the_swap_the_second_call_lets_the_clone_s_own_branch_follow(
    tmp_path: Path,
) -> None:
    repo = filled(tmp_path, remote="origin")
    git(repo, "branch", "healbot/state", "refs/healbot/remote/heads/healbot/state")
    killed_at("swapped", repo)
    assert SECRET in git(repo, "log", "-p", "healbot/state")
    done = answered(repo, "forget", "--session", ADA, "--yes")
    assert (done["held_by"], done["objects_stayed"]) == ([], 0)
    assert SECRET not in git(repo, "log", "-p", "healbot/state")
    shutil.rmtree(repo / ".git/healbot/journal")
    assert SECRET not in everything(repo)


def test_where_git_cannot_tell_what_is_held_nothing_is_touched(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    before, text = git(repo, "rev-parse", "healbot/state"), everything(repo)
    (repo / ".git/refs/heads/broken").write_text("1" * 40 + "\n")
    done = call(repo, "forget", "--session", ADA, "--yes")
    assert (done.code, done.out) == (7, "")
    assert "git fsck" in done.err
    assert "broken" in done.err
    (repo / ".git/refs/heads/broken").unlink()
    assert (git(repo, "rev-parse", "healbot/state"), everything(repo)) == (before, text)
    assert call(repo, *AUDIT).code == 0
    assert answered(repo, "forget", "--session", ADA, "--yes")["objects_stayed"] == 0


def test_everything_takes_the_texts_of_a_cycle_s_runs_and_leaves_their_outcomes(
    tmp_path: Path,
) -> None:
    repo = make_repository(tmp_path / "repo", more=QUICK + "privacy: {publish: redacted}\n")
    assert call(repo, "cycle").code == 0
    before = lines_of(repo, "journal")
    assert any("escalate" in one["run"]["stdout"] for one in before)
    answered(repo, "forget", "--all", "--yes")
    bare = [{name: it for name, it in one.items() if name != "run"} for one in before]
    assert lines_of(repo, "journal") == bare
    assert "stdout" not in git(repo, "log", "-p", "healbot/state")
    assert call(repo, *AUDIT).code == 0
    assert git(repo, "fsck", "--full", "--no-dangling") == ""


def test_case_files_that_were_made_of_the_session_are_named(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    path = "agents/s/cases/seen.yml"
    words = ("cases", "from-runs", "--session", ADA, "--write", path)
    assert call(repo, *words).code == 0
    assert answered(repo, "forget", "--session", BOB, "--yes")["case_files"] == []
    assert answered(repo, "forget", "--session", ADA, "--dry-run")["case_files"] == [path]
    done = call(repo, "forget", "--session", ADA, "--yes")
    assert f"- {path}: " in done.out.partition("Not reached:")[2]
    again = call(repo, "forget", "--session", ADA, "--yes")
    assert again.code == 3
    assert path in again.err
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Cases")
    (repo / path).unlink()
    assert answered(repo, "forget", "--all", "--yes")["case_files"] == [path]
