"""Groups are told apart by numbers where their keys are properties of few values.

DuckDB hashes and compares texts for each row; it groups by small numbers as an array is looked into. So a key that is
read for nothing else goes in as its code, which is in the order of the values, and comes out as a value again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import chain

import pyarrow as pa

from gquery.executor.progress import Control
from gquery.executor.relational.codes.property_codes import codes_of, have_order, may_have_codes, worth
from gquery.executor.relational.direct.few import FEW
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import Selection
from gquery.executor.relational.sql.expressions import inputs
from gquery.executor.relational.sql.values import has_key
from gquery.executor.relational.streams import through
from gquery.planner.ir.expr import Column, is_aggregated
from gquery.records import replace

Batches = Generator[pa.RecordBatch, None, None]

_MOST_WAITING = 2**20  # rows of ids that wait until there are enough for codes to pay


def coded_keys(selection: Selection) -> tuple[str, ...]:
    """The names of the columns that a grouping reads as keys, and for nothing else but its order."""
    if not selection.grouped or not any(map(is_aggregated, selection.outputs)):
        return ()
    keys = {key for key in selection.keys if may_have_codes(key) and not has_key(key.type)}
    sorted_by = {item.expression for item in selection.order_by}
    keys -= {key for key in keys & sorted_by if not have_order(key)}
    read = (*selection.outputs, *sorted_by)
    others = (*(each for each in read if each not in keys), *selection.residual, *selection.where)
    keys -= {part for each in others for part in inputs(each)} | {selection.row}
    return tuple(name for name, part in selection.names.items() if part in keys)


class CodedKeys:
    """Feeds a statement whose columns of some names may be codes."""

    def __init__(self, read: Inputs, names: Sequence[str]) -> None:
        self._read = read
        self._columns = {name: part for name in names if isinstance(part := read.read[name], Column)}
        self._lock = threading.Lock()
        self._decided: Inputs | None = None

    def of(self, rows: Iterator[pa.RecordBatch], control: Control) -> tuple[Inputs, Batches]:
        """What the statement reads, and the relation: plain values of few rows, codes once rows are worth them."""
        made = through(rows, lambda batch: self._made(batch, control))
        waiting, seen, enough = [], 0, self._enough()
        while seen < enough and (batch := next(made, None)) is not None:
            waiting.append(batch)
            seen += batch.num_rows
        with self._lock:
            self._decided = self._coded(control) if seen >= enough else self._read
        return self._decided, self._relations(chain(waiting, made), made.close, control)

    def _enough(self) -> int:
        """How many rows there must be until codes pay."""
        snapshot, kinds = self._read.snapshot, self._read.kinds
        return max(FEW + 1, *(worth(snapshot, kinds[each.variable], each) for each in self._columns.values()))

    def _made(self, batch: pa.RecordBatch, control: Control) -> Iterator[pa.RecordBatch]:
        """The relation for a batch; the batch itself as long as nobody knows which."""
        with self._lock:
            decided = self._decided
        return iter((batch,)) if decided is None else decided.batches(batch, control)

    def _relations(self, batches: Iterator[pa.RecordBatch], close: Callable[[], None], control: Control) -> Batches:
        assert self._decided is not None
        try:
            for batch in batches:
                if batch.schema == self._decided.schema:
                    yield batch
                else:
                    yield from self._decided.batches(batch, control)
        finally:
            close()

    def _coded(self, control: Control) -> Inputs:
        codes = {}
        for name, column in self._columns.items():
            found = codes_of(self._read.snapshot, self._read.kinds[column.variable], column, control)
            if found is not None and len(found.values):
                codes[name] = found
        return replace(self._read, codes=codes)
