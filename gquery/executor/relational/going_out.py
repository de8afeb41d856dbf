"""What goes out of a tail: the columns that travelled, those that waited until now, and whole elements for the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from gquery.executor.progress import Control
from gquery.executor.relational.database.translation import translated
from gquery.executor.relational.elements import ElementWriter
from gquery.executor.relational.gather import Gathering, plain_type
from gquery.executor.relational.selection import WEIGHT, WEIGHTS
from gquery.executor.relational.unions import cast
from gquery.executor.relational.widths import (
    Bytes,
    batch_bytes,
    can_be_wide,
    element_widths,
    long_row,
    parts,
    widths_of,
)
from gquery.planner.ir.expr import Column, Expression, Kind, Type
from gquery.planner.ir.segments import ProjectionItem
from gquery.records import record
from gquery.storage.graph import Snapshot


@record(frozen=True, slots=True)
class Waiting:
    """A column of what goes out, in an Arrow type. column: what is gathered for it at the end, where it waits. carried:
    the kind of what travels for it, and place: where that is among the outputs."""

    type: Type
    column: Column | None
    carried: Kind
    place: int
    arrow: pa.DataType


class GoingOut:
    """Batches of an answer, or of the rows between two clauses. travelling: what travels for each of some items.
    outputs: all that does. final: to the user, who gets whole elements where rows have ids. weighted: each row stands
    for several, as WEIGHTS among the outputs say."""

    def __init__(
        self,
        snapshot: Snapshot,
        items: Sequence[ProjectionItem],
        travelling: Sequence[Expression],
        outputs: Sequence[Expression],
        final: bool,
        weighted: bool,
    ) -> None:
        self._snapshot = snapshot
        self._final = final
        self._elements = ElementWriter(snapshot)
        self._places = {output: place for place, output in enumerate(outputs)}
        self._weights = self._places[WEIGHTS] if weighted else None
        self.columns = tuple(map(self._column, items, travelling))
        weights = [] if self._weights is None else [(WEIGHT, pa.int64())]
        self.schema = pa.schema([
            *((item.name, column.arrow) for item, column in zip(items, self.columns, strict=True)),
            *weights,
        ])  # fmt: skip
        self._wide = any(can_be_wide(column.type, column.column is not None) for column in self.columns)
        self._carried = {column.place: column.carried for column in self.columns if column.column is not None}

    def _column(self, item: ProjectionItem, carried: Expression) -> Waiting:
        shown = item.expression
        waits = shown if isinstance(shown, Column) and shown != carried else None
        arrow = (self._elements.arrow_type if self._final else plain_type)(shown.type)
        return Waiting(shown.type, waits, carried.type.kind, self._places[carried], arrow)

    @property
    def gathered(self) -> tuple[Column, ...] | None:
        """The columns, where there are none but those that wait, as they are stored."""
        waiting = [each.column for each in self.columns if each.column is not None]
        plain = all(each.arrow == plain_type(each.type) for each in self.columns)
        return tuple(waiting) if plain and len(waiting) == len(self.columns) else None

    def batches(self, travelled: list[pa.Array], rows: int, control: Control) -> Iterator[pa.RecordBatch]:
        """A batch, in parts for which not too much has to be gathered."""
        if not self._wide:
            yield self._batch(travelled)
            return
        most = batch_bytes(control)
        widths = [self._widths(column, travelled[column.place], most) for column in self.columns]
        for begin, size in parts(widths, rows, most):
            alone = sum(int(column[begin]) for column in widths if column is not None) if size == 1 else 0
            with long_row(alone, control):
                whole = size == rows
                yield self._batch(travelled if whole else [values.slice(begin, size) for values in travelled])

    def _widths(self, column: Waiting, values: pa.Array, most: int) -> Bytes | None:
        """The bytes of what is gathered for a column."""
        if column.column is not None:
            return widths_of(self._snapshot, column.carried, column.column, values, most)
        return element_widths(self._snapshot, values, column.type, most) if self._final else None

    def _batch(self, travelled: list[pa.Array]) -> pa.RecordBatch:
        with translated():
            known = {place: Gathering(self._snapshot, kind, travelled[place]) for place, kind in self._carried.items()}
            arrays = [self._written(column, travelled[column.place], known) for column in self.columns]
        arrays += [] if self._weights is None else [travelled[self._weights].cast(pa.int64())]
        return pa.record_batch(arrays, schema=self.schema)

    def _written(self, column: Waiting, values: pa.Array, known: Mapping[int, Gathering]) -> pa.Array:
        """A column as it goes out. known: where the elements are that something waits for, by place."""
        if column.column is not None:
            values = known[column.place].values(column.column)
        if values.type == column.arrow and not pa.types.is_nested(column.arrow):
            return values
        return self._elements.write(values, column.type) if self._final else cast(values, column.arrow)
