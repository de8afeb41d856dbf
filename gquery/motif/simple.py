"""The simple graph that motifs are counted in: chosen vertices and edges, no loops, no edge twice."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from gquery.errors import BindError, UnsupportedError, did_you_mean
from gquery.executor.census.graph import Arcs, Coloured
from gquery.executor.census.layout import layout_of
from gquery.motif.question import Question
from gquery.records import record
from gquery.storage.graph import Snapshot
from gquery.storage.sorting import distinct

_MOST = 2**30  # edges: each is seen from both ends


@record(frozen=True, slots=True)
class Simple:
    """graph: its vertices have an edge each, and are numbered by falling degree. vertices int64[n]: what they are in
    the snapshot. labels: of each colour, types: of each bit. loops, parallel, turned: edges that were left out: from a
    vertex to itself, beside another in the same direction, and, where directions do not count, in the other. alone:
    vertices without an edge."""

    graph: Coloured
    vertices: NDArray[np.int64]
    labels: tuple[tuple[str, ...], ...]
    types: tuple[str, ...]
    loops: int
    parallel: int
    turned: int
    alone: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, line by line."""
        found = (
            (self.loops, "self-loops, left out"),
            (self.parallel, "edges beside another of the same direction, left out"),
            (self.turned, "edges back, taken as one with those there"),
            (self.alone, "vertices without an edge, in no motif"),
        )
        return tuple(f"{what}: {number:,}" for number, what in found if number)


def simplified(snapshot: Snapshot, asked: Question) -> Simple:
    """Raises BindError for a label or type that the graph does not have, UnsupportedError for too many colours."""
    schema = snapshot.schema
    _check("label", asked.labels, schema.labels)
    _check("type", asked.types, schema.types)
    types = tuple(name for name in schema.types if asked.types is None or name in asked.types)
    rows = _arcs(snapshot, types, asked.by_type)
    tables = [set(table.labels) for table in schema.vertex_tables]
    if asked.labels is not None:
        wanted = np.array([*(bool(labels & set(asked.labels)) for labels in tables), False], np.bool_)  # of holes: last
        chosen = wanted[snapshot.vertex_numbers.each_table()]
        rows = rows[:, chosen[rows[0]] & chosen[rows[1]]]
        count = int(chosen.sum())
    else:
        count = sum(table.count for table in snapshot.vertex_tables)
    rows, *left_out = _each_once(rows, asked.directed)
    if rows.shape[1] >= _MOST:
        raise UnsupportedError(
            f"{rows.shape[1]:,} edges are more than motifs can be counted among", hint="choose a part"
        )
    vertices, ends = np.unique(rows[:2], return_inverse=True)
    ends = ends.reshape(2, -1)
    order = np.argsort(-np.bincount(ends.ravel(), minlength=len(vertices)), kind="stable")
    ends = np.argsort(order)[ends]
    labels, colours = _colours(snapshot, vertices[order]) if asked.by_label else (((),), np.zeros(len(order), np.int32))
    layout = layout_of(asked.size, len(types) if asked.by_type else 1, len(labels), asked.directed)
    arcs = Arcs(*(np.ascontiguousarray(side, np.int32) for side in (*ends, rows[2])))
    loops, parallel, turned = left_out
    graph, alone = Coloured(arcs, colours, layout), count - len(vertices)
    return Simple(graph, vertices[order], labels, types, loops, parallel, turned, alone)


def _check(what: str, asked: tuple[str, ...] | None, known: Collection[str]) -> None:
    for name in asked or ():
        if name not in known:
            there = f"its {what}s are {', '.join(known)}" if known else f"it has no {what}s at all"
            hint = did_you_mean(name, known) or there
            raise BindError(f"the graph has no {what} `{name}`", hint=hint)


def _arcs(snapshot: Snapshot, types: tuple[str, ...], by_type: bool) -> NDArray[np.int64]:
    """int64[3, m]: tails, heads and types of all edges of some types."""
    parts = [np.zeros((3, 0), np.int64)]
    for number, name in enumerate(types):
        source, target, _ = snapshot.edges.of_types({name})
        parts.append(np.stack([source, target, np.full(len(source), number if by_type else 0)]).astype(np.int64))
    return np.concatenate(parts, axis=1)


def _each_once(rows: NDArray[np.int64], directed: bool) -> tuple[NDArray[np.int64], int, int, int]:
    """Arcs without loops, each once; how many loops, parallel arcs and arcs back were left out."""
    proper = rows[:, rows[0] != rows[1]]
    once = np.unique(proper, axis=1)
    kept = once if directed else np.unique(np.concatenate([np.sort(once[:2], axis=0), once[2:]]), axis=1)
    return kept, rows.shape[1] - proper.shape[1], proper.shape[1] - once.shape[1], once.shape[1] - kept.shape[1]


def _colours(snapshot: Snapshot, vertices: NDArray[np.int64]) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int32]]:
    """The label sets that there are, and which one each vertex has."""
    sets = [tuple(sorted(table.labels)) for table in snapshot.schema.vertex_tables]
    tables = snapshot.vertex_numbers.tables_of(vertices)
    present = sorted({sets[table] for table in distinct(tables).tolist()}) or [()]
    places = np.array([present.index(each) if each in present else 0 for each in sets], np.int32)
    colours: NDArray[np.int32] = places[tables]
    return tuple(present), colours
