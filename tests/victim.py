"""The victim of the kill-9 rig: the real command line, which dies by SIGKILL at a chosen effect.

``python victim.py COMMAND …`` puts thin wrappers around everything that leaves a trace. They note
each effect in the file that ``CRASH_LOG`` names, or end the process right before or after the one
that ``CRASH_AT`` names (``before save s: gated#1``). Nothing in the product knows of it.
"""

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from healbot.entry.main import run
from healbot.forges.checkout import Checkouts
from healbot.forges.git import GitRepo
from healbot.forges.local import LocalForge
from healbot.ports import Swap
from healbot.stores.journal import FileJournal
from healbot.stores.permit import RefPermit
from healbot.stores.state import StateBranch

AT, LOG = "CRASH_AT", "CRASH_LOG"


class Effects:
    """Counts effects by name; notes them, or strikes at the one that was named."""

    def __init__(self, at: str, log: str) -> None:
        self._at = at
        self._log = log
        self._lock = threading.Lock()
        self._seen: Counter[str] = Counter()

    def watch(self, owner: type, method: str, name_of: Callable[..., str]) -> None:
        """Put a wrapper around a method of a class."""
        original = getattr(owner, method)

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            event = self._numbered(name_of(*args, **kwargs))
            self._strike(f"before {event}")
            result = original(*args, **kwargs)
            self._strike(f"after {event}")
            return result

        setattr(owner, method, wrapped)

    def _numbered(self, name: str) -> str:
        with self._lock:
            self._seen[name] += 1
            event = f"{name}#{self._seen[name]}"
            if self._log:
                with Path(self._log).open("a") as file:
                    file.write(event + "\n")
        return event

    def _strike(self, here: str) -> None:
        if here == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


def arm(effects: Effects) -> None:
    """Watch every effect: the forge, the state, the refs and work tree, the journal, the lease."""
    watch = effects.watch
    watch(LocalForge, "perform", lambda _, intent: f"intent {intent.kind}")
    watch(StateBranch, "save", lambda *_, **named: f"save {named['message'].splitlines()[0]}")
    watch(Checkouts, "move", lambda *_: "work tree")
    watch(Checkouts, "note", lambda *_: "note")
    watch(GitRepo, "_push", lambda _, swaps: f"push {_names(swaps)}")
    watch(GitRepo, "_update", lambda _, swaps, **__: f"refs {_names(swaps)}")
    watch(FileJournal, "begin", lambda *_: "begin")
    watch(FileJournal, "put", lambda *_: "run")
    watch(FileJournal, "save", lambda *_: "content")
    watch(RefPermit, "take", lambda *_: "lease take")
    watch(RefPermit, "release", lambda *_: "lease release")


def _names(swaps: Sequence[Swap]) -> str:
    return "+".join(swap.ref.rsplit("/", 1)[-1][:12] for swap in swaps)


if __name__ == "__main__":
    arm(Effects(os.environ.pop(AT, ""), os.environ.pop(LOG, "")))
    sys.argv[0] = "healbot"
    sys.exit(run())
