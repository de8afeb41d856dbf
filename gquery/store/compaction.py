"""Compaction: a graph gets rid of what changes have left, while others read it and write to it.

What is compacted is the version that is the newest when that begins. Versions that come meanwhile are made again, of
elements that have other ids there, until there are so few left (`backlog.py`) that the writer can wait for them.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence

from gquery.errors import StoreWarning
from gquery.storage.changes.ahead import RoomAhead
from gquery.storage.changes.compacted import compacted
from gquery.storage.changes.durable.log import Record, replayed
from gquery.storage.changes.new_ids import NewIds
from gquery.storage.graph import Snapshot
from gquery.store.folder import Folder

_FEWEST = 1 << 16  # ids that nobody has, which are not worth a compaction, and
_SHARE = 4  # an nth of all ids, which are


def waste(snapshot: Snapshot) -> float:
    """How many ids nobody has any more, by what is worth a compaction."""
    numbers, edges = snapshot.vertex_numbers, snapshot.edges
    unused = numbers.count - sum(table.count for table in snapshot.vertex_tables) + len(edges.gone)
    return unused / max(_FEWEST, (numbers.count + edges.numbers.count) / _SHARE)


class Compacted:
    """A version of a graph as it is compacted, and kept up. In a folder: beside the graph that is there."""

    def __init__(self, snapshot: Snapshot, version: int, folder: Folder | None) -> None:
        """LoadError when the folder cannot be written to."""
        self.snapshot = compacted(snapshot)
        self._ids = NewIds(snapshot)
        self._made_ready(snapshot)
        self._folder = folder
        self._successor = None if folder is None else folder.write(self.snapshot, version)
        self._versions = 0

    def follow(self, records: Sequence[Record]) -> None:
        """Makes the versions that have come since."""
        own = [record._replace(batches=tuple(map(self._ids.batch, record.batches))) for record in records]
        if self._successor is not None and own:
            self._successor.log.append(own)
        for record in own:
            self.snapshot = replayed(self.snapshot, zip(record.free_ids, record.batches, strict=True))
        self._versions += len(own)

    def install(self) -> None:
        """Makes the folder's graph this one."""
        if self._folder is not None and self._successor is not None:
            self._folder.replace(self._successor, self._versions)
            self._successor = None

    def drop(self) -> None:
        """Leaves nothing behind where this was in vain."""
        if self._folder is not None and self._successor is not None:
            self._folder.drop(self._successor)

    def _made_ready(self, before: Snapshot) -> None:
        """Has what would be asked for next, so that neither the writer nor a query waits for it."""
        if "free_id" in before.__dict__:
            self.snapshot.free_id = before.free_id  # what was given out stays so
        if "counts" in before.__dict__:
            _ = self.snapshot.counts
        for key in before.edges.known_keys:
            self.snapshot.edges.kept(key)
        RoomAhead(self.snapshot.edges).make()


class Background:
    """A compaction in a thread of its own. One that the system refuses is told as a warning, and tried again when there
    is twice as much to be gained."""

    def __init__(self, compact: Callable[[], None]) -> None:
        self._compact = compact
        self._thread: threading.Thread | None = None
        self._patience = 1

    def tell(self, gain: float) -> None:
        """How much there is to be gained now, by what is worth a compaction. By one thread at a time."""
        if gain < self._patience or (self._thread is not None and self._thread.is_alive()):
            return
        thread = threading.Thread(target=self._run, name="gquery compaction")  # which the process waits for at its end
        try:
            thread.start()
        except RuntimeError as error:  # the system has no thread more, or the process ends
            self._failed(error)
        else:
            self._thread = thread

    def wait(self) -> None:
        """Until what has begun has ended."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        try:
            self._compact()
            self._patience = 1
        except Exception as error:  # nobody else hears of it
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        self._patience *= 2
        warnings.warn(f"the store could not be compacted, and goes on as it is: {error}", StoreWarning, stacklevel=2)
