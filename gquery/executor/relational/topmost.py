"""Rows that cannot be among the first of an order are left out before the rest of what they have is gathered.

Of a large batch only the first key is gathered, or computed. As soon as so many rows are known as are asked for, the
last of them is a bound: whatever the first key puts behind it is not among the first, whatever the other keys say; what
is equal stays. The bound may come from any batch, so that several threads look for rows at once. What is left is sorted
and cut by the statement as ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import pc, to_arrow, truths
from gquery.executor.progress import Control
from gquery.executor.relational.database import running
from gquery.executor.relational.database.functions import Given
from gquery.executor.relational.database.translation import translated
from gquery.executor.relational.direct.fractions import is_of_fractions, of_fractions
from gquery.executor.relational.growth import rows_at_once
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import named
from gquery.executor.relational.sql.expressions import SqlWriter, inputs
from gquery.executor.relational.sql.words import quoted
from gquery.executor.relational.streams import through
from gquery.lasting.properties import cached_property
from gquery.planner.ir.expr import Attribute, Column, Expression, Kind, Type, is_volatile
from gquery.planner.ir.segments import Projection
from gquery.records import record

_KINDS = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.STRING})  # of keys, besides days and points in time
_TRAVELLING = frozenset({Attribute.ELEMENT, Attribute.VALUE})  # what is not gathered
_FEWEST, _FEWEST_COMPUTED = 2**10, 2**15  # rows of a batch that are worth a look at a column, or a statement
_MOST = 2**12  # first rows that are looked for in this way
_MANY = 8  # times the first rows: so many that are left of a batch give a better bound


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
    if not _is_ordered(key.type) or is_volatile(key) or rows_at_once((key,)) is not None:
        return None
    own = set(inputs(key))
    gathered = {part for part in read if not (isinstance(part, Column) and part.attribute in _TRAVELLING)}
    return First(key, projection.order_by[0].descending, count) if own and not gathered <= own else None


def _is_ordered(type_: Type) -> bool:
    """Whether Arrow puts values in the same order."""
    arrow = type_.arrow
    in_time = type_.kind is Kind.TEMPORAL and arrow is not None
    return type_.kind in _KINDS or (in_time and (pa.types.is_date(arrow) or pa.types.is_timestamp(arrow)))


class TopRows:
    """Leaves out rows that cannot be among the first. told: the rows, of which the first key's inputs are read."""

    def __init__(self, first: First, told: Inputs, parameters: Mapping[str, object]) -> None:
        self._first = first
        self._inputs = Inputs(told.snapshot, told.kinds, named(dict.fromkeys(inputs(first.key))))
        self._parameters = parameters
        self._fewest = _FEWEST if isinstance(first.key, Column) else _FEWEST_COMPUTED
        self._bound: pa.Scalar | None = None

    @cached_property
    def _statement(self) -> tuple[str, Given]:
        """Of a key that is computed."""
        names = {part: quoted(name) for name, part in self._inputs.read.items()}
        writer = SqlWriter(names, self._parameters, self._inputs.snapshot)
        sql = f"SELECT {writer.write(self._first.key)} FROM elements"
        return sql, writer.asked(sql)

    def of(self, rows: Iterator[pa.RecordBatch], control: Control) -> Iterator[pa.RecordBatch]:
        """The rows that may be among the first."""
        return through(rows, lambda batch: self.of_batch(batch, control))

    def of_batch(self, batch: pa.RecordBatch, control: Control) -> Iterator[pa.RecordBatch]:
        """Those of a batch."""
        if batch.num_rows < self._fewest:
            yield batch
            return
        keys = self._keys(batch, control)
        left = self._within(keys)
        if len(left) > max(self._fewest // 2, _MANY * self._first.count):
            self._bound = self._last(keys.take(to_arrow(left))) or self._bound
            left = self._within(keys)
        if len(left):
            yield batch.take(to_arrow(left))

    def _keys(self, batch: pa.RecordBatch, control: Control) -> pa.Array:
        """The first key of each row."""
        with translated():
            if isinstance(self._first.key, Column):
                return self._inputs.read_one(self._first.key, batch)
            found: list[pa.Array] = []
            for part in self._inputs.batches(batch, control):
                found += self._computed(part, control)
            return found[0] if len(found) == 1 else pa.concat_arrays(found)

    def _computed(self, part: pa.RecordBatch, control: Control) -> list[pa.Array]:
        """The first key of some rows, a product say of which Arrow needs less than a statement takes to begin."""
        if is_of_fractions(self._first.key):
            return [of_fractions(self._first.key, dict(zip(self._inputs.read.values(), part.columns, strict=True)))]
        sql, given = self._statement
        relation = pa.Table.from_batches([part])
        return list(running.evaluate(sql, relation, given, control, alone=True).chunks)

    def _within(self, keys: pa.Array) -> NDArray[np.int64]:
        """The rows that the bound does not leave out: nulls, and what is no number, are greater than all else."""
        if self._bound is None:
            return np.arange(len(keys))
        if self._first.descending:
            return np.flatnonzero(~truths(pc.less(keys, self._bound)))
        return np.flatnonzero(truths(pc.less_equal(keys, self._bound)))

    def _last(self, keys: pa.Array) -> pa.Scalar | None:
        """The key of the last of the first rows, or of one behind it; None where there are not so many, or it is no
        number."""
        order = "descending" if self._first.descending else "ascending"
        first = pc.select_k_unstable(keys, self._first.count, [("", order)])
        last = keys[first[-1].as_py()]
        return last if len(first) == self._first.count and pc.equal(last, last).as_py() else None
