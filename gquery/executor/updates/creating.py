"""CREATE: new elements for all rows, numbered behind all that are there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, to_numpy
from gquery.errors import ExecutionError
from gquery.executor.relational.elements import path_ids
from gquery.executor.updates.ids import expect_apart, expect_new_ids, name_of_ids
from gquery.executor.updates.rows import GivenRows
from gquery.executor.updates.there import expect_there
from gquery.executor.updates.values import Places, tables_of
from gquery.planner.ir.expr import Kind
from gquery.planner.ir.updates import Create, Given, MadeEdge, MadeVertex
from gquery.storage.changes.batch import Batch, NewEdges, NewVertices
from gquery.storage.graph import Snapshot

Columns = dict[str, pa.Array]


def created(create: Create, rows: GivenRows, snapshot: Snapshot) -> tuple[Batch, Columns]:
    """What is made for all rows, and the new columns: elements and paths by variable.

    Raises ExecutionError where a relationship would begin or end nowhere.
    """
    making = _Making(rows, snapshot)
    for vertex in create.vertices:
        making.vertices(vertex)
    for edge in create.edges:
        making.edges(edge)
    making.expect_new_ids()
    for path in create.paths:
        nodes, links = ([making.element(name) for name in names] for names in (path.vertices, path.edges))
        making.columns[path.name] = path_ids(nodes, links)
    return Batch(vertices=tuple(making.new_vertices), edges=tuple(making.new_edges)), making.columns


class _Making:
    """What is made so far."""

    def __init__(self, rows: GivenRows, snapshot: Snapshot) -> None:
        self.rows = rows
        self.columns: Columns = {}
        self._snapshot = snapshot
        self.new_vertices: list[NewVertices] = []
        self.new_edges: list[NewEdges] = []
        self._vertex = snapshot.vertex_count
        self._edge = snapshot.edge_count

    def vertices(self, made: MadeVertex) -> None:
        ids = np.empty(self.rows.count, np.int32)
        for places, table in self._tables(made.properties):
            id_name = name_of_ids(self._snapshot, made.labels)
            for inside, part, shown in _by_id(table, id_name):
                self.new_vertices.append(NewVertices(made.labels, part, shown, id_name))
                ids[places[inside]] = np.arange(self._vertex, self._vertex + len(inside), dtype=np.int32)
                self._vertex += len(inside)
        self.columns[made.variable] = to_arrow(ids)

    def edges(self, made: MadeEdge) -> None:
        source, target = (self._end(end, made) for end in (made.source, made.target))
        ids = np.empty(self.rows.count, np.int64)
        for places, table in self._tables(made.properties):
            self.new_edges.append(NewEdges(made.type, source[places], target[places], table))
            ids[places] = np.arange(self._edge, self._edge + len(places))
            self._edge += len(places)
        self.columns[made.variable] = to_arrow(ids)

    def expect_new_ids(self) -> None:
        """Raises ExecutionError for ids of users that others have."""
        given: dict[tuple[str, ...], list[pa.Array]] = {}
        for each in self.new_vertices:
            if each.ids is not None:
                given.setdefault(tuple(sorted(each.labels)), []).append(each.ids)
        for labels, ids in given.items():
            for type_ in dict.fromkeys(each.type for each in ids):
                alike = pa.chunked_array([each for each in ids if each.type == type_], type_)
                expect_new_ids(self._snapshot, labels, alike)
        expect_apart(given)

    def element(self, name: str) -> pa.Array:
        """The ids of an element that is made, or of the rows."""
        return self.columns[name] if name in self.columns else self.rows.column(name)

    def _tables(self, properties: tuple[Given, ...]) -> Iterable[tuple[Places, pa.Table]]:
        return tables_of({each.key: self.rows.column(each.column) for each in properties}, self.rows.count)

    def _end(self, name: str, made: MadeEdge) -> NDArray[np.int32]:
        ids = self.element(name)
        if ids.null_count:
            message = f"a :{made.type} relationship cannot be made: `{name}` is null"
            raise ExecutionError(message, hint=f"leave such rows out: WITH * WHERE {name} IS NOT NULL")
        found: NDArray[np.int32] = to_numpy(ids).astype(np.int32, copy=False)
        if name not in self.columns:
            expect_there(self._snapshot, Kind.NODE, found)
        return found


def _by_id(table: pa.Table, id_name: str | None) -> Iterable[tuple[Places, pa.Table, pa.Array | None]]:
    """Rows whose users' ids are given, and rows that get the next free ones."""
    every = np.arange(table.num_rows)
    if id_name is None or id_name not in table.column_names:
        yield every, table, None
        return
    given = table.column(id_name).combine_chunks()
    there = given.is_valid()
    for known in (True, False):
        places = every[there.to_numpy(zero_copy_only=False) == known]
        if len(places):
            part = table.take(to_arrow(places))
            yield (
                places,
                part if known else part.drop_columns([id_name]),
                given.take(to_arrow(places)) if known else None,
            )
