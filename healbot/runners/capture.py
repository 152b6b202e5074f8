"""Keeping the head and the tail of a stream whose length nobody promised.

Knows bytes only: no process and no file.
"""


class Capture:
    """At most ``cap_bytes`` of a stream: its first half of that, and its last half."""

    def __init__(self, cap_bytes: int) -> None:
        cap = max(cap_bytes, 0)
        self._head_cap = cap - cap // 2
        self._tail_cap = cap // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    @property
    def truncated(self) -> bool:
        """True once something was left out."""
        return self._dropped > 0 or len(self._tail) > self._tail_cap

    def feed(self, data: bytes) -> None:
        """Take the next bytes; memory stays below twice the cap."""
        room = self._head_cap - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_cap:
            self._trim()

    def _trim(self) -> None:
        excess = len(self._tail) - self._tail_cap
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess

    def content(self) -> bytes:
        """Return what was kept; where something is missing, a line says how much."""
        self._trim()
        if not self._dropped:
            return bytes(self._head + self._tail)
        gap = b"\n[%d bytes left out here]\n" % self._dropped
        return bytes(self._head) + gap + bytes(self._tail)
