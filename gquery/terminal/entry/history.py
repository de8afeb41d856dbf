"""What was entered at the prompt before."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from prompt_toolkit.history import FileHistory


class KeptHistory(FileHistory):
    """A history in a file, and in memory alone where the file cannot be read or written: a home of somebody else's or a
    disk that is full is no reason to lose what was just entered."""

    def load_history_strings(self) -> Iterable[str]:
        try:
            return super().load_history_strings()
        except OSError:
            return ()

    def store_string(self, string: str) -> None:
        with suppress(OSError):
            super().store_string(string)
