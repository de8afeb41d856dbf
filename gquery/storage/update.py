"""Snapshots that are made of others: what did not change is shared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from gquery.errors import LoadError
from gquery.storage.graph import Snapshot
from gquery.storage.schema import common_type
from gquery.storage.tables import Columns, VertexTable


def with_vertices(snapshot: Snapshot, added: VertexTable) -> Snapshot:
    """The graph with more vertices, without edges yet, behind the rows of the table of their labels (in any order), or
    in a new table at the end. All other vertices keep their internal ids.

    A property that either side does not have is null there. That the users' ids are new is for the caller to see.
    Raises LoadError when ids or a property are of types that no column holds both of.
    """
    tables = list(snapshot.vertex_tables)
    known = (index for index, table in enumerate(tables) if set(table.labels) == set(added.labels))
    index = next(known, len(tables))
    tables[index : index + 1] = [_Stack(_pieces(tables[index], added)) if index < len(tables) else added]
    counts = replace(snapshot.counts, vertices=tuple(table.count for table in tables))
    numbers = snapshot.vertex_numbers.added(index, added.count)
    return Snapshot(tables, snapshot.edges, numbers, lambda: counts, snapshot.load_signatures)


class _Stack(VertexTable):
    """The rows of several tables, one below the other. Columns are put together when they are asked for."""

    def __init__(self, pieces: tuple[VertexTable, ...]) -> None:
        self.pieces = pieces
        id_names = {piece.id_name for piece in pieces}
        names = dict.fromkeys(name for piece in pieces for name in piece.columns.types)
        types = {name: _shared_type(name, [p.columns.types.get(name, pa.null()) for p in pieces]) for name in names}
        id_type = _shared_type("id", [piece.id_type for piece in pieces])
        super().__init__(
            pieces[0].labels,
            sum(piece.count for piece in pieces),
            id_type,
            id_names.pop() if len(id_names) == 1 else None,
            Columns(types, lambda name: self._column(name, types[name])),
            lambda: _stacked((piece.ids for piece in pieces), id_type),
        )

    def _column(self, name: str, type_: pa.DataType) -> pa.ChunkedArray:
        nulls = (pa.chunked_array([pa.nulls(piece.count, type_)]) for piece in self.pieces)
        return _stacked((p.columns.get(name, each) for p, each in zip(self.pieces, nulls, strict=True)), type_)


def _pieces(table: VertexTable, added: VertexTable) -> tuple[VertexTable, ...]:
    return (*table.pieces, added) if isinstance(table, _Stack) else (table, added)


def _shared_type(name: str, types: Iterable[pa.DataType]) -> pa.DataType:
    found = list(types)
    shared = common_type(found)
    if shared is None:
        raise LoadError(f"the values are of type {found[-1]}, those that are there of others", column=name)
    return shared


def _stacked(columns: Iterable[pa.ChunkedArray], type_: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([chunk for column in columns for chunk in column.cast(type_).chunks], type_)
