"""Runs of other code are other runs."""

from fakes import FakeRunner, support

from healbot.runners.at_commit import AtCommit


def test_the_same_command_at_another_commit_is_another_way_of_running() -> None:
    runner = FakeRunner(support)
    digests = {AtCommit(runner, commit).digest for commit in ("a" * 40, "b" * 40)}
    assert len(digests | {runner.digest}) == 3
