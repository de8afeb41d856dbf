"""What a statement reads: columns of the rows, and attributes of the elements in them, gathered batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from gquery.arrays import to_arrow
from gquery.executor.progress import Control
from gquery.executor.relational.database.translation import translated
from gquery.executor.relational.elements import ends_of
from gquery.executor.relational.gather import Gathering, travelling_type
from gquery.executor.relational.unions import cast
from gquery.executor.relational.widths import average_width, batch_bytes, parts, widths_of
from gquery.lasting.properties import cached_property
from gquery.planner.ir.expr import Attribute, Call, Column, Expression, Kind, columns
from gquery.records import record
from gquery.storage.graph import Snapshot

_NO_COLUMNS = pa.schema([("row", pa.int8())])


@record(frozen=True)
class Inputs:
    """kinds: of the variables of the rows. read: what is read, by its name in the relation."""

    snapshot: Snapshot
    kinds: Mapping[str, Kind]
    read: Mapping[str, Expression]

    @cached_property
    def schema(self) -> pa.Schema:
        """Of the relation; where nothing is read, its rows still are as many."""
        fields = [(name, travelling_type(part.type)) for name, part in self.read.items()]
        return pa.schema(fields) if fields else _NO_COLUMNS

    @property
    def average_width(self) -> float:
        """About the bytes of what is gathered for a row."""
        return sum(average_width(self.snapshot, self._kind(part), part) for part in self._gathered)

    def batches(self, batch: pa.RecordBatch, control: Control) -> Iterator[pa.RecordBatch]:
        """The relation for a batch of rows, in parts for which not too much has to be gathered."""
        most, rows = batch_bytes(control), batch.num_rows
        widths = [
            widths_of(self.snapshot, self._kind(part), part, batch.column(part.variable), most)
            for part in self._gathered
        ]
        for begin, size in parts(widths, rows, most):
            yield self._relation(batch if size == rows else batch.slice(begin, size))

    def read_one(self, part: Expression, batch: pa.RecordBatch, known: dict[str, Gathering] | None = None) -> pa.Array:
        """What is read of the rows, and of the graph for the ids in them. known: what other parts of the same rows have
        looked for, by variable."""
        if isinstance(part, Call):
            (relationship,) = columns(part)
            return ends_of(self.snapshot, batch.column(relationship.variable), int(part.function == "endnode"))
        assert isinstance(part, Column)
        known = {} if known is None else known
        if part.variable not in known:
            known[part.variable] = Gathering(self.snapshot, self._kind(part), batch.column(part.variable))
        return known[part.variable].values(part)

    def _relation(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        schema = self.schema
        if schema is _NO_COLUMNS:
            return pa.record_batch([to_arrow(np.zeros(batch.num_rows, np.int8))], schema=schema)
        with translated():
            known: dict[str, Gathering] = {}
            found = [self.read_one(part, batch, known) for part in self.read.values()]
            arrays = [cast(values, type_) for values, type_ in zip(found, schema.types, strict=True)]
        return pa.record_batch(arrays, schema=schema)

    @cached_property
    def _gathered(self) -> list[Column]:
        columns = (part for part in self.read.values() if isinstance(part, Column))
        return [column for column in columns if column.attribute not in (Attribute.ELEMENT, Attribute.VALUE)]

    def _kind(self, column: Column) -> Kind:
        """Of the variable that the column belongs to."""
        return self.kinds[column.variable]
