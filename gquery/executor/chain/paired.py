"""Which match belongs to which row, by conditions that speak of both and that DuckDB asks.

What it answers are numbers of rows and what is carried of the matches: the values of the rows never pass through it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from gquery.arrays import to_arrow
from gquery.errors import Span
from gquery.executor.chain.rows import Rows
from gquery.executor.chain.seeds import Numbers
from gquery.executor.progress import Control
from gquery.executor.relational.database import running
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.sql.expressions import SqlWriter
from gquery.executor.relational.sql.words import quoted
from gquery.planner.ir.expr import INTEGER, Attribute, Column, Expression
from gquery.planner.ir.relations import SEED

SEEDS = Column(INTEGER, Span(0, 0), SEED, Attribute.VALUE)
ROW = " number"  # of a row, among those that are joined

Pairs = Generator[pa.RecordBatch, None, None]
"""The number of a row, in the first column, beside what is carried of a match that belongs to it."""


class Paired:
    """A join. of_rows, of_matches: what is read of both, by its names; of matches, what is carried too. seeded: both
    have the number of a seed, which is the same."""

    def __init__(
        self,
        conditions: Sequence[Expression],
        of_rows: Inputs,
        of_matches: Inputs,
        carried: Sequence[Column],
        seeded: bool,
        parameters: Mapping[str, object],
    ) -> None:
        self._of_rows, self._of_matches = of_rows, of_matches
        sides = {part: f"r.{quoted(name)}" for name, part in of_rows.read.items()}
        sides |= {part: f"m.{quoted(name)}" for name, part in of_matches.read.items()}
        writer = SqlWriter(sides, parameters, of_rows.snapshot)
        # Where a side of a condition alone may fail, DuckDB would compute it for rows that join nothing, too.
        joins = [f"m.{quoted(SEED)} = r.{quoted(SEED)}"] if seeded else []
        tests = [*joins, *([writer.all_true(conditions, *joins)] if conditions else [])]
        self._sql = "\n".join([
            "SELECT " + ", ".join([f"r.{quoted(ROW)}", *(sides[part] for part in carried)]),
            f"FROM matches AS m JOIN rows AS r ON {' AND '.join(tests) or 'TRUE'}",
        ])  # fmt: skip
        self._given = writer.asked(self._sql)

    def pairs(self, rows: pa.Table, numbers: Numbers, matches: Rows, most: int, control: Control) -> Pairs:
        """The pairs, about so many at once. numbers: of the rows' seeds."""
        fed = (part for batch in matches for part in self._of_matches.batches(batch, control))
        (batch,) = rows.to_batches()
        relation = pa.Table.from_batches(list(self._of_rows.batches(batch, control)), self._of_rows.schema)
        relation = relation.append_column(ROW, to_arrow(np.arange(rows.num_rows)))
        beside = {"rows": relation.append_column(SEED, to_arrow(numbers))}
        pairs = running.stream(self._sql, self._given, self._of_matches.schema, fed, control, most, beside)
        try:
            yield from pairs
        finally:
            pairs.close()
            fed.close()
            matches.close()  # type: ignore[attr-defined]
