"""Bytes of text files, plain or gzip (told by content, not by name), as UTF-8 whatever their encoding is.

Nothing here is without a bound: what is no file is refused, a line has a greatest length, and a gzip file that unpacks
to a multiple that no data has is refused before it fills the memory.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from gquery.errors import LoadError
from gquery.storage.load.loading import Loading, cannot_read

HEAD = 1 << 18  # bytes looked at to tell what a file is
BLOCK = 1 << 24
MAX_LINE = BLOCK  # bytes; Arrow's reader takes no longer rows either
_PART = 1 << 22  # of what is split into words, which takes many times its size for a moment
_PIECE = 1 << 20
_BUFFER = 1 << 16  # of what is unpacked: to look at the head of a file is not to unpack much more of it
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # opening a pipe that nobody writes to would wait for ever

_LARGE = 1 << 24  # bytes that any gzip file may unpack to
_MULTIPLE = 200  # how many times its size a large one may; text makes 2 to 30, zeros 1,000

_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_UTF8_MARK = b"\xef\xbb\xbf"
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a folder"),
)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns what reading a file can raise into LoadError."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        kind = "cut short" if isinstance(error, EOFError) else "damaged"
        raise LoadError(f"the gzip file is {kind}", file=str(path)) from None
    except OSError as error:
        raise cannot_read(path, error) from None


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file as they are. LoadError for what is no file: nobody can say when a pipe or a device ends."""
    with reading(path), open(path, "rb", opener=lambda name, flags: os.open(name, flags | _NO_WAIT)) as raw:
        mode = os.fstat(raw.fileno()).st_mode
        kind = next((kind for test, kind in _KINDS if test(mode)), None)
        if kind is not None:
            raise LoadError(f"this is {kind}, not a file", file=str(path), hint="write what it gives to a file first")
        yield raw


@contextmanager
def open_bytes(path: Path, encoding: str | None = None) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The text of a file as UTF-8, and the file on disk beneath it. A byte order mark tells the encoding, and is left
    out; else it is `encoding`, UTF-8 when None. Bytes that are not UTF-8 in a file said to be so come as they are."""
    with open_file(path) as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        stream = cast(BinaryIO, io.BufferedReader(_Unpacked(raw, path), _BUFFER)) if packed else raw
        start = stream.read(4)
        encoding = next((found for mark, found in _MARKS if start.startswith(mark)), encoding)
        stream.seek(0)
        if encoding is None or codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
            stream.read(len(_UTF8_MARK) if start.startswith(_UTF8_MARK) else 0)
        else:
            stream = cast(BinaryIO, io.BufferedReader(_Recoded(stream, path, encoding), _PIECE))
        yield stream, raw


class _Unpacked(io.RawIOBase):
    """A gzip file unpacked piece by piece. Raises LoadError when it turns out to be a bomb."""

    def __init__(self, raw: BinaryIO, path: Path) -> None:
        self._raw, self._path = raw, path
        self._stream = gzip.GzipFile(fileobj=raw)
        self._size = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._size = 0
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        piece = self._stream.read(len(buffer))
        self._size += len(piece)
        if self._size > max(_LARGE, _MULTIPLE * self._raw.tell()):
            raise LoadError(
                f"the gzip file unpacks to more than {_MULTIPLE} times its size, as no data does",
                file=str(self._path),
                hint="unpack it yourself if it is meant to be so",
            )
        buffer[: len(piece)] = piece
        return len(piece)


class _Recoded(io.RawIOBase):
    """Text of another encoding as UTF-8. Raises LoadError for bytes that the encoding does not have."""

    def __init__(self, stream: BinaryIO, path: Path, encoding: str) -> None:
        self._stream, self._path, self._encoding = stream, path, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._waiting = b""
        self._line = 1
        self._started = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        while not self._waiting:
            block = self._stream.read(len(buffer))
            self._waiting = self._decoded(block)
            if not block:
                break
        piece, self._waiting = self._waiting[: len(buffer)], self._waiting[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def _decoded(self, block: bytes) -> bytes:
        try:
            text = self._decoder.decode(block, final=not block)
        except UnicodeError as error:
            bad = block[error.start : error.end] if isinstance(error, UnicodeDecodeError) else b""
            line = self._line + (block[: error.start].count(b"\n") if isinstance(error, UnicodeDecodeError) else 0)
            raise LoadError(
                f"the line is not {self._encoding}", file=str(self._path), line=line,
                value=bad[:60].decode("ascii", "backslashreplace") or None,
            ) from None  # fmt: skip
        if text and not self._started:
            text, self._started = text.removeprefix("\ufeff"), True
        self._line += text.count("\n")
        return text.encode("utf-8", "surrogatepass")


def read_head(path: Path, encoding: str | None = None) -> bytes:
    """The first bytes of a text file: whole lines, the first that is not empty among them, or the whole file.

    Raises LoadError for files that cannot be read and for a first line that has no end.
    """
    with open_bytes(path, encoding) as (stream, _):
        head = stream.read(HEAD)
        more = len(head) == HEAD
        while more and b"\n" not in head.lstrip():
            if len(head) > MAX_LINE:
                raise line_too_long(path, 1 + head.count(b"\n"))
            piece = stream.read(_PIECE)
            head, more = head + piece, bool(piece)
    return head[: head.rfind(b"\n") + 1] if more else head


def line_too_long(path: Path, line: int) -> LoadError:
    """A LoadError for a line that no reader takes: mostly a file that is no text, or an unclosed quote."""
    return LoadError(f"the line is longer than {MAX_LINE >> 20} MiB", file=str(path), line=line)


def decode_line(path: Path, number: int, line: bytes) -> str:
    """One line as text; LoadError when it is not UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise LoadError(
            "the line is not UTF-8", file=str(path), line=number, value=line[:60].decode("utf-8", "backslashreplace"),
            hint="say which encoding it is, such as encoding='latin-1'",
        ) from None  # fmt: skip


def blocks(loading: Loading, path: Path) -> Iterator[bytes]:
    """The text of a file in blocks that end with a line."""
    with open_bytes(path, loading.options.encoding) as (stream, raw):
        rest, line, seen = b"", 1, 0
        while block := stream.read(_PART):
            loading.read(path, raw.tell() - seen)
            seen = raw.tell()
            first, end = block.find(b"\n"), block.rfind(b"\n") + 1
            if len(rest) + (first if end else len(block)) > MAX_LINE:
                raise line_too_long(path, line)
            if end == 0:
                rest += block
                continue
            line += block.count(b"\n")
            yield rest + block[:end]
            rest = block[end:]
        if rest:
            yield rest
