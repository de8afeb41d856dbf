"""Rows that wait until there are enough of them to tell what is made of all.

They are ids, and take little. What is made of them is made by the threads that find them, as soon as it is known.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator
from itertools import chain

import pyarrow as pa

from gquery.executor.progress import Control
from gquery.executor.relational.codes.property_codes import elements_with
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.streams import Work, through
from gquery.planner.ir.expr import Column
from gquery.stopping import Check, unchecked

_WORTH = 4  # elements for each row of matches, up to which they are given codes
_MOST = 1 << 20  # rows that wait
_MOMENT = 0.002  # seconds that others wait for what is to be made of their rows, rather than leave it to one thread
_WAITS = {"waits": ""}  # the mark of a batch of which nothing has been made


class Waiting:
    """Rows of matches."""

    def __init__(self, rows: Iterator[pa.RecordBatch], check: Check = unchecked) -> None:
        self._check = check
        self._lock = threading.Lock()
        self._work: Work | None = None
        self._told = threading.Event()
        self._asking: int | None = None  # the thread
        self._first: list[pa.RecordBatch] = []
        self._seen = 0
        self._rows = through(rows, self._worked)

    def are(self, enough: int) -> bool:
        """Whether there are so many."""
        self._asking = threading.get_ident()
        while self._seen < enough and (batch := next(self._rows, None)) is not None:
            self._check()
            self._first.append(batch)
            self._seen += batch.num_rows
        return self._seen >= enough

    def through(self, work: Work) -> Generator[pa.RecordBatch, None, None]:
        """What `work`, which is called in several threads at once, makes of each batch. Once."""
        with self._lock:
            self._work = work
        self._told.set()
        try:
            for batch in chain(self._first, self._rows):
                self._check()
                if batch.schema.metadata is None:
                    yield batch
                else:
                    yield from work(batch.replace_schema_metadata(None))
        finally:
            self._rows.close()

    def _worked(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if threading.get_ident() != self._asking and not self._told.is_set():
            self._told.wait(_MOMENT)
        with self._lock:
            work = self._work
        return iter((batch.replace_schema_metadata(_WAITS),)) if work is None else work(batch)


def enough_for(read: Inputs, names: Iterable[str], least: int, control: Control) -> int:
    """How many rows there must be until codes of columns of some names pay, which is no less than a number."""
    columns = [part for name in names if isinstance(part := read.read[name], Column)]
    elements = max(elements_with(read.snapshot, read.kinds[each.variable], each) for each in columns)
    return max(least, min(elements // _WORTH, control.memory.rows(_MOST)))
