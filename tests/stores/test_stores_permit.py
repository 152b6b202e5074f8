"""Leases on refs: one holder at a time, an expiry, and a dead holder taken over."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from fakes import START, FakeClock
from sandbox import ROOT, git

from healbot.errors import LeaseLostError, NotNowError
from healbot.forges.git import GitRepo
from healbot.stores.permit import LEASE_PREFIX, RefPermit


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    return tmp_path


def permit(folder: Path, clock: FakeClock | None = None) -> RefPermit:
    repo = GitRepo(folder)
    return RefPermit(repo, repo, clock or FakeClock(), minutes=15)


def refs(folder: Path) -> str:
    return git(folder, "for-each-ref", "--format=%(refname)", "refs/healbot")


def test_one_holder_at_a_time_and_the_other_is_told_until_when(folder: Path) -> None:
    mine = permit(folder)
    lease = mine.take("s")
    assert lease.until == START + timedelta(minutes=15)
    with pytest.raises(NotNowError, match=r"at the latest until 2026-03-14 09:45 UTC"):
        permit(folder).take("s")
    assert permit(folder).take("other-agent").ref == LEASE_PREFIX + "other-agent"
    mine.release(lease)
    assert permit(folder).take("s")


def test_nothing_is_left_once_it_is_given_back(folder: Path) -> None:
    mine = permit(folder)
    mine.release(mine.take("s"))
    assert refs(folder) == ""
    assert mine.holder("s") is None


def test_an_expired_lease_is_taken_over_and_its_old_holder_can_do_nothing(folder: Path) -> None:
    old = permit(folder)
    lost = old.take("s")
    later = FakeClock(START + timedelta(minutes=16))
    new = permit(folder, later)
    lease = new.take("s")
    with pytest.raises(LeaseLostError):
        old.renewal(lost)
    with pytest.raises(LeaseLostError):
        old.renew(lost)
    old.release(lost)
    held = new.holder("s")
    assert held is not None
    assert held.sha == lease.sha


def test_a_renewed_lease_lasts_from_now_and_its_old_form_is_worth_nothing(folder: Path) -> None:
    clock = FakeClock()
    mine = permit(folder, clock)
    lease = mine.take("s")
    clock.pass_(600)
    renewed = mine.renew(lease)
    assert renewed.until == START + timedelta(minutes=25)
    with pytest.raises(LeaseLostError):
        mine.renew(lease)
    clock.pass_(600)
    with pytest.raises(NotNowError):
        permit(folder, clock).take("s")


def test_a_holder_of_this_machine_that_died_is_taken_over_at_once(folder: Path) -> None:
    script = (
        "import sys; sys.path[:0] = sys.argv[2:];"
        "from test_stores_permit import permit; from pathlib import Path;"
        "permit(Path(sys.argv[1])).take('s')"
    )
    paths = (str(ROOT), str(ROOT / "tests"), str(ROOT / "tests/stores"))
    subprocess.run([sys.executable, "-c", script, str(folder), *paths], check=True, cwd=ROOT)
    assert refs(folder) == LEASE_PREFIX + "s"
    assert permit(folder).holder("s") is None
    assert permit(folder).take("s")


def test_a_lease_that_another_hand_damaged_stops_nobody_for_ever(folder: Path) -> None:
    tree = git(folder, "hash-object", "-w", "-t", "tree", "/dev/null")
    sha = git(folder, "commit-tree", "-m", "no lease of ours", tree)
    git(folder, "update-ref", LEASE_PREFIX + "s", sha)
    assert permit(folder).take("s").sha == git(folder, "rev-parse", LEASE_PREFIX + "s")
