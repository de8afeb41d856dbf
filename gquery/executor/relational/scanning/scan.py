"""Expressions over one element, evaluated as scans of its columns: the filters before matching starts.

A comparison of a stored column with a value is done by Arrow, in microseconds; everything else is DuckDB's.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import pc, to_arrow, to_numpy, truths
from gquery.errors import ExecutionError, Span
from gquery.executor.progress import Control
from gquery.executor.relational.database import running
from gquery.executor.relational.database.functions import Given
from gquery.executor.relational.database.translation import translated
from gquery.executor.relational.direct.few import computed
from gquery.executor.relational.direct.stored import all_stored, as_stored, found_in, is_scalar
from gquery.executor.relational.gather import as_shown, gather, stored_column, take, travelling_type
from gquery.executor.relational.growth import rows_at_once
from gquery.executor.relational.scanning.failing import Elements, Relevant, answered, expect_its_own, fails, few_failing
from gquery.executor.relational.sql.expressions import SqlWriter
from gquery.executor.relational.sql.values import sorting_key
from gquery.executor.relational.sql.words import quoted
from gquery.executor.relational.unions import cast
from gquery.executor.relational.widths import batch_bytes
from gquery.planner.ir.expr import (
    BOOLEAN,
    NULL,
    Attribute,
    Call,
    Case,
    Column,
    Constant,
    Expression,
    Kind,
    Parameter,
    Type,
    columns,
)  # fmt: skip
from gquery.planner.ir.functions.failing import safe_first
from gquery.planner.ir.types.common_type import DATE, NARROW_INTEGER, type_of_arrow
from gquery.planner.ir.types.temporal import known_moment, reading
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import Ids
from gquery.values.durations import Duration
from gquery.values.moments import Moment

Parameters = Mapping[str, object]
Predicates = tuple[Expression, ...]


class Reading(Protocol):
    """What a scan reads, as `lowering/reading.py` has it."""

    @property
    def snapshot(self) -> Snapshot: ...

    @property
    def parameters(self) -> Parameters: ...

    @property
    def control(self) -> Control: ...

    @property
    def relevant(self) -> Relevant: ...


def select_vertices(reading: Reading, table: int, predicates: Predicates) -> NDArray[np.bool_]:
    """bool[count of the table]: the vertices for which every predicate is true (null is not true)."""
    return _Scan(reading, Kind.NODE, table).select(predicates)


def look_up(reading: Reading, table: int, predicate: Expression) -> NDArray[np.int32]:
    """The rows of a vertex table for which the predicate is true, ascending: those that an index of its column names,
    where the values that it asks for can be told and there is one. Else all rows are looked at."""
    scan = _Scan(reading, Kind.NODE, table)
    with translated():
        found = scan.look_up(predicate)
    return np.flatnonzero(scan.select((predicate,))).astype(np.int32) if found is None else found


def select_edges(reading: Reading, table: int, predicates: Predicates) -> NDArray[np.bool_]:
    """bool[count of the edge table]: the edges for which every predicate is true, of those that are not gone."""
    edges = reading.snapshot.edges
    rows = edges.rows_there(table)
    if rows is None:
        return _Scan(reading, Kind.RELATIONSHIP, table).select(predicates)
    found = np.zeros(reading.snapshot.edge_tables[table].count, np.bool_)
    found[rows] = _Scan(reading, Kind.RELATIONSHIP, table, rows).select(predicates)
    return found


def among(reading: Reading, predicates: Predicates, vertices: NDArray[np.int32]) -> NDArray[np.int32]:
    """Those of some vertices, ascending, for which all predicates are true: looks at their values alone, and not at the
    columns."""
    keep = np.zeros(len(vertices), np.bool_)
    for table, where, rows in reading.snapshot.vertex_numbers.ascending_parts(vertices):
        keep[where] = _Scan(reading, Kind.NODE, table, rows).select(predicates)
    return vertices[np.flatnonzero(keep)]


def edges_among(reading: Reading, predicates: Predicates, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of some edges, ascending, for which all predicates are true."""
    keep = np.zeros(len(edges), np.bool_)
    for table, where, rows in reading.snapshot.edges.numbers.ascending_parts(edges):
        keep[where] = _Scan(reading, Kind.RELATIONSHIP, table, rows).select(predicates)
    return edges[np.flatnonzero(keep)]


