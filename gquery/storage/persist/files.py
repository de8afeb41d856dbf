"""One Arrow IPC file of a saved graph: written with a checksum, opened by memory map, checked when first read."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_numpy
from gquery.errors import LoadError
from gquery.lasting.properties import cached_property
from gquery.records import record
from gquery.storage.persist.memory_map import map_file
from gquery.storage.persist.verdicts import Verdicts, identity_of
from gquery.storage.tables import wrong_time

DATA_FILE = re.compile(r"[0-9a-f]{8}-\d+\.arrow")


def data_file_name(save: str, number: int) -> str:
    """A file name that no other save has; `save` is 8 random hexadecimal digits."""
    return f"{save}-{number}.arrow"


@record(frozen=True, slots=True)
class FileEntry:
    """What the manifest knows of a file. `checksum` is its CRC-32: the fastest of the standard library, and enough
    against accidents."""

    name: str
    size: int
    checksum: int


class _ChecksummedWriter(io.BufferedWriter):
    """A new file that keeps the checksum of what is written to it."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path, "x"))
        self.checksum = 0

    def write(self, data: Any) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return super().write(data)


def write_file(path: Path, table: pa.Table) -> FileEntry:
    """Write a table, one record batch a chunk, and wait until the disk has it. OSError names the file."""
    table = table.unify_dictionaries()  # an IPC file holds one dictionary a column
    options = pa.ipc.IpcWriteOptions(allow_64bit=True)
    try:
        with _ChecksummedWriter(path) as sink:
            with pa.ipc.new_file(sink, table.schema, options=options) as writer:
                writer.write_table(table)
            sink.flush()
            os.fsync(sink.fileno())
            return FileEntry(path.name, sink.tell(), sink.checksum)
    except OSError as error:
        error.filename = str(path)
        raise


