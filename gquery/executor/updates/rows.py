"""Rows between two stages of a statement: kept whole, since what comes next is read of another graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, to_numpy
from gquery.executor.chain.rows import Rows, batch_of, kept
from gquery.executor.progress import Control
from gquery.executor.relational.gather import plain_type
from gquery.executor.relational.selection import WEIGHT
from gquery.planner.ir.segments import Variable


@dataclass(frozen=True, slots=True)
class GivenRows:
    """variables: what the columns of `batch` hold."""

    variables: tuple[Variable, ...]
    batch: pa.RecordBatch

    @classmethod
    def read(cls, variables: tuple[Variable, ...], rows: Rows, control: Control, reserved: list[int]) -> GivenRows:
        """All rows of a chain, each as often as its weight says. What is taken of the budget is added to `reserved`."""
        table = kept(rows, control, reserved)
        if table is None:
            columns = {variable.name: pa.nulls(0, plain_type(variable.type)) for variable in variables}
            return cls(variables, batch_of(columns, 0))
        columns = {variable.name: table.column(variable.name).chunk(0) for variable in variables}
        found = cls(variables, batch_of(columns, table.num_rows))
        if WEIGHT not in table.column_names:
            return found
        weights = to_numpy(table.column(WEIGHT))
        control.memory.reserve(
            found.batch.nbytes * max(1, int(weights.sum())) // len(weights), "rows that change the graph"
        )
        return found.take(np.repeat(np.arange(len(weights)), weights))

    @classmethod
    def together(cls, parts: Sequence[GivenRows]) -> GivenRows:
        """The rows of several, at least one, that have the same columns."""
        batches = [part.batch for part in parts]
        columns = {
            name: pa.concat_arrays([batch.column(name) for batch in batches]) for name in batches[0].schema.names
        }
        return cls(parts[-1].variables, batch_of(columns, sum(part.count for part in parts)))

    @property
    def count(self) -> int:
        return int(self.batch.num_rows)

    def column(self, name: str) -> pa.Array:
        return self.batch.column(name)

    def take(self, places: NDArray[np.int64]) -> GivenRows:
        """Some of the rows."""
        return replace(self, batch=self.batch.take(to_arrow(places)))

    def with_columns(self, columns: dict[str, pa.Array], variables: tuple[Variable, ...]) -> GivenRows:
        """The rows with other columns, those of `variables`; the new ones are given."""
        found = {
            each.name: columns[each.name] if each.name in columns else self.column(each.name) for each in variables
        }
        return GivenRows(variables, batch_of(found, self.count))
