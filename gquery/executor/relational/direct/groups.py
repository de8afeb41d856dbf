"""Groups of few rows: their keys, and what is counted, summed and collected of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gquery.arrays import to_arrow, to_numpy
from gquery.executor.relational.direct.values import Columns, Computed, Unsaid, Writer, as_array, is_plain
from gquery.executor.relational.selection import WEIGHTS
from gquery.planner.ir.expr import Aggregate, Expression, Kind
from gquery.records import record

_KNOWN = pc.CountOptions(mode="only_valid")
_FROM_ZERO = pc.ScalarAggregateOptions(min_count=0)
_MOST = 2**63


@record(frozen=True, slots=True)
class Measure:
    """How one aggregate is computed. values: what of each row goes in, None where only their number matters. named: the
    function of Arrow's groups with its options. after: what is made of what it gives."""

    values: Callable[[Columns, int], pa.Array] | None
    named: tuple[str, Any]
    after: Callable[[pa.Array], pa.Array]


class Groups:
    """The groups of rows that have the same keys, at least one. Raises Unsaid."""

    def __init__(self, keys: Sequence[Expression], aggregates: Sequence[Aggregate], writer: Writer) -> None:
        if not keys or not all(is_plain(key.type) for key in keys):
            raise Unsaid
        self._keys = [writer.write(key) for key in keys]
        weight = writer.write(WEIGHTS) if WEIGHTS in writer.places else None
        self._measures = [_measure(each, writer, weight) for each in aggregates]

    def of(self, columns: Columns, rows: int) -> list[pa.Array]:
        """The keys of each group, then the aggregates. Raises ArrowException for what DuckDB has to word."""
        given = {f"k{place}": as_array(key(columns), rows) for place, key in enumerate(self._keys)}
        keys = list(given)
        asked = []
        for place, measure in enumerate(self._measures):
            if measure.values is not None:
                given[f"v{place}"] = measure.values(columns, rows)
            asked.append((f"v{place}" if measure.values is not None else [], *measure.named))
        found = pa.TableGroupBy(pa.table(given), keys, use_threads=False).aggregate(asked)
        together = [column.combine_chunks() for column in found.columns]
        measured = zip(self._measures, together[len(keys) :], strict=True)
        return together[: len(keys)] + [measure.after(values) for measure, values in measured]


def _measure(aggregate: Aggregate, writer: Writer, weight: Computed | None) -> Measure:
    """Raises Unsaid."""
    argument = aggregate.argument
    if argument is None:
        return Measure(None, ("count_all", None), _as_is) if weight is None else _sum(weight)
    if not is_plain(argument.type):
        raise Unsaid
    value = writer.write(argument)
    values = partial(_arrays, value)
    match aggregate.function:
        case "count" if aggregate.distinct:
            return Measure(values, ("count_distinct", _KNOWN), _as_is)
        case "count" if weight is None:
            return Measure(values, ("count", _KNOWN), _as_is)
        case "count" if weight is not None:
            known = weight
            return _sum(lambda columns: pc.if_else(pc.is_valid(value(columns)), known(columns), 0))
        case "sum" if argument.type.kind is Kind.INTEGER and not aggregate.distinct:
            return _sum(
                value if weight is None else lambda columns: pc.multiply_checked(value(columns), weight(columns))
            )
        case "min" | "max" if argument.type.kind in (Kind.INTEGER, Kind.TEMPORAL):
            return Measure(values, (aggregate.function, None), _as_is)
        case "collect" if weight is None or aggregate.distinct:
            function = ("distinct", _KNOWN) if aggregate.distinct else ("list", None)
            return Measure(values, function, _known_items)
    raise Unsaid


def _sum(value: Computed) -> Measure:
    def values(columns: Columns, rows: int) -> pa.Array:
        numbers = as_array(value(columns), rows)
        most = pc.max(pc.abs_checked(numbers)).as_py() or 0
        if most * rows >= _MOST:
            raise pa.ArrowInvalid("a sum may have more than 64 bits")
        return numbers

    return Measure(values, ("sum", _FROM_ZERO), _as_is)


def _arrays(value: Computed, columns: Columns, rows: int) -> pa.Array:
    return as_array(value(columns), rows)


def _as_is(values: pa.Array) -> pa.Array:
    return values


def _known_items(lists: pa.Array) -> pa.Array:
    """Lists without their nulls."""
    items = lists.values
    if not items.null_count:
        return lists
    known = items.is_valid()
    before = np.concatenate([[0], np.cumsum(to_numpy(known.cast(pa.int8())), dtype=np.int32)])
    return pa.ListArray.from_arrays(to_arrow(before[to_numpy(lists.offsets)]), items.filter(known))
