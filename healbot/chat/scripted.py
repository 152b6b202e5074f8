"""A chat model that answers from a list or a function: for tests and dry runs.

Knows no network; what it is asked is kept, so that a test can read it.
"""

import threading
from collections.abc import Callable, Iterable

from healbot.errors import HealbotError, ModelSilentError
from healbot.records.chat import Answer, Ask
from healbot.records.record import digest_of

Line = Answer | str | HealbotError
"""An answer, the text of one that simply ends, or the error to raise in place of one."""


class ScriptedChat:
    """``Chat`` by script; safe to use from many threads.

    Args:
        script: What is answered, in order, or a function of the Ask.
        name: Another name is another digest.
    """

    def __init__(
        self, script: Iterable[Line] | Callable[[Ask], Line], name: str = "script"
    ) -> None:
        self._lock = threading.Lock()
        self._lines = None if callable(script) else iter(tuple(script))
        self._function = script if callable(script) else None
        self._name = name
        self.asked: list[Ask] = []

    @property
    def digest(self) -> str:
        """Names the script by its name."""
        return digest_of({"api": "scripted", "model": self._name})

    def ask(self, ask: Ask) -> Answer:
        """Return the next answer.

        Raises:
            ModelSilentError: The script has no more; or whatever error it holds.
        """
        with self._lock:
            self.asked.append(ask)
            line = next(self._lines, None) if self._lines is not None else None
        if self._function is not None:
            line = self._function(ask)
        if line is None:
            raise ModelSilentError(f"The script has no answer to question {len(self.asked)}.")
        if isinstance(line, HealbotError):
            raise line
        return line if isinstance(line, Answer) else Answer(text=line, stop="end")
