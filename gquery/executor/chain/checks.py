"""Conditions that speak of rows and of their matches together, asked of the pairs that have a seed in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import pyarrow as pa

from gquery.arrays import to_arrow
from gquery.executor.chain.seeds import Numbers
from gquery.executor.progress import Control
from gquery.executor.relational.database import running
from gquery.executor.relational.direct.types import Computed, Unsaid
from gquery.executor.relational.direct.values import Writer, truths_of
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.sql.expressions import SqlWriter
from gquery.executor.relational.sql.words import quoted
from gquery.planner.ir.expr import Expression, variables


class Checks:
    """of_rows, of_matches: what is read of both, by its names."""

    def __init__(
        self, conditions: Sequence[Expression], of_rows: Inputs, of_matches: Inputs, parameters: Mapping[str, object]
    ) -> None:
        self._names = {part: name for told in (of_rows, of_matches) for name, part in told.read.items()}
        writer = Writer({part: place for place, part in enumerate(self._names)}, parameters)
        try:
            self._computed: list[Computed] | None = [writer.write(condition) for condition in conditions]
        except Unsaid:
            self._computed = None
        self._conditions, self._parameters = conditions, parameters
        self._of_rows, self._of_matches = of_rows, of_matches
        self._spoken_of = dict.fromkeys(name for part in of_rows.read.values() for name in variables(part))

    @property
    def is_direct(self) -> bool:
        """Whether Arrow computes all conditions, so that few pairs cost little."""
        return self._computed is not None

    def passing(self, rows: pa.RecordBatch, places: Numbers, matches: pa.RecordBatch, control: Control) -> pa.Array:
        """For which pairs all conditions are true. places: of the rows that `matches` belong to, one each."""
        chosen = rows.select(list(self._spoken_of)).take(to_arrow(places)) if self._spoken_of else rows
        relation = pa.table(_read(self._of_rows, chosen, control) | _read(self._of_matches, matches, control))
        if self._computed is not None:
            arrays = [column.combine_chunks() for column in relation.columns]
            with suppress(pa.ArrowException):  # DuckDB knows, or has the words for it
                return truths_of(self._computed, arrays, len(places))
        columns = {part: quoted(name) for part, name in self._names.items()}
        writer = SqlWriter(columns, self._parameters, self._of_rows.snapshot)
        sql = f"SELECT {writer.all_true(self._conditions)} FROM elements"
        return running.evaluate(sql, relation, writer.asked(sql), control, alone=True).combine_chunks()


def _read(told: Inputs, batch: pa.RecordBatch, control: Control) -> dict[str, pa.ChunkedArray]:
    if not told.read:
        return {}
    relation = pa.Table.from_batches(told.batches(batch, control), told.schema)
    return {name: relation.column(name) for name in told.read}
