"""What a statement has deleted so far: its rows may still hold the ids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.errors import ExecutionError
from gquery.storage.changes.batch import Batch
from gquery.storage.numbering import Ids
from gquery.storage.sorting import either


class Deleted(NamedTuple):
    """Vertices and edges, int64, ascending."""

    vertices: NDArray[np.int64]
    edges: NDArray[np.int64]

    @classmethod
    def none(cls) -> Deleted:
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))

    def __bool__(self) -> bool:
        return len(self.vertices) > 0 or len(self.edges) > 0

    def and_of(self, batch: Batch) -> Deleted:
        """With what a batch deletes."""
        return Deleted(either(self.vertices, batch.gone_vertices), either(self.edges, batch.gone_edges))

    def expect_none(self, node: bool, ids: Ids) -> None:
        """Raises ExecutionError where one of the vertices (or edges) was deleted."""
        if np.isin(ids, self.vertices if node else self.edges).any():
            what = "node" if node else "relationship"
            raise ExecutionError(f"a {what} is asked for what it had, which was deleted in the same statement")
