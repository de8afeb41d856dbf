"""The folder of a store: the graph as it was saved, and every change since, which only one writer adds to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from gquery.errors import LoadError
from gquery.storage.changes.durable.log import Log, Record, open_changed
from gquery.storage.graph import Snapshot
from gquery.storage.persist import lock
from gquery.storage.persist.entries import Manifest
from gquery.storage.persist.files import is_there
from gquery.storage.persist.lock import locked
from gquery.storage.persist.manifest import folder_of, is_saved, read_manifest
from gquery.storage.persist.save import install, sweep, written

_VERSION = 1 << 16  # bytes of a saved graph that are written in the time that one version is read again in, and
_LEAST = 1 << 24  # so many more than the graph has, that are always worth less than saving anew


class Successor(NamedTuple):
    """A graph that is written beside the one of a folder, and the log that goes on from it."""

    manifest: Manifest
    log: Log


class Folder:
    """Held against other writers until it is closed. opened: the graph as it was when that began."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._saved = _size(read_manifest(folder_of(path)))  # what is no graph gets no lock
        self._directory = folder_of(path)
        with ExitStack() as held, _refusals(self._directory):
            self._directory = self._directory.resolve()  # a process may go elsewhere, and a link may be changed
            self._lock = held.enter_context(locked(self._directory))
            sweep(self._directory)
            self.opened = open_changed(self._directory)
            self._log = Log(self._directory, self.opened.digest, self.opened.version, self.opened.end)
            self._held = held.pop_all()
        self._versions = self.opened.replayed
        self._process = os.getpid()
        self.is_open = True

    def keep(self, record: Record) -> None:
        """A version, on the disk when this returns. LoadError when it cannot be kept."""
        self._check()
        self._log.append([record])
        self._versions += 1

    @property
    def load(self) -> float:
        """How much there is to be read again of changes, by what is worth as much as saving the graph anew."""
        return (self._log.size + _VERSION * self._versions) / (self._saved + _LEAST)

    # --- another graph in place of the one that is there ---------------------------------------------------------

    def write(self, snapshot: Snapshot, version: int) -> Successor:
        """Writes a version as a graph that later changes can go on from. LoadError when the system refuses: then the
        folder is as it was."""
        self._check()
        with _refusals(self._directory):
            manifest = written(snapshot, self._directory)
            return Successor(manifest, Log(self._directory, manifest.digest, version, 0))

    def replace(self, successor: Successor, versions: int) -> None:
        """Puts a graph and its log, which has so many versions, in place of those that are there. LoadError when the
        system refuses."""
        self._check()
        with _refusals(self._directory):
            try:
                install(successor.manifest, self._directory)
            except OSError:
                if self._may_have(successor):
                    self.close()  # which of the two a machine has that stops now, nobody knows: there is no third log
                raise
        self._log.close()
        self._log, self._versions, self._saved = successor.log, versions, _size(successor.manifest)

    def _may_have(self, successor: Successor) -> bool:
        try:
            return read_manifest(self._directory).digest == successor.manifest.digest
        except LoadError:
            return True

    def drop(self, successor: Successor) -> None:
        """Removes what has been written in vain."""
        successor.log.close()
        if self.is_open and self._process == os.getpid() and self._is_there:
            with suppress(OSError):
                sweep(self._directory)

    def close(self) -> None:
        if self.is_open:
            self._log.close()
            self._held.close()
            self.is_open = False

    def _check(self) -> None:
        if not self.is_open:
            raise LoadError("the store is closed", file=str(self._directory), hint="open it again")
        if self._process != os.getpid():
            raise LoadError(f"the store is written to by process {self._process}, which has forked this one",
                            file=str(self._directory), hint="open the store in the process that writes")  # fmt: skip
        if not self._is_there:
            raise LoadError("the store's folder has been removed, renamed or replaced",
                            file=str(self._directory), hint="bring it back, or save `store.graph`")  # fmt: skip

    @property
    def _is_there(self) -> bool:
        """Whether the folder still has what this store holds of it: what is written to files that nobody finds is lost,
        and by a lock's file that is gone nobody is kept out."""
        is_locked = is_there(self._directory / lock.NAME, self._lock.fileno())
        return is_locked and self._log.is_there and is_saved(self._directory)


def _size(manifest: Manifest) -> int:
    """Bytes of a saved graph."""
    return sum(file.size for file in set(manifest.files()))


@contextmanager
def _refusals(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LoadError(
            f"the folder cannot be written to: {error.strerror or error}", file=str(error.filename or directory)
        ) from error
