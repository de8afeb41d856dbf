"""From tables of users, keyed as in `gquery.from_arrow`, to a batch: ids are looked up, and nothing is half right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow
from gquery.errors import LoadError, did_you_mean
from gquery.storage.changes.batch import Batch, NewEdges, NewValues, NewVertices
from gquery.storage.changes.edge_keys import edges_at, edges_between, with_values
from gquery.storage.changes.lookups.keys import first_with, vertices_with
from gquery.storage.graph import Snapshot
from gquery.storage.load.assembly.directory import described
from gquery.storage.load.assembly.lookup import ABSENT, as_type, repeats
from gquery.storage.load.assembly.rows import EdgeRows, End, VertexRows
from gquery.storage.load.formats.arrow import read_edges, read_vertices
from gquery.storage.load.loading import Loading
from gquery.storage.load.options import Options
from gquery.storage.sorting import distinct

Tables = Mapping[Any, Any]
Ids = NDArray[np.int64]
NOBODY = np.zeros(0, np.int64)
_OPTIONS = Options()


def resolved(snapshot: Snapshot, insert: Tables, delete: Tables, set_: Tables) -> Batch:
    """What is to change, by internal ids. Vertices are keyed by labels, edges by (source labels, type, target labels).

    What is deleted or set is there before; what is inserted may be named by the ends of new edges. LoadError names the
    table, the row, the column and the value that is wrong.
    """
    loading = Loading(_OPTIONS)
    gone = doomed = NOBODY
    gone_vertices, gone_edges = _read(loading, "delete", delete)
    if gone_vertices or gone_edges:
        before = _Known(loading, snapshot)
        gone = distinct(np.concatenate([NOBODY, *map(before.named, gone_vertices)]))
        edges = [edges_at(snapshot.edges, gone, snapshot.edges.types), *map(before.edges_like, gone_edges)]
        doomed = distinct(np.concatenate(edges))
    new_vertices, new_edges = _read(loading, "insert", insert)
    after = _Known(loading, snapshot, gone)
    vertices = tuple(map(after.new_vertices, new_vertices))
    set_vertices, set_edges = _read(loading, "set", set_)
    left = _Known(loading, snapshot, gone)
    return Batch(
        vertices,
        tuple(map(after.new_edges, new_edges)),
        gone.astype(np.int32),
        doomed,
        tuple(values for rows in set_vertices for values in left.vertex_values(rows)),
        tuple(values for rows in set_edges for values in left.edge_values(rows, doomed)),
    )


def _read(loading: Loading, what: str, tables: Tables) -> tuple[list[VertexRows], list[EdgeRows]]:
    """The rows of the tables of one argument."""
    if not isinstance(tables, Mapping):
        hint = 'write for example {"Person": people, ("Person", "KNOWS", "Person"): knows}'
        raise LoadError(f"`{what}` is a {type(tables).__name__}, not a dict", hint=hint)
    if not tables:
        return [], []
    of_edges = {key: table for key, table in tables.items() if isinstance(key, tuple)}
    of_vertices = {key: table for key, table in tables.items() if not isinstance(key, tuple)}
    return read_vertices(loading, of_vertices, None), read_edges(loading, of_edges, None)


class _Known:
    """The vertices of a graph, but for those that are gone, and with those that are inserted so far."""

    def __init__(self, loading: Loading, snapshot: Snapshot, gone: Ids = NOBODY) -> None:
        self._loading = loading
        self._snapshot = snapshot
        self._gone = gone
        self._new: list[tuple[tuple[str, ...], pa.ChunkedArray, int]] = []  # labels, ids, the vertex of the first
        self._vertices_set: dict[str, list[Ids]] = {}  # by the property, those of each table so far
        self._edges_set: dict[str, list[Ids]] = {}
        self._count = snapshot.vertex_count

    # --- vertices ----------------------------------------------------------------------------------------------

    def new_vertices(self, rows: VertexRows) -> NewVertices:
        """LoadError for an id that there is already among vertices with these labels, and where ids are in another
        column than theirs."""
        self._expect_ids_in(rows)
        ids = self._written_alike(rows)
        found, _ = self._find(rows.labels, ids, exact=not rows.labels)
        column = rows.id_name or ":ID"
        self._refuse(rows, column, rows.ids, found != ABSENT, f"there is a {described(rows.labels)} with this id")
        self._refuse(rows, column, rows.ids, _in(repeats(ids), rows.count), "the id occurs twice")
        for labels, same in self._inserted_with_fewer(rows.labels, ids):
            self._refuse(rows, column, rows.ids, same, f"a {described(labels)} with this id is inserted too")
        self._new.append((rows.labels, ids, self._count))
        self._count += rows.count
        return NewVertices(rows.labels, rows.properties, _in_one(ids), rows.id_name)

    def named(self, rows: VertexRows) -> Ids:
        """The vertices that are there. LoadError for an id that no vertex with these labels has."""
        return self._the(rows, rows.labels, rows.ids, rows.id_name or ":ID")

    def vertex_values(self, rows: VertexRows) -> Iterator[NewValues]:
        of = self.named(rows)
        self._refuse(rows, rows.id_name or ":ID", rows.ids, _again(of), "the vertex occurs twice")
        for name in rows.properties.column_names:
            if name != rows.id_name:
                twice = self._set_before(self._vertices_set, name, of)
                message = f"another table has a `{name}` for this vertex"
                self._refuse(rows, rows.id_name or ":ID", rows.ids, twice, message)
                yield NewValues(of.astype(np.int32), name, _in_one(rows.properties[name]))

    def _expect_ids_in(self, rows: VertexRows) -> None:
        """A table without ids would have those of whatever comes first in it."""
        tables = self._snapshot.vertex_tables
        names = {table.id_name for table in tables if set(table.labels) == set(rows.labels)}
        if names and rows.id_name is not None and not names & {rows.id_name, None}:
            there = " or ".join(f"`{name}`" for name in sorted(filter(None, names)))
            message = f"this would be the ids, which the {described(rows.labels)} vertices that are there have"
            raise LoadError(f"{message} in {there}", file=rows.origin.file, column=rows.id_name)

    def _written_alike(self, rows: VertexRows) -> pa.ChunkedArray:
        """The ids, as those of the same labels are: numbers as texts, or texts as numbers where all are such."""
        tables = self._snapshot.vertex_tables
        types = [table.id_type for table in tables if set(table.labels) == set(rows.labels)]
        if not types or any(pa.types.is_integer(each) == pa.types.is_integer(rows.ids.type) for each in types):
            return rows.ids
        alike = as_type(rows.ids, pa.int64() if pa.types.is_integer(types[0]) else pa.string())
        return rows.ids if alike.null_count else alike

    def _the(self, rows: VertexRows | EdgeRows, labels: tuple[str, ...], ids: pa.ChunkedArray, column: str) -> Ids:
        """The vertex with each id."""
        found, several = self._find(labels, ids)
        absent = found == ABSENT
        if absent.any():
            what = f"no {described(labels or None)} has this id"
            self._refuse(rows, column, ids, absent, what, self._similar(labels))
        hint = "name all labels of the vertex, or find it in a statement by what else it has"
        self._refuse(rows, column, ids, several, "the id stands for several vertices", hint)
        return found

    def _find(
        self, labels: tuple[str, ...], ids: pa.ChunkedArray, exact: bool = False
    ) -> tuple[Ids, NDArray[np.bool_]]:
        """The vertex with each id, ABSENT where there is none, and where there are several. One that has exactly the
        labels is meant before one that has others too, which `exact` leaves out."""
        found, several = self._find_among(labels, ids, True)
        absent = found == ABSENT
        if not exact and absent.any():
            here, again = self._find_among(labels, ids, False)
            found, several = np.where(absent, here, found), np.where(absent, again, several)
        return found, several

    def _find_among(self, labels: tuple[str, ...], ids: pa.ChunkedArray, same: bool) -> tuple[Ids, NDArray[np.bool_]]:
        wanted = set(labels)

        def is_meant(those: Sequence[str]) -> bool:
            return wanted == set(those) if same else wanted < set(those)

        tables = [number for number, table in enumerate(self._snapshot.vertex_tables) if is_meant(table.labels)]
        found, several = vertices_with(self._snapshot, tables, ids, self._gone)
        for own, new, first in self._new:
            if is_meant(own):
                rows = first_with(new, ids)
                several |= (rows != ABSENT) & (found != ABSENT)
                found = np.where(found == ABSENT, np.where(rows == ABSENT, ABSENT, rows + first), found)
        return found, several

    def _inserted_with_fewer(
        self, labels: tuple[str, ...], ids: pa.ChunkedArray
    ) -> Iterator[tuple[tuple[str, ...], NDArray[np.bool_]]]:
        """Those before in the batch that have some of the labels, and which of the ids they have: the other way round
        they would have been refused, and no table of a batch comes first."""
        for own, new, _ in self._new:
            if own and set(own) < set(labels):
                yield own, first_with(new, ids) != ABSENT

    def _similar(self, labels: tuple[str, ...]) -> str | None:
        known = self._snapshot.schema.labels
        unknown = next((label for label in labels if label not in known), None)
        return None if unknown is None else did_you_mean(unknown, known)

    # --- edges -------------------------------------------------------------------------------------------------

    def new_edges(self, rows: EdgeRows) -> NewEdges:
        source, target = (self._end(rows, end).astype(np.int32) for end in (rows.source, rows.target))
        return NewEdges(rows.type, source, target, rows.properties)

    def edges_like(self, rows: EdgeRows) -> Ids:
        """All edges between the ends of a row that have its properties. LoadError for a row that has no such edge."""
        places, edges = self._edges(rows)
        same = with_values(self._snapshot, places, edges, rows.properties)
        self._refuse_unmatched(rows, places[same])
        return edges[same]

    def edge_values(self, rows: EdgeRows, gone: Ids) -> Iterator[NewValues]:
        """For all edges between the ends of a row."""
        places, edges = self._edges(rows)
        there = ~np.isin(edges, gone)
        places, edges = places[there], edges[there]
        self._refuse_unmatched(rows, places)
        twice = _in(places[_again(edges)], rows.count)
        self._refuse(rows, rows.source.reference.column, rows.source.ids, twice, "the edge occurs twice")
        for name in rows.properties.column_names:
            twice = _in(places[self._set_before(self._edges_set, name, edges)], rows.count)
            message = f"another table has a `{name}` for this edge"
            self._refuse(rows, rows.source.reference.column, rows.source.ids, twice, message)
            yield NewValues(edges, name, _in_one(rows.properties[name].take(to_arrow(places))))

    @staticmethod
    def _set_before(by_name: dict[str, list[Ids]], name: str, of: Ids) -> NDArray[np.bool_]:
        """Which elements another table has a value of a property for already; from now on those of this one, too."""
        before = by_name.setdefault(name, [])
        found = np.isin(of, np.concatenate([NOBODY, *before]))
        before.append(of)
        return found

    def _edges(self, rows: EdgeRows) -> tuple[Ids, Ids]:
        """The row and the edge, for each edge between the ends of a row."""
        types = self._snapshot.edges.types
        if rows.type not in types:
            hint = did_you_mean(rows.type, types)
            raise LoadError(f"there are no edges of type `{rows.type}`", file=rows.origin.file or None, hint=hint)
        source, target = self._end(rows, rows.source), self._end(rows, rows.target)
        return edges_between(self._snapshot, rows.type, source, target)

    def _end(self, rows: EdgeRows, end: End) -> Ids:
        return self._the(rows, end.reference.labels or (), end.ids, end.reference.column)

    def _refuse_unmatched(self, rows: EdgeRows, places: Ids) -> None:
        unmatched = ~_in(places, rows.count)
        self._refuse(rows, rows.source.reference.column, rows.source.ids, unmatched, "there is no such edge")

    def _refuse(
        self,
        rows: VertexRows | EdgeRows,
        column: str,
        values: pa.ChunkedArray,
        wrong: NDArray[np.bool_],
        reason: str,
        hint: str | None = None,
    ) -> None:
        places = np.flatnonzero(wrong)
        if len(places):
            self._loading.rejects.fail(rows.origin, places, column, values.take(to_arrow(places)), reason, hint)


def _in(places: Ids, count: int) -> NDArray[np.bool_]:
    """Which of so many places are among some."""
    found = np.zeros(count, np.bool_)
    found[places] = True
    return found


def _again(elements: Ids) -> NDArray[np.bool_]:
    """Where an element is that was there before."""
    first = np.unique(elements, return_index=True)[1]
    return ~_in(first, len(elements))


def _in_one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