def sync_directory(directory: Path) -> None:
    """Make new names in a directory durable, where the system can."""
    if os.name == "posix":
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class StoredFile:
    """A mapped file. The map outlives the file's name: an open graph stays whole when another is saved in its place.

    Nothing is read before it is asked for, and nothing is handed out unchecked: whoever wrote the file may have meant
    harm, and kernels do not look where they read. Every mismatch is a LoadError that names the file.
    """

    def __init__(self, directory: Path, entry: FileEntry) -> None:
        self._path = os.path.join(directory, entry.name)
        self.entry = entry
        self.verdicts: Verdicts | None = None
        """What was verified before, and by whom this file is one of the witnesses."""
        try:
            descriptor, status = open_regular(self._path)
            try:
                self._check_size(status.st_size)
                self.identity = identity_of(status)
                self._buffer = map_file(descriptor, status.st_size)
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            raise self.damaged("is missing") from None
        except OSError as error:
            raise self.damaged(f"cannot be read ({error.strerror or error})") from error

    def is_unchanged(self) -> bool:
        """Whether the file is what it was when it was opened. One that another save has removed is: its map stays."""
        try:
            return identity_of(os.lstat(self._path)) == self.identity
        except FileNotFoundError:
            return True
        except OSError:
            return False

    def check_rows(self, count: int) -> None:
        """Compare the number of rows, without reading any."""
        batches = self._batches()
        rows = sum(batch.num_rows for batch in batches)
        if rows != count:
            raise self.damaged(f"has {rows:,} rows, not {count:,}")

    @cached_property
    def _table(self) -> pa.Table:
        """The whole file as views of the map, after its checksum was found right and its values are values."""
        with suppress(FileNotFoundError):  # replaced by another save; the map is what is left of it
            self._check_size(os.lstat(self._path).st_size)  # touching pages that were cut off would end the process
        what = f"file {self.entry.name}"
        if self.verdicts is not None and self.verdicts.holds(what, [self]):
            return pa.Table.from_batches(self._batches(), self._schema)
        batches = self._whole()
        try:
            table = pa.Table.from_batches(batches, self._schema)
            table.validate(full=True)
        except _REFUSALS as error:
            raise self.damaged(f"has values that cannot be ({_first_line(error)})") from error
        if wrong := next(filter(None, map(wrong_time, table.columns)), None):
            raise self.damaged(f"has values that cannot be ({wrong})")
        if self.verdicts is not None:
            self.verdicts.note(what, [self])
        return table

    def _whole(self) -> list[pa.RecordBatch]:
        """The batches, after the checksum was found right."""
        try:
            batches = self._batches()
        except LoadError:
            if self.entry.size <= _PIECE:  # an accident, most likely
                self._check_content()
            raise
        held = sum(batch.get_total_buffer_size() for batch in batches)
        if self.entry.size > 2 * held + _SLACK * (1 + len(batches)):
            raise self.damaged("is longer than what it holds")  # and mostly a hole: reading it would take for ever
        self._check_content()
        return batches

    def _check_content(self) -> None:
        checksum, content = 0, memoryview(self._buffer)
        for begin in range(0, len(content), _PIECE):  # between two pieces Ctrl-C is heard
            checksum = zlib.crc32(content[begin : begin + _PIECE], checksum)
        if checksum != self.entry.checksum:
            raise self.damaged("does not have the content that was saved")

    def _batches(self) -> list[pa.RecordBatch]:
        try:
            with pa.ipc.open_file(self._buffer) as reader:
                self._schema = reader.schema
                batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
            for batch in batches:
                batch.validate()
        except _REFUSALS as error:
            raise self.damaged(f"is not an Arrow file ({_first_line(error)})") from error
        return batches

    def column(self, type: pa.DataType, count: int) -> pa.ChunkedArray:
        """The only column of the file."""
        if self._table.num_columns != 1:
            raise self.damaged(f"has {self._table.num_columns} columns, not 1")
        column = self._table.column(0)
        if len(column) != count or column.type != type:
            raise self.damaged(f"has {len(column):,} values of type {column.type}, not {count:,} of type {type}")
        return column

    def arrays(self, schema: pa.Schema, count: int) -> list[pa.Array]:
        """The columns of the file, each in one piece of `count` values and without nulls."""
        if self._table.schema != schema:
            raise self.damaged(f"has the columns {self._table.schema}, not {schema}")
        columns = [column.chunk(0) if column.num_chunks else column.combine_chunks() for column in self._table.columns]
        if any(len(column) != count for column in columns):
            raise self.damaged(f"has {len(self._table):,} rows, not {count:,}")
        if any(column.null_count for column in columns):
            raise self.damaged("has nulls where none can be")
        return columns

    def numbers(self, array: pa.Array) -> NDArray[Any]:
        """The values of an array of numbers of this file, not copied."""
        if array.null_count:
            raise self.damaged("has nulls where none can be")
        values = to_numpy(array)
        if not values.flags.aligned:
            raise self.damaged("has numbers that do not begin where numbers can")
        return values

    def damaged(self, what: str) -> LoadError:
        return LoadError(
            f"the saved graph is damaged: {self.entry.name} {what}",
            file=self._path,
            hint="bring the folder back from a copy, or load the graph from its source and save it again",
        )

    def _check_size(self, size: int) -> None:
        if size != self.entry.size:
            raise self.damaged(f"has {size:,} bytes, {self.entry.size:,} were saved")


_PIECE = 2**26  # bytes
_SLACK = 2**20  # bytes of metadata for a batch
_REFUSALS = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, MemoryError)  # what Arrow says of bad files


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def open_regular(path: str) -> tuple[int, os.stat_result]:
    """A descriptor of a file to read, which the caller closes, and what it is. OSError when there is none, or something
    else by that name: a link leads out of the folder, a pipe waits for ever."""
    descriptor = at_once(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return descriptor, status


def at_once(path: str, flags: int) -> int:
    """Opens a file, but follows no link and waits for nobody at the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o666)


def is_there(path: str | os.PathLike[str], descriptor: int) -> bool:
    """Whether an open file is still the one of that name: who writes to one that was removed writes for nobody."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except OSError:
        return False


def are_below(values: NDArray[Any], bound: int) -> bool:
    """Whether 0 <= value < bound for all."""
    return len(values) == 0 or bool(values.min() >= 0 and values.max() < bound)
