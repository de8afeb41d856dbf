"""Streams of rows that several threads make: what is done with each batch by itself is done by whoever makes it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

Batches = Iterator[pa.RecordBatch]
Work = Callable[[pa.RecordBatch], Batches]


class Made(Batches):
    """Rows that have yet to be made. begin: makes them, each batch through a function that is called in several
    threads at once; closing what it returns stops that."""

    def __init__(self, begin: Callable[[Work], Generator[pa.RecordBatch, None, None]]) -> None:
        self._begin = begin
        self._work: Work = lambda batch: iter((batch,))
        self._rows: Generator[pa.RecordBatch, None, None] | None = None

    def through(self, work: Work) -> None:
        """Puts each batch through `work`, too. Only before the first one is asked for."""
        assert self._rows is None
        before = self._work
        self._work = lambda batch: (made for part in before(batch) for made in work(part))

    def __next__(self) -> pa.RecordBatch:
        if self._rows is None:
            self._rows = self._begin(self._work)
        return next(self._rows)

    def close(self) -> None:
        """No more rows are wanted."""
        if self._rows is None:
            self._rows = self._begin(self._work)
        self._rows.close()


def apart(rows: Batches, cancel: Callable[[], None]) -> Batches:
    """The rows, each batch made in a thread of its own, which has all of a stack. cancel: ends what is under way there
    when nobody waits for it any more."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="gquery-apart") as thread:
        try:
            while (batch := thread.submit(next, rows, None).result()) is not None:
                yield batch
        except KeyboardInterrupt:
            cancel()
            raise
        finally:
            thread.submit(_close, rows).result()


def through(rows: Batches, work: Work) -> Generator[pa.RecordBatch, None, None] | Made:
    """What `work` makes of each batch, in the threads that make the rows where there are several, else here. Closing it
    closes the rows."""
    if isinstance(rows, Made):
        rows.through(work)
        return rows
    return _mapped(rows, work)


def _mapped(rows: Batches, work: Work) -> Generator[pa.RecordBatch, None, None]:
    try:
        for batch in rows:
            yield from work(batch)
    finally:
        _close(rows)


def _close(rows: Batches) -> None:
    close = getattr(rows, "close", None)
    if close is not None:
        close()
