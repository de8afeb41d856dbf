"""The folder of a store: the graph as it was saved, and every change since, which only one writer adds to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa

from gquery.errors import LoadError
from gquery.storage.changes.batch import Batch
from gquery.storage.changes.durable.log import Log, open_changed
from gquery.storage.graph import Snapshot
from gquery.storage.persist.lock import locked
from gquery.storage.persist.manifest import folder_of, read_manifest
from gquery.storage.persist.save import replace
from gquery.storage.tables import largest_number


class Folder:
    """Held against other writers until it is closed. opened: the graph as it was when that began."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._directory = folder_of(path)
        read_manifest(self._directory)  # what is no graph gets no lock
        with ExitStack() as held, _refusals(self._directory):
            held.enter_context(locked(self._directory))
            self.opened = open_changed(self._directory)
            self._log = Log(self._directory, self.opened.digest, self.opened.version, self.opened.end)
            self._held = held.pop_all()
        self._is_open = True

    def keep(self, version: int, batches: Sequence[Batch], before: Snapshot) -> None:
        """A version, on the disk when this returns. LoadError when it cannot be kept."""
        self._check()
        self._log.append(version, batches, list(_free_ids(batches, before)))

    def replace(self, snapshot: Snapshot, version: int) -> None:
        """Saves a version as the graph that later changes go on from. LoadError when the system refuses: then the
        folder is as it was."""
        self._check()
        logs: list[Log] = []
        with _refusals(self._directory):
            replace(snapshot, self._directory, lambda digest: logs.append(Log(self._directory, digest, version, 0)))
        self._log.close()
        (self._log,) = logs

    def close(self) -> None:
        if self._is_open:
            self._log.close()
            self._held.close()
            self._is_open = False

    def _check(self) -> None:
        if not self._is_open:
            raise LoadError("the store is closed", file=str(self._directory), hint="open it again")


@contextmanager
def _refusals(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LoadError(
            f"the folder cannot be written to: {error.strerror or error}", file=str(error.filename or directory)
        ) from error


def _free_ids(batches: Sequence[Batch], before: Snapshot) -> Iterator[int]:
    """The first number that each batch may give out as an id; 0 where it gives out none."""
    free = before.free_id if any(each.ids is None for batch in batches for each in batch.vertices) else 0
    for batch in batches:
        yield free if any(each.ids is None for each in batch.vertices) else 0
        for each in batch.vertices:
            ids = None if each.ids is None else pa.chunked_array([each.ids])
            free = free + each.count if ids is None else max(free, largest_number(ids) + 1)