def vertex_values(reading: Reading, expression: Expression, vertices: NDArray[np.int32]) -> pa.Array:
    """The value of an expression over one vertex variable, for each of the internal vertices."""
    return _values(reading, Kind.NODE, expression, to_arrow(vertices))


def edge_values(reading: Reading, expression: Expression, edges: NDArray[np.int64]) -> pa.Array:
    """The value of an expression over one edge variable, for each of the internal edges."""
    return _values(reading, Kind.RELATIONSHIP, expression, to_arrow(edges))


def _values(reading: Reading, kind: Kind, expression: Expression, ids: pa.Array) -> pa.Array:
    """Null where it fails for an element that is in no match."""
    if isinstance(expression, Column):
        return gather(reading.snapshot, kind, expression, ids)
    read = {column: gather(reading.snapshot, kind, column, ids) for column in columns(expression)}
    try:
        found = _evaluate(reading, expression, read, len(ids))
    except ExecutionError as error:
        expect_its_own(error, expression)
        asked = Case(
            expression.type, expression.span, ((_RELEVANT, expression),), Constant(NULL, expression.span, None)
        )

        def fails_at(places: NDArray[np.int64]) -> bool:
            there = {column: values.take(to_arrow(places)) for column, values in read.items()}
            return fails(lambda: _evaluate(reading, expression, there, len(places)), expression)

        numbers: Ids = to_numpy(ids)
        failing = partial(few_failing, numbers, np.arange(len(ids)), fails_at)

        def values(elements: Elements) -> pa.ChunkedArray:
            return _evaluate(reading, asked, {**read, _RELEVANT: to_arrow(elements.among(numbers))}, len(ids))

        found = answered(reading.relevant(expression, error, failing), values)
    return pa.concat_arrays(found.chunks) if found.num_chunks else pa.nulls(0, found.type)


def dense_ranks(values: pa.Array, type_: Type, control: Control) -> pa.Array:
    """The rank of each value among values of several types: equal values have equal ranks, order is kept."""
    relation = pa.table({"value": cast(values, travelling_type(type_)), "row": to_arrow(np.arange(len(values)))})
    ranked = f"SELECT row, dense_rank() OVER (ORDER BY {sorting_key(quoted('value'), type_)}) AS rank FROM elements"
    found = running.evaluate(f"SELECT rank FROM ({ranked}) ORDER BY row", relation, Given(), control, whole=True)
    return pa.concat_arrays(found.chunks) if found.num_chunks else pa.nulls(0, pa.int64())


def _python_date(known: Moment | Duration) -> object:
    """`_COMPUTED` for years that Python does not have."""
    day = known.date if isinstance(known, Moment) else None
    if day is None or not -719162 <= day <= 2932896:
        return _COMPUTED
    return datetime.date(1970, 1, 1) + datetime.timedelta(days=day)


