"""Rows that cannot be among the first of an order are left out before the rest of what they have is gathered.

Of a large batch only the first key is evaluated. As soon as so many rows are known as are asked for, the last of them
is a bound: whatever the first key puts behind it is not among the first, whatever the other keys say; what is equal
stays. The bound may come from any batch, so that several threads look for rows at once. What is left is sorted and cut
by the statement as ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from gquery.arrays import to_arrow
from gquery.executor.progress import Control
from gquery.executor.relational.database import running
from gquery.executor.relational.growth import rows_at_once
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.sql.expressions import SqlWriter, inputs
from gquery.executor.relational.sql.parameters import parameter_sql
from gquery.executor.relational.sql.words import quoted
from gquery.executor.relational.statement import named
from gquery.executor.relational.streams import through
from gquery.planner.ir.expr import Attribute, Column, Expression, Kind, is_volatile
from gquery.planner.ir.segments import Projection
from gquery.records import record

_KINDS = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT, Kind.STRING})  # of keys whose values Python gives back
_TRAVELLING = frozenset({Attribute.ELEMENT, Attribute.VALUE})  # what is not gathered
_FEWEST = 2**15  # rows of a batch that are worth a statement of their own
_MOST = 2**12  # first rows that are looked for in this way
_MANY = 8  # times the first rows: so many that are left of a batch give a better bound
_BOUND, _ROW = "bound", " row"


@record(frozen=True, slots=True)
class First:
    """The first `count` rows of an order whose first key this is."""

    key: Expression
    descending: bool
    count: int


def bounded_first(projection: Projection, count: int, read: Iterable[Expression]) -> First | None:
    """The first `count` rows, if one row can keep others from being among them, and something of these need not be
    gathered then. read: what the statement reads."""
    if not 0 < count <= _MOST or projection.is_grouped or not projection.order_by:
        return None
    key = projection.order_by[0].expression
    if key.type.kind not in _KINDS or is_volatile(key) or rows_at_once((key,)) is not None:
        return None
    own = set(inputs(key))
    gathered = {part for part in read if not (isinstance(part, Column) and part.attribute in _TRAVELLING)}
    return First(key, projection.order_by[0].descending, count) if own and not gathered <= own else None


class TopRows:
    """Leaves out rows that cannot be among the first. told: the rows, of which the first key's inputs are read."""

    def __init__(self, first: First, told: Inputs, parameters: Mapping[str, object]) -> None:
        self._first = first
        self._inputs = Inputs(told.snapshot, told.kinds, named(dict.fromkeys(inputs(first.key))))
        columns = {part: f"e.{quoted(name)}" for name, part in self._inputs.read.items()}
        writer = SqlWriter(columns, parameters, told.snapshot)
        self._key = writer.write(first.key)
        self._given = writer.asked(self._key)
        bound = parameter_sql(_BOUND, first.key.type)
        self._test = f"({self._key} < {bound}) IS NOT TRUE" if first.descending else f"{self._key} <= {bound}"
        self._order = "DESC NULLS FIRST" if first.descending else "ASC NULLS LAST"
        self._bound: Any = None
        self._is_final = False  # whether no better bound is looked for

    def of(self, rows: Iterator[pa.RecordBatch], control: Control) -> Iterator[pa.RecordBatch]:
        """The rows that may be among the first."""
        return through(rows, partial(self._left, control))

    def _left(self, control: Control, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if batch.num_rows < _FEWEST or (self._is_final and self._bound is None):
            yield batch
            return
        begin, left = 0, []
        for part in self._inputs.batches(batch, control):
            rows = to_arrow(np.arange(begin, begin + part.num_rows, dtype=np.int32))
            left += self._possible(pa.Table.from_batches([part]).append_column(_ROW, rows), control).chunks
            begin += part.num_rows
        if left:
            yield batch.take(pa.concat_arrays(left))

    def _possible(self, relation: pa.Table, control: Control) -> pa.ChunkedArray:
        """The rows that may be among the first."""
        left = self._within(relation, control)
        if self._is_final or len(left) <= max(_FEWEST // 2, _MANY * self._first.count):
            return left
        bound = self._last(relation, control)
        if bound is None or bound == self._bound:
            self._is_final = True
            return left
        self._bound = bound
        return self._within(relation, control)

    def _within(self, relation: pa.Table, control: Control) -> pa.ChunkedArray:
        """The rows that the bound does not leave out."""
        if self._bound is None:
            return relation.column(_ROW)
        text = f"SELECT e.{quoted(_ROW)} FROM elements AS e WHERE {self._test}"
        given = replace(self._given, values={**self._given.values, _BOUND: self._bound})
        return running.evaluate(text, relation, given, control, alone=True)

    def _last(self, relation: pa.Table, control: Control) -> Any:
        """The first key of the last of the first rows; None where it is null or no number."""
        order = f"ORDER BY k {self._order} LIMIT 1 OFFSET {self._first.count - 1}"
        text = f"SELECT {self._key} AS k FROM elements AS e {order}"
        found = running.evaluate(text, relation, self._given, control, whole=True, alone=True)
        last = found[0].as_py() if len(found) else None
        return None if last != last else last  # NaN is the greatest here, but not wherever DuckDB may compare rows
