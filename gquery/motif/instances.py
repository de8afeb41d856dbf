"""Where a motif is in its graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, to_numpy
from gquery.lasting.properties import cached_property
from gquery.motif.matrices import Matrix
from gquery.motif.patterns import VERTICES, Patterns
from gquery.motif.question import Question
from gquery.motif.simple import Simple
from gquery.session import Graph
from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable

_WAYS = 24  # matches that are read for each instance: a motif may be mapped onto itself in several ways


class Instances:
    """Lists the instances of motifs of a simple graph, by a query for the pattern of each. arcs: of that graph."""

    def __init__(self, simple: Simple, asked: Question, snapshot: Snapshot) -> None:
        """snapshot: that of the user's graph."""
        self.arcs = simple.graph.arcs
        self._simple, self._asked, self._snapshot = simple, asked, snapshot
        self._patterns = Patterns(simple, replace(asked, labels=None), simple.types)

    @cached_property
    def _graph(self) -> Graph:
        return Graph(_simple_snapshot(self._simple, self._asked.by_type))

    @cached_property
    def names(self) -> list[str]:
        """The ids of all vertices, as their user knows them."""
        found = [""] * len(self._simple.vertices)
        for table, where, rows in self._snapshot.vertex_numbers.parts(self._simple.vertices):
            places = np.arange(len(found))[where].tolist()
            ids = self._snapshot.vertex_tables[table].ids.take(to_arrow(rows)).to_pylist()
            for place, name in zip(places, ids, strict=True):
                found[place] = str(name)
        return found

    def of(self, matrix: Matrix, most: int, timeout: float | None = None) -> NDArray[np.int64]:
        """int64[*, size]: the vertices of some instances, each instance once, at most so many. Raises QueryTimeout."""
        listed = ", ".join(f"id({vertex}) AS {vertex}" for vertex in VERTICES[: self._asked.size])
        query = f"{self._patterns.of(matrix)} RETURN {listed} LIMIT {_WAYS * most}"
        matches = self._graph.query(query, timeout=timeout).to_arrow()
        sets = np.sort(np.stack([to_numpy(column) for column in matches.columns], axis=1), axis=1)
        return np.unique(sets, axis=0)[:most]


def _simple_snapshot(simple: Simple, by_type: bool) -> Snapshot:
    """The simple graph, its vertices' ids as they are numbered there."""
    graph, empty = simple.graph, pa.table({})
    order = np.argsort(graph.colours, kind="stable")
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.arange(len(order))
    tables = [
        VertexTable.from_arrow(
            labels, pa.chunked_array([to_arrow(order[graph.colours[order] == colour].astype(np.int64))]), empty, None
        )
        for colour, labels in enumerate(simple.labels)
    ]
    tails, heads, types = graph.arcs
    edges = [
        EdgeTable.from_arrow(name, numbers[tails[types == type]], numbers[heads[types == type]], empty)
        for type, name in enumerate(simple.types if by_type else ("EDGE",))
    ]
    return Snapshot(tables, edges)
