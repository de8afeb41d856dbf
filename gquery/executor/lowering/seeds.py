"""What a run begins with when earlier clauses have bound vertices: their distinct bindings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gquery.records import record
from gquery.storage.adjacency import Adjacency, build_adjacency
from gquery.storage.schema import Direction


@record(frozen=True, slots=True)
class Seeds:
    """Seed i binds the internal vertex `columns[variable][i]` to each variable: int32[count], none of them null."""

    count: int
    columns: Mapping[str, NDArray[np.int32]]

    def bound(self, column: str) -> NDArray[np.int32]:
        """The vertices that any seed binds, ascending."""
        return np.unique(self.columns[column])

    def adjacency(self, column: str, direction: Direction) -> Adjacency:
        """From each seed to the vertex that it binds (`out`), or from vertices to the seeds that bind them (`in`)."""
        vertices, seeds = self.columns[column], np.arange(self.count, dtype=np.int32)
        if direction == "in":
            return build_adjacency(vertices, seeds, seeds.astype(np.int64))
        return Adjacency(0, np.arange(self.count + 1, dtype=np.int64), vertices, seeds.astype(np.int64), True)
