"""A batch: what is to change of a snapshot, by internal ids. Pure data; `applied` makes the next snapshot of it.

Ids never change their meaning from one snapshot to the next: what is new is numbered behind all that is there, what is
deleted leaves its id unused. So rows of ids that an earlier clause found, and matches of the old snapshot, stay good.
"""

from __future__ import annotations

from dataclasses import field, fields

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.records import record


@record(frozen=True, slots=True)
class NewVertices:
    """Vertices of one label set. properties: a row a vertex; a null is a property that the vertex does not have.

    ids: the users', int64 or string, that no vertex has yet; None where each is to get the next free number. id_name:
    the property that shows them, where the vertices are the first of their labels; the property need not be given.
    """

    labels: tuple[str, ...]
    properties: pa.Table
    ids: pa.Array | None = None
    id_name: str | None = None

    @property
    def count(self) -> int:
        return int(self.properties.num_rows)


@record(frozen=True, slots=True)
class NewEdges:
    """Edges of one type. source, target: int32[count], vertices of the snapshot or of the batch. properties: a row an
    edge."""

    type: str
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    properties: pa.Table

    @property
    def count(self) -> int:
        return len(self.source)


@record(frozen=True, slots=True)
class NewValues:
    """One property of some vertices (int32) or edges (int64), each named once. values: null where it is removed."""

    of: NDArray[np.int32] | NDArray[np.int64]
    name: str
    values: pa.Array


@record(frozen=True, slots=True)
class NewLabels:
    """Vertices, int32, that have exactly these labels from now on. id_name: the property that shows their ids, where
    none did before: the batch has a value of it for each, which becomes the id."""

    vertices: NDArray[np.int32]
    labels: tuple[str, ...]
    id_name: str | None = None


@record(frozen=True, slots=True)
class Batch:
    """Everything that changes at once. The new vertices are numbered from the snapshot's `vertex_count` on, in the
    order of `vertices` and then of rows; the new edges from its `edge_count` on, in the order of `edges`.

    gone_vertices: int32, whose edges are gone before or with them; gone_edges: int64. Values and labels are of what is
    there after the rest: also of new vertices and edges, never of what is gone.
    """

    vertices: tuple[NewVertices, ...] = ()
    edges: tuple[NewEdges, ...] = ()
    gone_vertices: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    gone_edges: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    vertex_values: tuple[NewValues, ...] = ()
    edge_values: tuple[NewValues, ...] = ()
    labels: tuple[NewLabels, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything changes."""
        return any(len(getattr(self, each.name)) for each in fields(self))
