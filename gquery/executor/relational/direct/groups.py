"""Groups of few rows: their keys, and what is counted, summed and collected of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from gquery.arrays import pc, to_arrow, to_numpy, truths
from gquery.executor.relational.direct.types import Columns, Computed, Unsaid, as_array, is_plain
from gquery.executor.relational.direct.values import Writer, numbered
from gquery.executor.relational.direct.whole_keys import groups_and_measures
from gquery.executor.relational.selection import WEIGHTS
from gquery.planner.ir.expr import Aggregate, Expression, Kind, Type
from gquery.records import record
from gquery.storage.sorting import distinct

_MOST = 2**63
_ITEMS = frozenset({Kind.NODE, Kind.RELATIONSHIP, Kind.INTEGER, Kind.STRING, Kind.BOOLEAN})
_WORTH_SORTING = 1 << 12  # rows; fewer stay in the order in which they come
_MOST_ITEMS = 10_000  # of all lists that are keys: Python looks at each


@record(frozen=True, slots=True)
class Measure:
    """How one aggregate is computed. values: what of each row goes in, None where only their number matters. named: the
    function of Arrow's groups with its options. collects: the values are put into lists, by the numbers of their
    rows."""

    values: Callable[[Columns, int], pa.Array] | None
    named: tuple[str, Any]
    collects: bool = False


class Groups:
    """The groups of rows that have the same keys, at least one. are_values: whether they are values of one key, each
    once; are_numbers: and whole numbers. Raises Unsaid."""

    def __init__(self, keys: Sequence[Expression], aggregates: Sequence[Aggregate], writer: Writer) -> None:
        if not keys or not all(is_plain(key.type) or _has_codes(key.type) for key in keys):
            raise Unsaid
        self._keys = [writer.write(key) for key in keys]
        self._coded = [place for place, key in enumerate(keys) if not is_plain(key.type)]
        weight = writer.write(WEIGHTS) if WEIGHTS in writer.places else None
        self._measures = [_measure(each, writer, weight) for each in aggregates]
        self.are_values = len(keys) == 1 and not (aggregates or self._coded)
        self.are_numbers = self.are_values and keys[0].type.kind is Kind.INTEGER

    def of(self, columns: Columns, rows: int) -> list[pa.Array]:
        """The keys of each group, then the aggregates. Raises ArrowException for what DuckDB has to word."""
        keys = [as_array(key(columns), rows) for key in self._keys]
        if self.are_values:
            return [_distinct(keys[0])]
        values = [None if each.values is None else each.values(columns, rows) for each in self._measures]
        told = [_codes(key) if place in self._coded else key for place, key in enumerate(keys)]
        found = groups_and_measures(told, [each.named[0] for each in self._measures], values)
        if found is not None:
            first, made = found
            return [*(key.take(first) for key in keys), *self._collected(made, values)]
        given = {f"k{place}": key for place, key in enumerate(told)}
        asked: list[Any] = [("row", "min")]
        for place, (measure, each) in enumerate(zip(self._measures, values, strict=True)):
            given[f"v{place}"] = each if each is not None and not measure.collects else numbered(rows)
            asked.append(([] if each is None else f"v{place}", *measure.named))
        together = pa.table(given).append_column("row", numbered(rows))
        aggregated = pa.TableGroupBy(together, list(given)[: len(keys)], use_threads=False).aggregate(asked)
        grouped = [column.combine_chunks() for column in aggregated.columns]
        for place in self._coded:
            grouped[place] = keys[place].take(grouped[len(keys)])
        return [*grouped[: len(keys)], *self._collected(grouped[len(keys) + 1 :], values)]

    def _collected(self, made: list[pa.Array], values: list[pa.Array | None]) -> list[pa.Array]:
        """What is made of the groups, with values in place of the numbers of their rows."""
        measured = zip(self._measures, made, values, strict=True)
        return [_known_items(of, each) if one.collects else of for one, of, each in measured]


def _distinct(key: pa.Array) -> pa.Array:
    """The values, each once: numbers in a tenth of the time that hashing takes."""
    if len(key) < _WORTH_SORTING or key.null_count or not pa.types.is_integer(key.type):
        return pc.unique(key)
    return to_arrow(distinct(to_numpy(key)))


def _has_codes(type_: Type) -> bool:
    """Whether values are lists that Python tells apart as openCypher does."""
    return type_.kind is Kind.LIST and type_.item is not None and type_.item.kind in _ITEMS


def _codes(lists: pa.Array) -> pa.Array:
    """Equal lists have equal numbers."""
    if len(lists.flatten()) > _MOST_ITEMS:
        raise pa.ArrowNotImplementedError("lists of so many items are grouped by DuckDB")
    numbers: dict[object, int] = {}
    each = (None if items is None else tuple(items) for items in lists.to_pylist())
    return to_arrow(np.array([numbers.setdefault(items, len(numbers)) for items in each], np.int64))


def _measure(aggregate: Aggregate, writer: Writer, weight: Computed | None) -> Measure:
    """Raises Unsaid."""
    argument = aggregate.argument
    if argument is None:
        return Measure(None, ("count_all", None)) if weight is None else _sum(weight)
    value = writer.write(argument)
    values = partial(_arrays, value)
    if aggregate.function == "collect" and not aggregate.distinct and weight is None:
        return Measure(values, ("list", None), collects=True)
    if not is_plain(argument.type):
        raise Unsaid
    match aggregate.function:
        case "collect" if aggregate.distinct:
            return Measure(values, _of_known("distinct"))
        case "count" if aggregate.distinct:
            return Measure(values, _of_known("count_distinct"))
        case "count" if weight is None:
            return Measure(values, _of_known("count"))
        case "count" if weight is not None:
            known = weight
            return _sum(lambda columns: pc.if_else(pc.is_valid(value(columns)), known(columns), 0))
        case "sum" if argument.type.kind is Kind.INTEGER and not aggregate.distinct:
            return _sum(
                value if weight is None else lambda columns: pc.multiply_checked(value(columns), weight(columns))
            )
        case "min" | "max" if argument.type.kind in (Kind.INTEGER, Kind.TEMPORAL):
            return Measure(values, (aggregate.function, None))
    raise Unsaid


def _of_known(function: str) -> tuple[str, Any]:
    """A function of Arrow's groups that leaves nulls out."""
    return function, pc.CountOptions(mode="only_valid")


def _sum(value: Computed) -> Measure:
    def values(columns: Columns, rows: int) -> pa.Array:
        numbers = as_array(value(columns), rows)
        most = pc.max(pc.abs_checked(numbers)).as_py() or 0
        if most * rows >= _MOST:
            raise pa.ArrowInvalid("a sum may have more than 64 bits")
        return numbers

    return Measure(values, ("sum", pc.ScalarAggregateOptions(min_count=0)))


def _arrays(value: Computed, columns: Columns, rows: int) -> pa.Array:
    return as_array(value(columns), rows)


def _known_items(places: pa.Array, values: pa.Array) -> pa.Array:
    """Lists of the values in some places, without nulls."""
    items = values.take(places.values)
    offsets = to_numpy(places.offsets)
    if items.null_count:
        known = items.is_valid()
        before = np.concatenate([[0], np.cumsum(truths(known), dtype=np.int32)])
        items, offsets = items.filter(known), before[offsets]
    return pa.ListArray.from_arrays(to_arrow(offsets.astype(np.int32)), items)
