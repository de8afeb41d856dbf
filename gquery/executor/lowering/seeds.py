"""What query vertices of no table stand for: the distinct bindings of earlier clauses, which a run begins with, the
values that vertices have in common, or data edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import ranges
from gquery.records import record
from gquery.storage.adjacency import Adjacency, build_adjacency
from gquery.storage.edges import NumberedEdges
from gquery.storage.schema import Direction
from gquery.storage.sorting import distinct


@record(frozen=True, slots=True)
class Bound:
    """Internal vertices by row: those of row i are `vertices[offsets[i] : offsets[i + 1]]`, ascending, each once.

    offsets: int64[rows + 1]; vertices: int32[m].
    """

    offsets: NDArray[np.int64]
    vertices: NDArray[np.int32]

    def of(self, rows: NDArray[np.int64]) -> Bound:
        """Those of some rows, in their order."""
        begins, ends = self.offsets[rows], self.offsets[rows + 1]
        return Bound(np.concatenate([[0], np.cumsum(ends - begins)]), self.vertices[ranges(begins, ends)])


@record(frozen=True, slots=True)
class Seeds:
    """Seed i binds the internal vertex `columns[variable][i]` to each variable: int32[count], none of them null; and to
    each variable of `found` one of those in row i there. rows: that they are found for."""

    count: int
    columns: Mapping[str, NDArray[np.int32]]
    found: Mapping[str, Bound] = field(default_factory=dict)
    rows: pa.Table | None = None

    @property
    def candidates(self) -> NDArray[np.int32]:
        return np.arange(self.count, dtype=np.int32)

    def binds(self, column: str) -> bool:
        return column in self.columns or column in self.found

    def bound(self, column: str) -> NDArray[np.int32]:
        """The vertices that any seed binds, ascending."""
        return distinct(self._rows(column).vertices)

    def adjacency(self, column: str, direction: Direction) -> Adjacency:
        """From each seed to the vertices that it binds (`out`), or from vertices to the seeds that bind them (`in`)."""
        rows = self._rows(column)
        entries = np.arange(len(rows.vertices))
        if direction == "in":
            seeds = np.repeat(np.arange(self.count, dtype=np.int32), np.diff(rows.offsets))
            return build_adjacency(rows.vertices, seeds, entries)
        return Adjacency(0, rows.offsets, rows.vertices, entries, True)

    def _rows(self, column: str) -> Bound:
        if column in self.found:
            return self.found[column]
        return Bound(np.arange(self.count + 1), self.columns[column])


@record(frozen=True, slots=True)
class DataEdges:
    """Data edges that are matched as vertices. chosen: int32[], ascending, the numbers of those that may be matched;
    None for all. columns: whether the source is found there, or the target."""

    numbered: NumberedEdges
    chosen: NDArray[np.int32] | None
    columns: Mapping[str, bool]

    @property
    def count(self) -> int:
        return self.numbered.count

    @property
    def candidates(self) -> NDArray[np.int32]:
        return np.arange(self.count, dtype=np.int32) if self.chosen is None else self.chosen

    def binds(self, column: str) -> bool:
        return column in self.columns

    def adjacency(self, column: str, direction: Direction) -> Adjacency:
        """From each edge to its end (`out`), or from vertices to the edges (`in`)."""
        is_source = self.columns[column]
        if direction == "in" and self.chosen is not None:
            return self.numbered.leading(is_source, self.chosen)
        if direction == "in":
            return self.numbered.from_source if is_source else self.numbered.from_target
        every = np.arange(self.count + 1)
        return Adjacency(0, every, self.numbered.at(is_source), every[:-1], True)


StandsFor = Seeds | DataEdges
"""What a query vertex of no table stands for: `count` of them, of which `candidates` may be matched."""
