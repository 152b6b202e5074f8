"""Two clones and one bare remote: one queue seen from both, and a refusal changes nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from crashing import MERGED, QUEUED, QUICK
from sandbox import ROOT, git, healbot, make_repository, plain_environment

pytestmark = pytest.mark.slow
SHARED = QUICK + "forge: {remote: origin}\n"


class Clones(NamedTuple):
    """Two clones of one bare repository."""

    a: Path
    b: Path
    bare: Path


def share(tmp_path: Path, mode: str) -> Clones:
    a, b, bare = tmp_path / "a", tmp_path / "b", tmp_path / "bare.git"
    make_repository(a, mode=mode, more=SHARED)
    git(a, "clone", "--quiet", "--bare", ".", str(bare))
    git(a, "remote", "add", "origin", str(bare))
    git(a, "clone", "--quiet", str(bare), str(b))
    return Clones(a, b, bare)


@pytest.fixture
def manual(tmp_path: Path) -> Clones:
    return share(tmp_path, "manual")


@pytest.fixture
def auto(tmp_path: Path) -> Clones:
    return share(tmp_path, "auto")


def kinds(repo: Path) -> tuple[str, ...]:
    done = healbot(repo, "audit", "--verify", "--json")
    assert done.returncode == 0, done.stderr
    return tuple(entry["kind"] for entry in json.loads(done.stdout)["log"])


def refuse(bare: Path, script: str) -> None:
    """Give the remote a hook that says no."""
    hook = bare / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)


def refs(bare: Path) -> str:
    return git(bare, "for-each-ref")


def test_a_pull_request_of_one_clone_is_merged_from_the_other(manual: Clones) -> None:
    assert healbot(manual.a, "cycle").returncode == 0
    listed = json.loads(healbot(manual.b, "pulls", "list", "--json").stdout)
    assert [(one["number"], one["state"]) for one in listed] == [(1, "open")]
    assert "ADMITTED" in healbot(manual.b, "pulls", "show", "1").stdout
    assert healbot(manual.b, "pulls", "checks", "1").returncode == 0
    done = healbot(manual.b, "pulls", "merge", "1")
    assert done.returncode == 0, done.stderr
    assert git(manual.b, "rev-parse", "main") == git(manual.bare, "rev-parse", "main")
    assert kinds(manual.a) == kinds(manual.b) == (*QUEUED, "applied")
    assert json.loads(healbot(manual.a, "pulls", "show", "1", "--json").stdout)["state"] == "merged"
    assert json.loads(healbot(manual.a, "history", "--json").stdout)[0]["what"] == "merged"
    git(manual.a, "pull", "--quiet", "--ff-only", "origin", "main")
    assert git(manual.a, "rev-parse", "main") == git(manual.bare, "rev-parse", "main")


def test_of_two_clones_that_race_one_works_and_nothing_is_doubled(auto: Clones) -> None:
    both = [
        subprocess.Popen(
            (sys.executable, "-m", "healbot", "cycle", "--repo", str(repo)),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
            env=plain_environment(),
        )
        for repo in (auto.a, auto.b)
    ]  # fmt: skip
    said = [one.communicate(timeout=60)[1] for one in both]
    assert sorted(one.returncode for one in both) == [0, 5], said
    assert kinds(auto.a) == kinds(auto.b) == MERGED
    assert len(git(auto.bare, "rev-list", "--merges", "main").split()) == 1


def test_a_remote_that_takes_nothing_is_reported_and_left_as_it_was(auto: Clones) -> None:
    before = refs(auto.bare)
    refuse(auto.bare, "echo 'nobody may push here' >&2; exit 1")
    done = healbot(auto.a, "cycle")
    assert done.returncode == 7
    assert done.stderr.startswith("healbot: The remote 'origin' refused the push: ")
    assert "Traceback" not in done.stderr
    assert refs(auto.bare) == before
    assert git(auto.a, "status", "--porcelain") == ""


def test_a_remote_that_guards_its_main_branch_gets_no_half_of_a_merge(auto: Clones) -> None:
    main = git(auto.bare, "rev-parse", "main")
    refuse(auto.bare, "while read old new ref; do [ $ref != refs/heads/main ] || exit 1; done")
    done = healbot(auto.a, "cycle")
    assert done.returncode == 7
    assert "refused the push" in done.stderr
    assert git(auto.bare, "rev-parse", "main") == git(auto.a, "rev-parse", "main") == main
    assert json.loads(healbot(auto.b, "pulls", "show", "1", "--json").stdout)["state"] == "open"
    refuse(auto.bare, "exit 0")
    assert healbot(auto.a, "cycle").returncode == 0
    assert kinds(auto.b) == MERGED


def test_a_merge_that_is_always_refused_can_be_ended_by_a_no(auto: Clones) -> None:
    refuse(auto.bare, "while read old new ref; do [ $ref != refs/heads/main ] || exit 1; done")
    assert healbot(auto.a, "cycle").returncode == 7
    done = healbot(auto.b, "pulls", "close", "1", "--why", "not wanted")
    assert done.returncode == 0, done.stderr
    assert healbot(auto.a, "cycle").returncode == 0
    assert kinds(auto.b) == (*MERGED[:-2], "declined", "closed")
