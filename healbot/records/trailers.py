"""The trailers that healbot writes under a commit message: one type, rendered and parsed.

They anchor the ledger's head outside its own file and tie a commit to cycle and revision.
"""

import re

from healbot.records.record import Record

_LINE = re.compile(r"^Healbot-([A-Z][a-z]+): ([^\s].*)$")
_FIELDS = ("cycle", "agent", "revision", "baseline", "ledger", "reverts")


class Trailers(Record):
    """Trailers of one commit; a field that is empty is not written."""

    cycle: str = ""
    agent: str = ""
    revision: str = ""
    baseline: str = ""
    ledger: str = ""
    reverts: str = ""

    def render(self) -> str:
        """Return the trailer lines, without a final newline."""
        pairs = ((name, getattr(self, name)) for name in _FIELDS)
        return "\n".join(f"Healbot-{name.title()}: {value}" for name, value in pairs if value)

    @classmethod
    def parse(cls, message: str) -> "Trailers":
        """Read the trailers out of a commit message; unknown lines are passed over.

        Only the last paragraph counts, as git itself has it: text above it is not ours.
        """
        last = message.rstrip().replace("\r\n", "\n").rsplit("\n\n", 1)[-1]
        found = {}
        for line in last.split("\n"):
            match = _LINE.match(line)
            if match and match[1].lower() in _FIELDS:
                found[match[1].lower()] = match[2].strip()
        return cls(**found)
