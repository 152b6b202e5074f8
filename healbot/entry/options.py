"""Options that several commands share, and how a command opens its repository."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from healbot.entry.environment import shed
from healbot.entry.unlocking import open_shop
from healbot.entry.wiring import Shop

RepoOption = Annotated[Path, typer.Option("--repo", help="The repository; any folder in it.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
AgentArgument = Annotated[str | None, typer.Argument(help="Which agent, where there are several.")]
HERE = Path()


@contextmanager
def opened(repo: Path, base: str | None = None) -> Iterator[Shop]:
    """Open a repository for one command; every program that it started is ended afterwards."""
    shop = open_shop(repo, shed(), base=base)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        yield shop
    finally:
        shop.processes.close()


def _interrupt(*_: object) -> None:
    """End like Ctrl-C when the system asks: programs that were started are ended too."""
    raise KeyboardInterrupt
