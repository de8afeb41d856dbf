"""Bytes of text files, plain or gzip (told by content, not by name)."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from gquery.errors import LoadError
from gquery.storage.load.loading import Loading, cannot_read

HEAD = 1 << 18  # bytes looked at to tell what a file is
BLOCK = 1 << 24

_BYTE_ORDER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
UTF8_MARK = b"\xef\xbb\xbf"


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
def open_bytes(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The uncompressed bytes of a file, and the file on disk beneath them."""
    with reading(path), open(path, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if packed:
            with gzip.open(raw) as unpacked:
                yield cast(BinaryIO, unpacked), raw
        else:
            yield raw, raw


def read_head(path: Path) -> bytes:
    """The first bytes of a text file, without a byte order mark. Raises LoadError for UTF-16 and unreadable files."""
    with open_bytes(path) as (stream, _):
        head = stream.read(HEAD)
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if head.startswith(mark):
            raise LoadError(f"the file is {encoding}, not UTF-8", file=str(path), line=1)
    return head.removeprefix(UTF8_MARK)


def decode_line(path: Path, number: int, line: bytes) -> str:
    """One line as text; LoadError when it is not UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise LoadError(
            "the line is not UTF-8", file=str(path), line=number, value=line[:60].decode("utf-8", "backslashreplace")
        ) from None


def blocks(loading: Loading, path: Path) -> Iterator[bytes]:
    """The text of a file in blocks that end with a line."""
    with open_bytes(path) as (stream, raw):
        rest, seen = b"", 0
        while block := stream.read(BLOCK):
            if seen == 0:
                block = block.removeprefix(UTF8_MARK)
            loading.read(path, raw.tell() - seen)
            seen = raw.tell()
            end = block.rfind(b"\n") + 1
            if end == 0:
                rest += block
                continue
            yield rest + block[:end]
            rest = block[end:]
        if rest:
            yield rest
