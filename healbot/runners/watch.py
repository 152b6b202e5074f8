"""Attending one started program: its input, its output, and the moment it ends.

Knows pipes and one process; decides nothing about it. One thread does it all, without waiting for
any single pipe, so that no program can block us by not reading or not writing.
"""

import os
import selectors
import subprocess
from contextlib import suppress

from healbot.ports import Command
from healbot.runners.capture import Capture

CHUNK_BYTES = 65_536
POLL_SECONDS = 0.02
"""How often the end is looked for where the system can't wake us."""
STATUS_CAP_BYTES = 4_096


class Watch:
    """One started program: its pipes, and when it ended."""

    def __init__(self, popen: subprocess.Popen[bytes], command: Command, status_fd: int) -> None:
        self._popen = popen
        self._selector = selectors.PollSelector()
        self._pidfd = -1
        self._unsent = memoryview(command.stdin)
        self.stdout = Capture(command.cap_bytes)
        self.stderr = Capture(command.cap_bytes)
        self.status = Capture(STATUS_CAP_BYTES)
        self.exited = False
        self._listen(popen, status_fd)

    def _listen(self, popen: subprocess.Popen[bytes], status_fd: int) -> None:
        if popen.stdin is None or popen.stdout is None or popen.stderr is None:
            raise ValueError("a watched program needs three pipes")
        self._status_fd = status_fd
        self._stdin_fd = popen.stdin.fileno()
        self._captures = {popen.stdout.fileno(): self.stdout, popen.stderr.fileno(): self.stderr}
        if status_fd >= 0:
            self._captures[status_fd] = self.status
        for fd in (self._stdin_fd, *self._captures):
            os.set_blocking(fd, False)
        for fd in self._captures:
            self._selector.register(fd, selectors.EVENT_READ)
        if self._unsent:
            self._selector.register(self._stdin_fd, selectors.EVENT_WRITE)
        else:
            popen.stdin.close()
        with suppress(AttributeError, OSError):
            self._pidfd = os.pidfd_open(popen.pid)
            self._selector.register(self._pidfd, selectors.EVENT_READ)

    @property
    def drained(self) -> bool:
        """True once every output pipe has come to its end."""
        return not any(fd in self._selector.get_map() for fd in self._captures)

    def step(self, seconds: float) -> None:
        """Wait for something to happen, at most so long, and deal with it."""
        if self._pidfd < 0:
            seconds = min(seconds, POLL_SECONDS)
        for key, _ in self._selector.select(max(seconds, 0.0)):
            if key.fd == self._pidfd:
                self.exited = True
                self._selector.unregister(key.fd)
            elif key.fd in self._captures:
                self._read(key.fd)
            else:
                self._write()
        if self._pidfd < 0 and self._popen.poll() is not None:
            self.exited = True

    def _read(self, fd: int) -> None:
        try:
            data = os.read(fd, CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._captures[fd].feed(data)
        else:
            self._selector.unregister(fd)

    def _write(self) -> None:
        try:
            sent = os.write(self._stdin_fd, self._unsent[:CHUNK_BYTES])
        except BlockingIOError:
            return
        except OSError:  # it does not want its input: that is its own affair
            sent = len(self._unsent)
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._selector.unregister(self._stdin_fd)
            with suppress(OSError):
                self._popen.stdin.close()  # type: ignore[union-attr]  # checked when we began

    def close(self) -> None:
        """Close every descriptor of ours."""
        self._selector.close()
        for fd in (self._pidfd, self._status_fd):
            if fd >= 0:
                os.close(fd)
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
