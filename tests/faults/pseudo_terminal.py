"""A program at a terminal, and someone who reads its screen and types."""

from __future__ import annotations

import os
import pty
import select
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager


class Terminal:
    """screen: all that has been printed, as bytes; what was waited for is cut off. child: the process that runs."""

    def __init__(self, master: int, child: int) -> None:
        self._master = master
        self.child = child
        self.screen = b""

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    @property
    def echoes(self) -> bool:
        """Whether what is typed is shown, where no program does so itself."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    def wait_for(self, *words: bytes, seconds: float) -> bytes:
        """The first of the words that is printed. Raises TimeoutError."""
        end = time.monotonic() + seconds
        while True:
            found = [(self.screen.index(word), word) for word in words if word in self.screen]
            if found:
                place, word = min(found)
                self.screen = self.screen[place + len(word) :]
                return word
            self.read(end - time.monotonic())

    def read(self, seconds: float) -> None:
        """Waits until something is printed."""
        if seconds <= 0 or not select.select([self._master], [], [], seconds)[0]:
            raise TimeoutError(self.screen[-2_000:].decode(errors="replace"))
        self.screen += os.read(self._master, 65_536)


@contextmanager
def at_terminal(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[Terminal]:
    """Runs a command at a terminal of its own, and ends it."""
    child, master = pty.fork()
    if child == 0:
        os.execvpe(command[0], list(command), dict(environment))
    try:
        yield Terminal(master, child)
    finally:
        os.close(master)  # the child gets SIGHUP
        os.kill(child, 9)
        os.waitpid(child, 0)
