"""The versions that a compaction has still to make again, so that it comes to its end however busy the writer is."""

from __future__ import annotations

from collections import deque
from threading import Condition

from gquery.storage.changes.durable.log import Record

_PATIENCE = 1.0  # seconds that a writer waits at most, for a disk that does not answer, say


class Backlog:
    """Records in their order: the writer's thread adds them, a compaction's takes them. Once that is `paced`, a writer
    waits until there are fewer than when it added the last one: to make a version again takes as long as to make it,
    so that nobody would ever catch up with one who does nothing else."""

    def __init__(self) -> None:
        self._records = deque[Record]()
        self._changed = Condition()
        self._bound: int | None = None

    def __len__(self) -> int:
        return len(self._records)

    def add(self, record: Record) -> None:
        with self._changed:
            self._records.append(record)
            if self._bound is not None:
                self._bound = max(0, self._bound - 1)
                self._changed.wait_for(self._is_short, _PATIENCE)

    def taken(self, count: int) -> list[Record]:
        """The first ones, so many at most, which are not here any more."""
        with self._changed:
            taken = [self._records.popleft() for _ in range(min(count, len(self._records)))]
            self._changed.notify_all()
        return taken

    def pace(self) -> None:
        """From now on there are fewer and fewer."""
        with self._changed:
            self._bound = len(self._records)

    def end(self) -> None:
        """Nobody waits any more."""
        with self._changed:
            self._bound = None
            self._changed.notify_all()

    def _is_short(self) -> bool:
        return self._bound is None or len(self._records) <= self._bound
