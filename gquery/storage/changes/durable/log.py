"""The changes since a graph was saved, in its folder: one record a version, behind all others.

A record is on the disk before its version is seen by anybody. The last one may be cut off, or torn, by what ended its
writer: then nobody was told of it, and it is left out. Anything else that is wrong is damage. The log is named after
the manifest that it goes on from, so that a graph that was saved anew has another one.

A record: MARK, its version, the length and the CRC-32 of its content, the CRC-32 of all this; and the content, which is
that of `records.py`. In front of the first: MARK, the version of the saved graph, and twice zero, in the same way.
"""

from __future__ import annotations

import errno
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gquery.errors import GQueryError, LoadError
from gquery.storage.changes.applied import applied
from gquery.storage.changes.batch import Batch
from gquery.storage.changes.durable.checked import check
from gquery.storage.changes.durable.records import REFUSALS, decoded, encoded
from gquery.storage.graph import Snapshot
from gquery.storage.persist.files import at_once, is_there, open_regular, sync_directory
from gquery.storage.persist.manifest import folder_of, log_name, manifest_there
from gquery.storage.persist.open import open_saved

_MARK = b"gqry"
_HEAD = struct.Struct("<4sQQI")
_SUM = struct.Struct("<I")
_SIZE = _HEAD.size + _SUM.size
_LONGEST_HOLE = 1 << 30  # bytes


class Record(NamedTuple):
    """A version: the batches that make it of the one before, and the first number that each may give out as an id; 0
    where it gives out none."""

    version: int
    batches: Sequence[Batch]
    free_ids: Sequence[int]


class Opened(NamedTuple):
    """A graph with the changes since it was saved. digest: of its manifest, which names the log; end: of the records
    there; replayed: how many they are."""

    snapshot: Snapshot
    version: int
    digest: str
    end: int
    replayed: int


def open_changed(path: str | os.PathLike[str]) -> Opened:
    """The newest version of a graph in a folder. LoadError for what is damaged."""
    directory = folder_of(path)
    while True:
        there = manifest_there(directory)
        snapshot, digest = open_saved(directory)
        content = _read(directory / log_name(digest))
        if there == manifest_there(directory):  # else it was saved anew meanwhile, and its log has gone
            return _replayed(snapshot, directory / log_name(digest), digest, content)


class Log:
    """The log of a folder that nobody else writes to."""

    def __init__(self, directory: Path, digest: str, version: int, end: int) -> None:
        """Goes on behind the records that end there, of the log of a manifest; a new one begins with a version."""
        self._path = directory / log_name(digest)
        self._descriptor = at_once(str(self._path), os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0))
        self._end = end
        os.ftruncate(self._descriptor, end)
        if not end:
            self._write(_head(version, b""))
            sync_directory(directory)

    def append(self, records: Sequence[Record]) -> None:
        """Keeps some versions, on the disk when this returns. LoadError when the system refuses: then none is kept."""
        try:
            self._write(b"".join(map(_encoded, records)))
        except OSError as error:
            raise LoadError(
                f"the changes cannot be kept: {error.strerror or error}",
                file=str(self._path),
                hint="the graph is as it was before them",
            ) from error

    @property
    def size(self) -> int:
        """Bytes."""
        return self._end

    @property
    def is_there(self) -> bool:
        """Whether the folder still has this log."""
        return is_there(self._path, self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)

    def _write(self, content: bytes) -> None:
        """At the end, whole or not at all."""
        try:
            left = memoryview(content)
            os.lseek(self._descriptor, self._end, os.SEEK_SET)
            while left:
                left = left[os.write(self._descriptor, left) :]
            getattr(os, "fdatasync", os.fsync)(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, self._end)
            raise
        self._end += len(content)


def replayed(snapshot: Snapshot, batches: Iterable[tuple[int, Batch]]) -> Snapshot:
    """A snapshot after some batches, each with the first number that it may give out as an id, or 0."""
    for free_id, batch in batches:
        if free_id:
            snapshot.free_id = free_id
        snapshot = applied(snapshot, batch)
    return snapshot


