"""``healbot cycle --watch``: one cycle after another, so long apart, until it is interrupted.

Knows which errors are reasons to wait and which are reasons to end; runs nothing itself.
"""

from collections.abc import Callable
from typing import Any

from healbot.entry.printing import spoken
from healbot.errors import Exit, HealbotError, UsageError
from healbot.ports import Clock
from healbot.seam.faults import FieldError
from healbot.seam.window import ALL, parse_length

WAITED_OUT = frozenset({Exit.COULD_NOT_TELL, Exit.NOT_NOW, Exit.BUDGET, Exit.REFUSED, Exit.CHANGED})
"""Codes of errors that time may heal: the next round tries again."""
LONGEST_SECONDS = 31 * 86_400.0


def seconds_of(text: str) -> float:
    """Return the seconds of ``90s``, ``30m``, ``1h``, ``1d``.

    Raises:
        UsageError: It is no such length, or longer than a month.
    """
    try:
        seconds = parse_length(text) if text != ALL else None
    except FieldError:
        seconds = None
    if seconds is None or seconds > LONGEST_SECONDS:
        raise UsageError(
            f"--watch takes a length such as 30m, 1h or 1d, not {text!r}.",
            "See healbot cycle --help.",
        )
    return seconds


def watch(
    once: Callable[[], object],
    every_seconds: float,
    *,
    clock: Clock,
    pause: Callable[[float], Any],
    say: Callable[[str], None],
) -> None:
    """Call ``once`` again and again; ends only by an error or an interruption.

    Unusable input ends it in the first round, where somebody is looking; later it is said, and the
    next commit may have mended it. A broken chain and faults of ours always end it.

    Args:
        once: One round; opens the repository anew, so that settings are those of its time.
        every_seconds: From the start of a round to the start of the next.
        clock: Measures the rounds.
        pause: Waits so many seconds.
        say: Is told what a round could not do, and when the next one is.
    """
    first = True
    while True:
        began = clock.monotonic()
        try:
            once()
        except HealbotError as error:
            healed = error.exit_code in WAITED_OUT or (error.exit_code == Exit.INPUT and not first)
            if not healed:
                raise
            say(f"{error.what} {error.next_step}".strip())
        first = False
        left = max(0.0, every_seconds - (clock.monotonic() - began))
        say(f"the next cycle begins in {spoken(left)}; Ctrl-C ends this")
        pause(left)
