"""A dry run's store and lease: written to memory, read back, and nothing reaches a ref."""

from datetime import UTC, datetime
from pathlib import Path

from fakes import START, FakeClock
from sandbox import git

from healbot.forges.git import GitRepo
from healbot.ports import Swap
from healbot.stores.dry import DryPermit, DryStore
from healbot.stores.state import StateBranch

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_dry_write_is_read_back_over_the_real_state_and_moves_no_ref(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    repo = GitRepo(tmp_path)
    real = StateBranch(repo, repo)
    real.save(real.load(), {"kept": b"1", "gone": b"2", "set": b"3"}, message="m", at=AT)
    before = git(tmp_path, "for-each-ref")
    dry = DryStore(real)
    also = [Swap("refs/heads/main", None, "0" * 40)]
    changes = {"set": b"new", "gone": None, "made": b"4"}
    state = dry.save(dry.load(), changes, message="m", at=AT, also=also)
    assert set(state.files) == {"README.md", "kept", "set", "made"}
    texts = {path: dry.read(state, path) for path in ("kept", "set", "made", "gone")}
    assert texts == {"kept": b"1", "set": b"new", "made": b"4", "gone": None}
    assert git(tmp_path, "for-each-ref") == before
    assert real.read(real.load(), "set") == b"3"


def test_a_dry_lease_is_always_given_and_is_nobody_else_s_business() -> None:
    permit = DryPermit(FakeClock())
    lease = permit.take("s")
    assert lease.until > START
    assert permit.renew(lease) == lease
    assert permit.renewal(lease)[0] == lease
    permit.release(lease)
    assert permit.holder("s") is None