class _Scan:
    """Predicates over the elements of one table, all of them or those in some of its rows."""

    def __init__(self, reading: Reading, kind: Kind, table: int, rows: Ids | None = None) -> None:
        self.reading = reading
        self.snapshot = reading.snapshot
        self.kind = kind
        vertices = kind is Kind.NODE
        self.table = (self.snapshot.vertex_tables if vertices else self.snapshot.edge_tables)[table]
        self.number = table
        self.rows = rows
        self._taken: dict[str | None, pa.ChunkedArray] = {}
        self.count = self.table.count if rows is None else len(rows)

    def select(self, predicates: Predicates) -> NDArray[np.bool_]:
        try:
            return self._true(predicates)
        except ExecutionError as error:
            expect_its_own(error, *predicates)
            safe, failing = safe_first(predicates)
            passing = self._true(safe)
            for predicate in failing:
                passing = self._true_among(passing, predicate)
            return passing

    def _true_among(self, asked: NDArray[np.bool_], predicate: Expression) -> NDArray[np.bool_]:
        """Those of some elements for which a predicate is true; of all that matter, where it fails for some."""
        try:
            return self._true_of(asked, predicate)
        except ExecutionError as error:
            expect_its_own(error, predicate)
            ids = self._ids()
            failing = partial(few_failing, ids, np.flatnonzero(asked), partial(self._fails_at, predicate))
            relevant = self.reading.relevant(predicate, error, failing)
            return answered(relevant, lambda elements: self._true_of(asked & elements.among(ids), predicate))

    def _true_of(self, asked: NDArray[np.bool_], predicate: Expression) -> NDArray[np.bool_]:
        places = np.flatnonzero(asked)
        found = np.zeros(self.count, np.bool_)
        found[places] = self._true_at(places, predicate)
        return found

    def _true_at(self, places: NDArray[np.int64], predicate: Expression) -> NDArray[np.bool_]:
        rows = places if self.rows is None else self.rows[places]
        return _Scan(self.reading, self.kind, self.number, rows)._true((predicate,))

    def _fails_at(self, predicate: Expression, places: NDArray[np.int64]) -> bool:
        return fails(lambda: self._true_at(places, predicate), predicate)

    def _true(self, predicates: Sequence[Expression]) -> NDArray[np.bool_]:
        keep: pa.Array | pa.ChunkedArray | None = None
        with translated():
            for predicate in predicates if self.count else ():
                self.reading.control.check()
                here = self._within(predicate)
                values = self._compared(here)
                true = cast(self._computed(here) if values is None else values, pa.bool_())
                keep = true if keep is None else pc.and_(keep, true)
            return np.ones(self.count, np.bool_) if keep is None else truths(keep)

    def look_up(self, predicate: Expression) -> NDArray[np.int32] | None:
        """The rows of a vertex table for which the predicate is true, by an index; None without one."""
        match predicate:
            case Call(function="=" | "in" as operator, arguments=(Column() as column, other)):
                stored, value = self._stored(column), self._known(other)
            case _:
                return None
        if stored is None:
            return np.zeros(0, np.int32)  # nothing is equal to null
        wanted = value if operator == "in" else [value]
        if not (isinstance(wanted, _LISTS) and all(map(is_scalar, wanted))):
            return None
        same = all_stored(list(wanted), stored.type)
        if operator == "=" and not same:
            return None  # it may be equal in another way
        name = None if column.attribute is Attribute.ID else column.key
        control = self.reading.control
        index = self.snapshot.indexes.index(self.number, name, len(same), control.check, control.memory)
        return None if index is None else index.rows(same)

    def _within(self, expression: Expression) -> Expression:
        """The expression as it is in this table, where a property of several types is of one."""
        match expression:
            case Column(type=Type(kind=Kind.ANY), attribute=Attribute.PROPERTY | Attribute.ID):
                stored = stored_column(self.table, expression)
                type_ = NULL if stored is None else type_of_arrow(stored.type)
                here = replace(expression, type=type_)
                return Constant(NULL, expression.span, None) if type_.kind is Kind.NULL else here
            case Call(function=operator, arguments=arguments):
                within = tuple(map(self._within, arguments))
                if operator == "field" and within[0].type.kind is Kind.NULL:
                    return within[0]
                if operator in _COMPARE and {each.type.kind for each in within} == {Kind.INTEGER, Kind.FLOAT}:
                    within = tuple(map(self._narrowed, within))
                return expression if within == arguments else replace(expression, arguments=within)
            case Case(branches=branches, default=default, subject=subject):
                cases = tuple((self._within(test), self._within(value)) for test, value in branches)
                subject = None if subject is None else self._within(subject)
                return replace(expression, branches=cases, default=self._within(default), subject=subject)
        return expression

    def _narrowed(self, expression: Expression) -> Expression:
        """A column of integers, as one that floats hold exactly where they do: it then compares as they do."""
        stored = self._stored(expression) if isinstance(expression, Column) else None
        if stored is None or not pa.types.is_int64(stored.type):
            return expression
        least, most = (bound.as_py() or 0 for bound in pc.min_max(stored).values())
        return replace(expression, type=NARROW_INTEGER) if least >= -(2**53) and most <= 2**53 else expression

    def _compared(self, predicate: Expression) -> pa.ChunkedArray | None:
        """`property operator value` by Arrow; None for every other shape."""
        match predicate:
            case Call(function=operator, arguments=(Column() as column, other)):
                value = self._known(other)
            case _:
                return None
        stored = self._stored(column) if column.attribute in (Attribute.PROPERTY, Attribute.ID) else None
        if value is _COMPUTED or stored is None or pa.types.is_dictionary(stored.type) or pa.types.is_null(stored.type):
            return None
        if operator == "in" and other.type.item is not None and isinstance(value, _LISTS):
            return found_in(stored, list(value))
        if operator in _COMPARE and other.type.kind is not Kind.NULL:
            same = as_stored(value, stored.type)
            return None if same is None else getattr(pc, _COMPARE[operator])(stored, same)
        return None

    def _known(self, expression: Expression) -> object:
        """What a constant, a parameter, a written day or a list of them is; `_COMPUTED` for everything else."""
        match expression:
            case Constant(value=value):
                return value
            case Parameter(name=name):
                return self.reading.parameters[name]
            case Call(function="read", arguments=(Constant(value=str() as text),)) if expression.type == DATE:
                found = reading(text)
                is_day = found is not None and found.family == "date"
                return datetime.date.fromisoformat(text) if is_day else _COMPUTED
            case Call(function="moment") if expression.type == DATE:
                return _python_date(known_moment(expression))
            case Call(function="list", arguments=items):
                values = [self._known(item) for item in items]
                return _COMPUTED if any(value is _COMPUTED for value in values) else values
        return _COMPUTED

    def _computed(self, predicate: Expression) -> pa.ChunkedArray:
        read = {column: self._column(column) for column in columns(predicate)}
        return _evaluate(self.reading, predicate, read, self.count, SqlWriter.condition)

    def _column(self, column: Column) -> pa.Array | pa.ChunkedArray:
        if column.attribute is Attribute.PROPERTY or (column.attribute is Attribute.ID and self.kind is Kind.NODE):
            stored = self._stored(column)
            wanted = travelling_type(column.type)
            if stored is None:
                return pa.nulls(self.count, wanted)
            return as_shown(stored, column.type)
        return gather(self.snapshot, self.kind, column, to_arrow(self._ids()))

    def _stored(self, column: Column) -> pa.ChunkedArray | None:
        """The stored column behind a property or a user id, of the rows that are looked at."""
        stored = stored_column(self.table, column)
        if stored is None or self.rows is None:
            return stored
        name = None if column.attribute is Attribute.ID else column.key
        if name not in self._taken:
            self._taken[name] = pa.chunked_array([take(stored, self.rows)])
        return self._taken[name]

    def _ids(self) -> NDArray[np.int32] | NDArray[np.int64]:
        ids: NDArray[np.int32] | NDArray[np.int64]
        if self.kind is Kind.NODE:
            ids = self.snapshot.vertex_numbers.ids([self.number], np.int32)
        else:
            ids = self.snapshot.edges.numbers.ids([self.number], np.int64)
        return ids if self.rows is None else ids[self.rows]


