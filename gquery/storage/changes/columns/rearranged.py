"""The vertex tables, or the edge tables, of a graph after a batch, and the numbering of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow
from gquery.errors import LoadError
from gquery.records import record
from gquery.storage.changes.batch import NewLabels, NewValues
from gquery.storage.changes.columns.pieces import Patch, Piece
from gquery.storage.changes.columns.placing import Sources, placed
from gquery.storage.changes.columns.shape import Shape
from gquery.storage.changes.columns.values import held, held_or_null
from gquery.storage.numbering import HOLE, Numbering
from gquery.storage.sorting import distinct
from gquery.storage.tables import EdgeTable, VertexTable

Table = TypeVar("Table", VertexTable, EdgeTable)


@record(frozen=True, slots=True)
class Changes(Generic[Table]):
    """To some tables. new: tables of rows that are numbered behind all others. gone: ids that no row has any more."""

    shapes: Sequence[Shape]
    new: Sequence[Table]
    properties: Sequence[pa.Table]
    gone: NDArray[np.int64]
    values: Sequence[NewValues]
    labels: Sequence[NewLabels] = ()

    def __bool__(self) -> bool:
        return bool(self.new or len(self.gone) or self.values or self.labels)

    @property
    def moves(self) -> bool:
        """Whether an element that is there may go to another table."""
        return bool(self.values or self.labels)


def rearranged(
    tables: Sequence[Table], numbers: Numbering, changes: Changes[Table]
) -> tuple[tuple[Table, ...], Numbering]:
    """The tables, in their places and those that are new behind them, and which element is in which row. A table that
    nothing changes about is the same one."""
    every = [*tables, *changes.new]
    extended = numbers.added(range(len(tables), len(every)), [table.count for table in changes.new])
    sources = Sources([*map(Shape.of, tables), *changes.shapes], extended, changes.properties)
    shapes, ids, goes = placed(sources, changes.values, changes.labels)
    if not (changes.moves or len(changes.gone)):
        return _appended(tables, numbers, changes.new, shapes, goes)
    moved = goes != extended.tables_of(ids)  # tables of the batch are none of those afterwards, whatever their numbers
    moved[np.searchsorted(ids, numbers.count) :] = True
    cut = _cut(extended, *_with_gone(ids[moved], goes[moved], changes.gone))
    after = Numbering(cut.tables, cut.lengths)
    patches = _patches(shapes, after, changes.values)
    pieces = _pieces(every, cut, len(shapes))
    found = list(map(Shape.filled, shapes, pieces, patches))
    for number, table in enumerate(tables):
        if _is_same(table, shapes[number], pieces[number], patches[number]):
            found[number] = table
    return cast(tuple[Table, ...], tuple(found)), after


def _appended(
    tables: Sequence[Table],
    numbers: Numbering,
    new: Sequence[Table],
    shapes: Sequence[Shape],
    goes: NDArray[np.int64],
) -> tuple[tuple[Table, ...], Numbering]:
    """The tables where rows come behind others, and nothing else changes. goes: the table of each new row."""
    first = np.cumsum([0, *(table.count for table in new)])[:-1].tolist()
    into: list[int] = [int(goes[begin]) if table.count else 0 for begin, table in zip(first, new, strict=True)]
    pieces = [[Piece(table, 0, table.count)] if table.count else [] for table in tables]
    pieces += [[] for _ in range(len(shapes) - len(tables))]
    for table, own in zip(into, new, strict=True):
        if own.count:
            pieces[table].append(Piece(own, 0, own.count))
    grown = {*into, *range(len(tables), len(shapes))}
    found = [
        shape.filled(pieces[number], {}) if number in grown else tables[number] for number, shape in enumerate(shapes)
    ]
    return cast(tuple[Table, ...], tuple(found)), numbers.added(into, [table.count for table in new])


class _Cut(NamedTuple):
    """Stretches of ids, ascending: the table and the row that each began in, the table that it is in, its length."""

    sources: NDArray[np.int64]
    rows: NDArray[np.int64]
    tables: NDArray[np.int64]
    lengths: NDArray[np.int64]


def _with_gone(
    ids: NDArray[np.int64], goes: NDArray[np.int64], gone: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    every = np.concatenate([ids, gone])
    order = np.argsort(every, kind="stable")
    return every[order], np.concatenate([goes, np.full(len(gone), HOLE)])[order]


def _cut(numbers: Numbering, ids: NDArray[np.int64], goes: NDArray[np.int64]) -> _Cut:
    """Where some elements, ascending, go to the tables of theirs, and all others stay."""
    first = np.ones(len(ids), np.bool_)
    first[1:] = (np.diff(ids) != 1) | (np.diff(goes) != 0)
    begins, tables = ids[first], goes[first]
    ends = ids[np.append(first[1:], True)[: len(ids)]] + 1
    cuts = distinct(np.concatenate([numbers.starts, begins, ends]))
    here, lengths = cuts[:-1], np.diff(cuts)
    segments = numbers.segments_of(here)
    sources = numbers.tables[segments]
    run = np.searchsorted(begins, here, side="right") - 1
    inside = (run >= 0) & (here < np.append(ends, 0)[run])
    return _Cut(
        sources,
        numbers.rows[segments] + here - numbers.starts[segments],
        np.where(inside, np.append(tables, 0)[run], sources),
        lengths,
    )


def _pieces(every: Sequence[Table], cut: _Cut, count: int) -> list[list[Piece]]:
    """For each of the tables afterwards, the rows that it has of others."""
    pieces: list[list[Piece]] = [[] for _ in range(count)]
    for source, row, table, length in zip(*(part.tolist() for part in cut), strict=True):
        if table == HOLE:
            continue
        last = pieces[table][-1] if pieces[table] else None
        if last is not None and last.table is every[source] and last.end == row:
            pieces[table][-1] = last._replace(end=row + length)
        else:
            pieces[table].append(Piece(every[source], row, row + length))
    return pieces


def _patches(shapes: Sequence[Shape], numbers: Numbering, values: Sequence[NewValues]) -> list[dict[str | None, Patch]]:
    """For each table, the values that some of its rows get."""
    patches: list[dict[str | None, Patch]] = [{} for _ in shapes]
    for each in values:
        for table, where, rows in numbers.parts(each.of):
            shape = shapes[table]
            here = each.values if isinstance(where, slice) else each.values.take(to_arrow(where))
            if each.name == shape.id_name:
                _check_ids(each.name, here, shape)
            if each.name in shape.types:
                for name, type_ in _columns(shape, each.name):
                    patch = _patch(rows.astype(np.int64), here, type_)
                    patches[table][name] = patches[table][name].then(patch) if name in patches[table] else patch
    return patches


def _columns(shape: Shape, name: str) -> Iterator[tuple[str | None, pa.DataType]]:
    """The columns that a property is in: the one that shows the users' ids is the ids too."""
    yield name, shape.types[name]
    if name == shape.id_name and shape.id_type is not None:
        yield None, shape.id_type


def _check_ids(name: str, values: pa.Array, shape: Shape) -> None:
    assert shape.id_type is not None
    if values.null_count:
        raise LoadError("a vertex cannot be without the property that shows its id", column=name)
    if held(values, shape.id_type) is None:
        raise LoadError(f"an id cannot be of type {values.type}", column=name, hint="ids are int or string")


def _patch(rows: NDArray[np.int64], values: pa.Array, type_: pa.DataType) -> Patch:
    """What the type does not hold is replaced by a later value of the batch: the table has been chosen by the last."""
    order = np.argsort(rows, kind="stable")
    return Patch(rows[order], held_or_null(values, type_).take(to_arrow(order)))


def _is_same(table: Table, shape: Shape, pieces: Sequence[Piece], patches: Mapping[str | None, Patch]) -> bool:
    whole = [Piece(table, 0, table.count)] if table.count else []
    return not patches and list(pieces) == whole and shape == Shape.of(table)
