"""The stream from which Arrow reads delimited text: it tells progress, and sees what Arrow would not report."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import BinaryIO

from gquery.storage.load.loading import Loading
from gquery.storage.load.text.quotes import QuoteCheck

MARK = "\ufdd0"  # no character; stands before every byte that is not UTF-8, written out as \xff
_MENDING = "gquery-mark"


class NotUtf8(Exception):
    """The text is not UTF-8. Arrow cannot say where, nor tell of a bad row in such text: read again, mended."""


class WatchedStream:
    """Looks for NUL bytes and odd quotes. Raises NotUtf8, or marks the bytes at fault if it is to `mend`."""

    closed = False

    def __init__(
        self, loading: Loading, path: Path, streams: tuple[BinaryIO, BinaryIO], quotes: QuoteCheck | None, mend: bool
    ) -> None:
        self._loading, self._path, self._quotes = loading, path, quotes
        self._stream, self._raw = streams
        self._seen = 0
        self._mend = mend
        self._decoder = codecs.getincrementaldecoder("utf-8")(_MENDING if mend else "strict")
        self._waiting = b""
        self._last = b"\n"
        self.has_nul = False
        self.has_bytes = False

    def readable(self) -> bool:
        return True

    def read(self, size: int) -> bytes:
        """`size` bytes, fewer at the end, where the last line ends like all others: of one that does not, Arrow skips
        no header, and takes an empty field at its end for one in quotes when an earlier line ends with quotes."""
        block = self._next(size)
        while len(block) < size:
            more = self._next(size - len(block))
            if not more:
                block += b"" if (block[-1:] or self._last) in b"\r\n" else b"\n"
                break
            block += more
        self._last = block[-1:] or self._last
        self.has_nul |= b"\0" in block
        self.has_bytes |= bool(block)
        if self._quotes:
            self._quotes.see(block)
        self._loading.read(self._path, self._raw.tell() - self._seen)
        self._seen = self._raw.tell()
        return block

    def _next(self, size: int) -> bytes:
        return self._mended(size) if self._mend else self._strict(size)

    def _strict(self, size: int) -> bytes:
        block = self._stream.read(size)
        if not block.isascii() or self._decoder.getstate()[0] or not block:
            try:
                self._decoder.decode(block, final=not block)
            except UnicodeDecodeError:
                raise NotUtf8 from None
        return block

    def _mended(self, size: int) -> bytes:
        while not self._waiting:
            block = self._stream.read(size)
            self._waiting = self._decoder.decode(block, final=not block).encode()
            if not block:
                break
        block, self._waiting = self._waiting[:size], self._waiting[size:]
        return block


def _mark(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    wrong = error.object[error.start : error.end]
    return "".join(f"{MARK}\\x{byte:02x}" for byte in wrong), error.end


codecs.register_error(_MENDING, _mark)
