"""Vertices and edges from all tables become one snapshot: ids unique, ends found, counts taken."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.errors import LoadError, did_you_mean
from gquery.storage.adjacency import order_of_pairs
from gquery.storage.graph import Snapshot
from gquery.storage.load.assembly.directory import Directory, described
from gquery.storage.load.assembly.lookup import ABSENT
from gquery.storage.load.assembly.rows import EdgeRows, End, VertexRows
from gquery.storage.load.assembly.vertices import created, named_by, unique, vertex_tables, with_super_labels
from gquery.storage.load.loading import Loading
from gquery.storage.load.report import KeptAsText, LoadedGraph, LoadReport
from gquery.storage.tables import EdgeTable


@dataclass(slots=True)
class _Counts:
    merged: int = 0
    dangling: int = 0
    duplicates: int = 0
    created: int = 0


def assemble(loading: Loading, vertices: Sequence[VertexRows], edges: Sequence[EdgeRows]) -> LoadedGraph:
    """The graph of these vertices and edges. Without any vertex table, edges make the vertices that they name.

    Raises LoadError for an id that occurs twice in its space and for a dangling edge, as the options say.
    """
    counts = _Counts()
    for name in loading.options.types:
        if name not in loading.columns_seen:
            hint = did_you_mean(name, loading.columns_seen)
            raise LoadError(f"option `types`: no table has a column `{name}`", hint=hint)
    pieces, counts.duplicates = unique(loading, with_super_labels(vertices, loading.options.super_labels))
    if edges and not pieces:
        pieces = [named_by(edges)]
    elif loading.options.on_dangling == "create":
        new, counts.dangling = created(loading, pieces, edges)
        counts.created = sum(piece.count for piece in new)
        pieces += new
    tables, numbers = vertex_tables(loading, pieces)
    directory, pairs = Directory(pieces, numbers), _Pairs(edges)
    edge_tables = []
    for index, piece in enumerate(edges):
        loading.linked(piece.type, index / len(edges))
        edge_tables.append(_edge_table(loading, directory, piece, pairs, counts))
    snapshot = Snapshot(tables, edge_tables)
    report = _report(loading, snapshot, counts, (*pieces, *edges))
    loading.linked("edges", 1.0)
    return LoadedGraph(snapshot, report)


def _edge_table(loading: Loading, directory: Directory, piece: EdgeRows, pairs: _Pairs, counts: _Counts) -> EdgeTable:
    source, keep = _resolve(loading, directory, piece, piece.source, np.ones(piece.count, np.bool_), counts)
    target, keep = _resolve(loading, directory, piece, piece.target, keep, counts)
    rows = np.flatnonzero(keep)
    source, target = source[rows], target[rows]
    if loading.options.undirected:
        first = pairs.first(piece.type, source, target)
        counts.merged += len(source) - len(first)
        source, target, rows = source[first], target[first], rows[first]
    unchanged = len(rows) == piece.count
    return EdgeTable.from_arrow(
        piece.type, source, target, piece.properties if unchanged else piece.properties.take(pa.array(rows))
    )


def _resolve(
    loading: Loading, directory: Directory, piece: EdgeRows, end: End, keep: NDArray[np.bool_], counts: _Counts
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The vertices of one end, and the rows of `keep` that have one."""
    if piece.count == 0:
        return np.zeros(0, np.int32), keep
    directory.check(end.reference, piece.origin)
    vertices = directory.lookup(end).find(end.ids)
    several = directory.ambiguous(end)
    if several is not None:
        rows = np.flatnonzero(several & keep)
        values = end.ids.take(pa.array(rows))
        hint = "; ".join(("name the id space of this end in the header or in a mapping", *loading.notes))
        reason = "the id stands for several vertices"
        loading.rejects.add(piece.origin, rows, end.reference.column, values, reason, hint)
        keep = keep & ~several
    rows = np.flatnonzero((vertices == ABSENT) & keep)
    if len(rows):
        _dangling(loading, piece, end, rows, counts)
        keep = keep & (vertices != ABSENT)
    return vertices, keep