_COMPARE = {  # by Arrow's names
    "=": "equal", "<>": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"
}  # fmt: skip


_COMPUTED = object()
_RELEVANT = Column(BOOLEAN, Span(0, 0), " relevant", Attribute.VALUE)
_LISTS = (list, tuple, set, frozenset)


def _evaluate(
    reading: Reading,
    expression: Expression,
    read: Mapping[Column, pa.Array | pa.ChunkedArray],
    count: int,
    write: Callable[[SqlWriter, Expression], str] = SqlWriter.write,
) -> pa.ChunkedArray:
    """What an expression is for the values of its columns."""
    parameters, control = reading.parameters, reading.control
    plain = {column: cast(values, travelling_type(column.type)) for column, values in read.items()}
    small = sum(values.nbytes for values in plain.values()) <= batch_bytes(control)
    directly = computed(expression, plain, count, parameters) if small else None
    if directly is not None:
        return pa.chunked_array([directly])
    names = {column: f"c{index}" for index, column in enumerate(read)}
    relation = pa.table({names[column]: values for column, values in plain.items()})
    if not read:
        relation = pa.table({"row": to_arrow(np.zeros(count, np.int8))})
    writer = SqlWriter(
        {column: quoted(name) for column, name in names.items()}, parameters, reading.snapshot, check=control.check
    )
    text = f"SELECT {write(writer, expression)} FROM elements"
    return running.evaluate(text, relation, writer.asked(text), control, rows_at_once([expression]))
