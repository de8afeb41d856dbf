"""A look-up for rows: what each of them has to compare with, and the vertices that are equal to that."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from gquery.executor.chain.keys import vertices_with
from gquery.executor.chain.seeds import Numbers
from gquery.executor.lowering.seeds import Bound
from gquery.executor.progress import Control
from gquery.executor.relational.database import running
from gquery.executor.relational.database.translation import translated
from gquery.executor.relational.growth import rows_at_once
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import named
from gquery.executor.relational.sql.expressions import SqlWriter, inputs
from gquery.executor.relational.sql.words import quoted
from gquery.planner.ir.expr import Column
from gquery.planner.ir.query_plan import PathsPlan, QueryPlan
from gquery.planner.ir.segments import Lookup
from gquery.storage.graph import Snapshot


class RowLookup:
    """One of a plan's look-ups."""

    def __init__(
        self, lookup: Lookup, plan: QueryPlan | PathsPlan, snapshot: Snapshot, parameters: Mapping[str, object]
    ) -> None:
        self.vertex = lookup.vertex
        self._lookup = lookup
        self._snapshot = snapshot
        (self._tables,) = (vertex.tables for vertex in plan.graph.vertices if vertex.variable == lookup.vertex)
        names = named(dict.fromkeys(inputs(lookup.value)))
        self._inputs = Inputs(snapshot, {each.name: each.type.kind for each in plan.segment.input}, names)
        writer = SqlWriter({part: quoted(name) for name, part in names.items()}, parameters, snapshot)
        self._sql = f"SELECT {writer.write(lookup.value)} FROM elements"
        self._asked = writer.asked(self._sql)

    def found(self, rows: pa.Table, control: Control) -> tuple[Numbers, Bound]:
        """For each row of a table of one chunk the number of its vertices among all that are found; -1 for none."""
        (batch,) = rows.to_batches()
        value = self._lookup.value
        with translated():
            if isinstance(value, Column):
                values = self._inputs.read_one(value, batch)
            else:
                values = self._computed(batch, control)
            return vertices_with(self._snapshot, self._tables, self._lookup.key, values, control)

    def _computed(self, batch: pa.RecordBatch, control: Control) -> pa.Array:
        relation = pa.Table.from_batches(list(self._inputs.batches(batch, control)), self._inputs.schema)
        at_once = rows_at_once([self._lookup.value])
        return pa.concat_arrays(running.evaluate(self._sql, relation, self._asked, control, at_once).chunks)
