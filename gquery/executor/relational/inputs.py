"""What a statement reads: columns of the rows, and attributes of the elements in them, gathered batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

import numpy as np
import pyarrow as pa

from gquery.arrays import to_arrow
from gquery.executor.progress import Control
from gquery.executor.relational.codes.property_codes import Codes
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
    """kinds: of the variables of the rows. read: what is read, by its name in the relation. codes: those of columns
    that have numbers in place of values, by name."""

    snapshot: Snapshot
    kinds: Mapping[str, Kind]
    read: Mapping[str, Expression]
    codes: Mapping[str, Codes] = field(default_factory=dict)

    @cached_property
    def schema(self) -> pa.Schema:
        """Of the relation; where nothing is read, its rows still are as many."""
        codes = self.codes
        fields = [
            (name, codes[name].codes.type if name in codes else travelling_type(part.type))
            for name, part in self.read.items()
        ]
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
            found = [
                self._code(name, batch) if name in self.codes else self.read_one(part, batch, known)
                for name, part in self.read.items()
            ]
            arrays = [cast(values, type_) for values, type_ in zip(found, schema.types, strict=True)]
        return pa.record_batch(arrays, schema=schema)

    def _code(self, name: str, batch: pa.RecordBatch) -> pa.Array:
        part = self.read[name]
        assert isinstance(part, Column)
        return to_arrow(self.codes[name].of(batch.column(part.variable)))

    def decoded(self, outputs: Sequence[Expression], batch: pa.RecordBatch) -> pa.RecordBatch:
        """What a statement gives for some outputs, with values where codes went in for them."""
        codes = {self.read[name]: each for name, each in self.codes.items()}
        pairs = zip(outputs, batch.columns, strict=True)
        columns = [codes[part].values.take(values) if part in codes else values for part, values in pairs]
        return pa.record_batch(columns, names=batch.schema.names)

    @cached_property
    def _gathered(self) -> list[Column]:
        columns = (part for name, part in self.read.items() if isinstance(part, Column) and name not in self.codes)
        return [column for column in columns if column.attribute not in (Attribute.ELEMENT, Attribute.VALUE)]

    def _kind(self, column: Column) -> Kind:
        """Of the variable that the column belongs to."""
        return self.kinds[column.variable]
