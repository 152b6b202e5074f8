"""The one real clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """``Clock`` of this machine, in UTC."""

    def now(self) -> datetime:
        """Return the current instant."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        """Wait; an interruption ends it at once."""
        time.sleep(seconds)
