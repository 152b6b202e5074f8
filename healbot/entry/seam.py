"""``healbot seam``: grade heals, and certify a baseline; the words are those of the seam's command.

Typer hands the words through unread, so that this door and ``python -m healbot.seam`` can't differ,
and wrong usage exits with 3 as the formulas' source has it.
"""

from typing import Any

import typer
from typer.core import TyperGroup

from healbot.entry.clock import SystemClock


class Words(TyperGroup):
    """A command that leaves its words to the seam."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep every word."""
        ctx.args = list(args)
        return []

    def invoke(self, ctx: Any) -> int:
        """Do what the words say; returns the exit code."""
        from healbot.seam.__main__ import door  # noqa: PLC0415 - only this command needs it
        from healbot.seam.command import run  # noqa: PLC0415 - only this command needs it

        return run(ctx.args, door(SystemClock().now().date().isoformat()))


app = typer.Typer(cls=Words)


@app.callback()
def seam() -> None:
    """Grade heals: was the repair real? Four numbers, and a baseline."""