def _encoded(record: Record) -> bytes:
    content = encoded(record.batches, record.free_ids)
    return _head(record.version, content) + content


def _head(version: int, content: bytes) -> bytes:
    head = _HEAD.pack(_MARK, version, len(content), zlib.crc32(content))
    return head + _SUM.pack(zlib.crc32(head))


def _read(path: Path) -> bytes:
    try:
        descriptor, status = open_regular(str(path))
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise LoadError(f"the changes cannot be read: {error.strerror or error}", file=str(path)) from error
    with open(descriptor, "rb") as file:
        end, hole = _written(descriptor, status.st_size)
        if hole > _LONGEST_HOLE:
            raise _damaged(path, "is mostly a hole")
        os.lseek(descriptor, 0, os.SEEK_SET)
        return file.read(end)


def _written(descriptor: int, size: int) -> tuple[int, int]:
    """Where the last of what was written to a file ends, and how many bytes before that were not, where the system
    tells: a machine that stops may leave the last record so, and a file of holes would fill the memory."""
    end = hole = place = 0
    while place < size:
        try:
            begin = os.lseek(descriptor, place, os.SEEK_DATA)
            hole += begin - place
            place = end = min(size, os.lseek(descriptor, begin, os.SEEK_HOLE))
        except AttributeError:
            return size, 0
        except OSError as error:
            return (end, hole) if error.errno == errno.ENXIO else (size, 0)
    return end, hole


def _replayed(snapshot: Snapshot, path: Path, digest: str, content: bytes) -> Opened:
    version, end, first = 0, 0, 0
    for told, record, record_end in _records(content, path):
        if not end:
            version = first = told
        elif told != version + 1:
            raise _damaged(path, "leaves versions out")
        else:
            snapshot, version = _after(snapshot, record, path), told
        end = record_end
    return Opened(snapshot, version, digest, end, version - first)


def _after(snapshot: Snapshot, record: memoryview, path: Path) -> Snapshot:
    try:
        for free_id, batch in decoded(record):
            check(batch, snapshot)
            snapshot = replayed(snapshot, [(free_id, batch)])
    except (*REFUSALS, GQueryError) as error:
        raise _damaged(path, f"has changes that cannot be ({error})") from error
    return snapshot


def _records(content: bytes, path: Path) -> Iterator[tuple[int, memoryview, int]]:
    """Version, content and end of each record, without the last when it is torn."""
    view, place = memoryview(content), 0
    while place < len(view):
        head = view[place : place + _SIZE]
        is_head = len(head) == _SIZE and zlib.crc32(head[: _HEAD.size]) == _SUM.unpack(head[_HEAD.size :])[0]
        mark, version, length, checksum = _HEAD.unpack(head[: _HEAD.size]) if is_head else (b"", 0, 0, 0)
        end = place + _SIZE + length
        record = view[place + _SIZE : end]
        if mark != _MARK or len(record) != length or zlib.crc32(record) != checksum:
            is_behind = not place and len(view) > _SIZE  # the first one is on the disk before anything comes behind it
            if is_behind or _goes_on(content, place + 1):
                raise _damaged(path, "does not have the content that was written")
            return
        yield version, record, end
        place = end


def _goes_on(content: bytes, place: int) -> bool:
    """Whether a whole record begins at or behind a place."""
    while (place := content.find(_MARK, place)) >= 0:
        head = content[place : place + _SIZE]
        if len(head) == _SIZE and zlib.crc32(head[: _HEAD.size]) == _SUM.unpack(head[_HEAD.size :])[0]:
            return True
        place += 1
    return False


def _damaged(path: Path, what: str) -> LoadError:
    return LoadError(
        f"the saved graph is damaged: {path.name} {what}",
        file=str(path),
        hint="bring the folder back from a copy, or load the graph from its source and save it again",
    )
