"""A projection of few rows: conditions, groups, order and bounds, one Arrow function after the other.

A statement takes a millisecond before it sees its first row: more than what it does to some thousand rows takes here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import pyarrow as pa

from gquery.arrays import pc
from gquery.executor.relational.direct.groups import Groups
from gquery.executor.relational.direct.lists import unwound
from gquery.executor.relational.direct.types import Columns, Computed, Unsaid, as_array, is_plain
from gquery.executor.relational.direct.values import Writer, truths_of
from gquery.executor.relational.selection import Selection
from gquery.imports import GROUPING, is_imported
from gquery.planner.ir.expr import Aggregate, Call, Column, Expression, Kind, walk

_BEFORE_GROUPING = 8  # projections that DuckDB groups before Arrow's groups are imported
FEW = 1 << 17  # rows that are seen here; a statement has more of them grouped and sorted in less time
_FEW_NUMBERS = 1 << 21  # the same of numbers that are wanted once each

_LONG = 300  # parts of expressions: nobody looks at the clock between them


class Direct:
    """What a selection makes of few rows. Raises Unsaid where Arrow does not compute all of it."""

    def __init__(self, selection: Selection, parameters: Mapping[str, object]) -> None:
        if selection.cuts and (selection.row is not None or not selection.blocking):
            raise Unsaid
        if _is_long(selection.expressions):
            raise Unsaid
        self.selection = selection
        rows = Writer({part: place for place, part in enumerate(selection.names.values())}, parameters)
        self._residual = [rows.write(each) for each in selection.residual]
        self._groups, above = self._grouped(rows)
        self._unwound = next((place for place, each in enumerate(selection.outputs) if _is_unwound(each)), None)
        self._names = [f"c{place}" for place in range(len(selection.outputs))]
        self._outputs = [above.write(_whole(output)) for output in selection.outputs]
        if not all(is_plain(item.expression.type) for item in selection.order_by):
            raise Unsaid
        if self._unwound is not None and (selection.order_by or selection.where or selection.cuts):
            raise Unsaid
        self._order = [above.write(item.expression) for item in selection.order_by]
        after = Writer({output: place for place, output in enumerate(selection.outputs)}, parameters)
        self._where = [after.write(condition) for condition in selection.where]

    def _grouped(self, rows: Writer) -> tuple[Groups | None, Writer]:
        """The groups, if there are any, and the writer of what is computed of them."""
        selection = self.selection
        if not selection.grouped:
            return None, rows
        spoken_of = (*selection.outputs, *(item.expression for item in selection.order_by))
        aggregates = tuple(
            dict.fromkeys(part for each in spoken_of for part in walk(each) if isinstance(part, Aggregate))
        )
        keys = tuple(dict.fromkeys(selection.keys))
        return Groups(keys, aggregates, rows), Writer(
            {part: place for place, part in enumerate((*keys, *aggregates))}, rows.parameters
        )

    @property
    def is_ready(self) -> bool:
        """Whether what it is computed with is there: DuckDB is imported in a third of the time of Arrow's groups."""
        is_there = self._groups is None or self._groups.are_values
        return is_there or is_imported(GROUPING, _BEFORE_GROUPING)

    @property
    def most(self) -> int:
        """Rows of which a statement takes longer."""
        return _FEW_NUMBERS if self._groups is not None and self._groups.are_numbers else FEW

    @property
    def unwinds(self) -> bool:
        """Whether rows go out for each item of a list."""
        return self._unwound is not None

    def of(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The outputs that go out, for all rows of a selection that has to see all of them, else for some. Raises
        ArrowException for what DuckDB has to word, before the first of them."""
        batch = _where(batch, self._residual)
        columns, rows = batch.columns, batch.num_rows
        if self._groups is not None:
            columns = self._groups.of(columns, rows)
            rows = len(columns[0])
        outputs = [as_array(output(columns), rows) for output in self._outputs]
        names, shown = self._names, self.selection.shown
        if self._unwound is not None:
            for part in unwound(outputs, self._unwound):
                yield pa.record_batch(part, names=names).select(names[:shown])
            return
        found = pa.record_batch(outputs, names=names)
        if self._order:
            found = found.take(self._first(columns, rows))
        if self.selection.bounds != (0, None):
            found = found.slice(*self.selection.bounds)
        found = _where(found, self._where)
        yield found if shown == len(names) else found.select(names[:shown])

    def _first(self, columns: Columns, rows: int) -> pa.Array:
        """The rows in their order, as many as are asked for."""
        keys = {f"s{place}": as_array(key(columns), rows) for place, key in enumerate(self._order)}
        descending = [item.descending for item in self.selection.order_by]
        order = [(name, *_DIRECTIONS[down]) for name, down in zip(keys, descending, strict=True)]
        skip, limit = self.selection.bounds
        if limit is not None and skip + limit < rows:
            return pc.select_k_unstable(pa.table(keys), skip + limit, order)
        return pc.sort_indices(pa.table(keys), order)


_DIRECTIONS = {True: ("descending", "at_start"), False: ("ascending", "at_end")}


def computed(
    expression: Expression,
    read: Mapping[Column, pa.Array | pa.ChunkedArray],
    rows: int,
    parameters: Mapping[str, object],
) -> pa.Array | None:
    """An expression of columns for so many rows; None where they are many, or Arrow does not say it."""
    if rows > FEW or _is_long((expression,)):
        return None
    try:
        compute = Writer({part: place for place, part in enumerate(read)}, parameters).write(expression)
        columns = [each.combine_chunks() if isinstance(each, pa.ChunkedArray) else each for each in read.values()]
        return as_array(compute(columns), rows)
    except (Unsaid, pa.ArrowException):
        return None


def _is_long(expressions: Iterable[Expression]) -> bool:
    return len([part for each in expressions for part in islice(walk(each), _LONG)]) >= _LONG


def _is_unwound(output: Expression) -> bool:
    """Whether a row goes out for each item of a list, or none."""
    return isinstance(output, Call) and output.function == "unwind" and output.arguments[0].type.kind is Kind.LIST


def _whole(output: Expression) -> Expression:
    """With the list in place of its items."""
    return output.arguments[0] if isinstance(output, Call) and _is_unwound(output) else output


def _where(batch: pa.RecordBatch, conditions: list[Computed]) -> pa.RecordBatch:
    """The rows for which all conditions are true."""
    if not conditions:
        return batch
    true = truths_of(conditions, batch.columns, batch.num_rows)
    return batch if true is None else batch.filter(true)
