"""The answer of a projection that asks for nothing but how many matches, or rows, there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

import numpy as np
import pyarrow as pa

from gquery.arrays import of_values, to_arrow, to_numpy
from gquery.errors import ExecutionError
from gquery.executor.chain.rows import Rows, one_row
from gquery.executor.progress import Control
from gquery.executor.relational.selection import WEIGHT
from gquery.executor.relational.tail import Tail
from gquery.planner.ir.expr import Aggregate, Constant, Expression, is_aggregated, with_children
from gquery.planner.ir.segments import ProjectionItem

_LARGEST = 2**127  # of the numbers that DuckDB computes with


def counted(tail: Tail, matches: Callable[[], int], control: Control) -> Iterator[pa.RecordBatch]:
    """What a projection that only counts makes of so many rows. Bare counts are the answer; expressions over them go
    through the tail."""
    projection, count = tail.projection, matches()
    if all(isinstance(item.expression, Aggregate) for item in projection.items):
        exact = exact_count(count)
        if not tail.final and exact.type != pa.int64():
            raise ExecutionError(f"there are {count:,} matches, more than the 2^63 that a WITH can count")
        yield pa.record_batch([exact for _ in tail.schema], names=tail.schema.names)
        return
    if count >= _LARGEST:
        raise ExecutionError(f"there are {count:,} matches, more than the 2^127 that an expression can count")
    if not count and not all(is_aggregated(item.expression) for item in projection.items):  # a constant is a key
        yield pa.RecordBatch.from_arrays([pa.nulls(0, each.type) for each in tail.schema], schema=tail.schema)
        return
    items = tuple(ProjectionItem(item.name, _with_count(item.expression, count)) for item in projection.items)
    yield from tail.replaced(items).run(one_row(), control)


def number_of(rows: Rows, control: Control) -> int:
    """How many rows there are, those with a weight that often."""
    count = 0
    try:
        for batch in rows:
            control.check()
            if WEIGHT in batch.schema.names:
                weights = to_numpy(batch.column(WEIGHT))
                count += (int((weights >> 32).sum()) << 32) + int((weights & 0xFFFFFFFF).sum())
            else:
                count += batch.num_rows
    finally:
        close = getattr(rows, "close", None)
        if close is not None:
            close()
    return count


def exact_count(count: int) -> pa.Array:
    """A count in the narrowest type that holds it: int64, then decimals. Raises ExecutionError beyond 10^76."""
    if count < 2**63:
        return to_arrow(np.array([count]))
    for arrow, limit in ((pa.decimal128(38, 0), 10**38), (pa.decimal256(76, 0), 10**76)):
        if count < limit:
            return of_values([Decimal(count)], arrow)
    raise ExecutionError(f"the number of matches has {len(str(count))} digits, more than Arrow can hold")


def _with_count(expression: Expression, count: int) -> Expression:
    if isinstance(expression, Aggregate):
        return Constant(expression.type, expression.span, count)
    return with_children(expression, lambda part: _with_count(part, count))