def _dangling(loading: Loading, piece: EdgeRows, end: End, rows: NDArray[np.int64], counts: _Counts) -> None:
    values = end.ids.take(pa.array(rows))
    what = described(end.reference.labels, end.reference.space)
    place = (piece.origin, rows, end.reference.column, values)
    if loading.options.on_dangling == "create":  # and yet it was not created
        loading.rejects.add(*place, f"the id is no integer, as the ids of {what} are")
    elif loading.options.on_dangling == "skip":
        counts.dangling += len(rows)
        loading.rejects.note(*place, f"no {what} has this id")
    else:
        hint = "on_dangling='skip' leaves such edges out, on_dangling='create' makes their vertices"
        loading.rejects.fail(*place, f"no {what} has this id", hint)


class _Pairs:
    """The vertices between which there are edges of a type already, for types that have several tables."""

    def __init__(self, edges: Sequence[EdgeRows]) -> None:
        self._left = Counter(piece.type for piece in edges)
        self._known: dict[str, NDArray[np.int64]] = {}

    def first(self, type: str, source: NDArray[np.int32], target: NDArray[np.int32]) -> NDArray[np.int64]:
        """Positions of the first edge between any two vertices, without those of tables before."""
        first = _first_of_pairs(source, target)
        self._left[type] -= 1
        known = self._known.pop(type, None)
        if known is None and not self._left[type]:
            return first
        keys = _keys(np.minimum(source, target)[first], np.maximum(source, target)[first])
        if known is not None:
            is_new = np.isin(keys, known, invert=True)
            first, keys = first[is_new], np.concatenate([known, keys[is_new]])
        if self._left[type]:
            self._known[type] = keys
        return first


def _first_of_pairs(source: NDArray[np.int32], target: NDArray[np.int32]) -> NDArray[np.int64]:
    """Positions of the first edge between any two vertices, in either direction; ascending."""
    low, high = np.minimum(source, target), np.maximum(source, target)
    order = order_of_pairs(low, high)
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
    return np.sort(order[is_first])


def _keys(source: NDArray[np.int32], target: NDArray[np.int32]) -> NDArray[np.int64]:
    key = source.astype(np.int64) << 32
    key |= target
    return key


def _report(
    loading: Loading, snapshot: Snapshot, counts: _Counts, pieces: Sequence[VertexRows | EdgeRows]
) -> LoadReport:
    loops = parallel = 0
    for type in snapshot.schema.types:
        ends = [table.ends for table in snapshot.edge_tables if table.type == type]
        source, target = (np.concatenate(side) for side in zip(*ends, strict=True))
        loops += int(np.count_nonzero(source == target))
        key = np.sort(_keys(source, target))
        parallel += int(np.count_nonzero(key[1:] == key[:-1]))
    kept = _kept_as_text(pieces)
    return LoadReport(
        vertices=snapshot.vertex_count,
        edges=snapshot.edge_count,
        self_loops=loops,
        parallel_edges=parallel,
        merged_edges=counts.merged,
        dangling_edges=counts.dangling,
        duplicate_ids=counts.duplicates,
        created_vertices=counts.created,
        bad_rows=loading.rejects.count,
        notes=tuple(_notes(loading, snapshot, kept)),
        kept_as_text=kept,
        seconds=time.perf_counter() - loading.started,
        rejects=loading.rejects.table(),
    )


def _kept_as_text(pieces: Sequence[VertexRows | EdgeRows]) -> dict[tuple[str, str], KeptAsText]:
    """By label (the empty one where there is none) or type, and property; the first where several files have one."""
    found: dict[tuple[str, str], KeptAsText] = {}
    for piece in pieces:
        for owner in (piece.type,) if isinstance(piece, EdgeRows) else piece.labels or ("",):
            for name, entry in piece.kept_as_text.items():
                found.setdefault((owner, name), entry)
    return found


def _notes(loading: Loading, snapshot: Snapshot, kept: Mapping[tuple[str, str], KeptAsText]) -> Iterator[str]:
    yield from loading.notes
    if not snapshot.edge_count:
        yield "the graph has no edges: " + (
            "the tables of edges are empty" if snapshot.edge_tables else "no file or table was taken for edges"
        )
    for (owner, name), entry in kept.items():
        yield f"{owner}.{name} is {entry}" if owner else f"{name} is {entry}"
