"""``--watch``: what it waits out, what ends it, and that an interruption leaves all resumable."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import FakeClock
from sandbox import ROOT, git, make_repository, plain_environment
from telling import answered

from healbot.entry.watching import seconds_of, watch
from healbot.errors import ChainError, HealbotError, InputError, NotNowError, UsageError


class EnoughError(Exception):
    """Ends a watch in a test."""


def rounds(*errors: HealbotError | None) -> tuple[list[str], list[float]]:
    """Watch through one round for each error (None: none), ten seconds each, a minute apart."""
    clock = FakeClock()
    said: list[str] = []
    pauses: list[float] = []
    script: Iterator[HealbotError | None] = iter(errors)

    def once() -> None:
        clock.pass_(10)
        try:
            error = next(script)
        except StopIteration:
            raise EnoughError from None
        if error:
            raise error

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        clock.pass_(seconds)

    with pytest.raises(EnoughError):
        watch(once, 60, clock=clock, pause=pause, say=said.append)
    return said, pauses


def test_rounds_begin_so_long_apart_whatever_one_takes() -> None:
    assert rounds(None, None)[1] == [50, 50]


def test_what_time_may_heal_is_said_and_tried_again() -> None:
    said, pauses = rounds(NotNowError("Stopped.", "Wait."), None)
    assert "Stopped. Wait." in said
    assert len(pauses) == 2


def test_unusable_input_ends_the_first_round_and_not_a_later_one() -> None:
    with pytest.raises(InputError):
        rounds(InputError("Bad.", "Mend."))
    assert "Bad. Mend." in rounds(None, InputError("Bad.", "Mend."))[0]


def test_a_broken_chain_ends_it_in_any_round() -> None:
    with pytest.raises(ChainError):
        rounds(None, None, ChainError("Broken."))


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1800), ("1h", 3600)])
def test_a_length_is_read(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "all", "1", "-1h", "0m", "1y", "99d"])
def test_what_is_no_length_is_wrong_usage(text: str) -> None:
    with pytest.raises(UsageError):
        seconds_of(text)


def test_an_interrupted_watch_leaves_everything_resumable(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    began = subprocess.Popen(
        (sys.executable, "-m", "healbot", "cycle", "--watch", "1h"),
        cwd=folder, env=plain_environment(PYTHONPATH=str(ROOT), SANDBOX_PAUSE="0.2"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert began.stderr
    for line in began.stderr:
        if "measure" in line:
            break
    time.sleep(0.1)
    os.kill(began.pid, signal.SIGINT)
    _, err = began.communicate(timeout=30)
    assert (began.returncode, "Traceback" in err) == (130, False)
    assert git(folder, "status", "--porcelain") == ""
    assert answered(folder, "cycle")["outcome"] == "merged"
