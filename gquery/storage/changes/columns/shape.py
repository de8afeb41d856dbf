"""What tables are after a batch: whose rows they have, and of which types their columns are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.storage.changes.columns.pieces import Patch, Piece, Pieces, Types
from gquery.storage.tables import Columns, EdgeTable, Ends, VertexTable

_DEEP = 16  # tables that are pieces of pieces, until all columns are read and the pieces forgotten


@dataclass(slots=True)
class Shape:
    """A table without its rows. names: the labels of its vertices, or the type of its edges, which has no `id_type`.
    types: of its properties."""

    names: tuple[str, ...]
    types: dict[str, pa.DataType] = field(default_factory=dict)
    id_name: str | None = None
    id_type: pa.DataType | None = None

    @classmethod
    def of(cls, table: VertexTable | EdgeTable) -> Shape:
        if isinstance(table, VertexTable):
            return cls(table.labels, dict(table.columns.types), table.id_name, table.id_type)
        return cls((table.type,), dict(table.columns.types))

    def filled(self, pieces: Iterable[Piece], patches: Mapping[str | None, Patch]) -> VertexTable | EdgeTable:
        """The table that has these rows, with some other values."""
        types: Types = dict([(None, self.id_type), *self.types.items()])
        whole = Pieces.of(pieces, types).patched(patches)
        table = PiecedEdges(self, whole) if self.id_type is None else PiecedVertices(self, whole)
        return table if whole.depth < _DEEP else _settled(table)


class PiecedVertices(VertexTable):
    """Vertices of other tables."""

    def __init__(self, shape: Shape, pieces: Pieces) -> None:
        self.pieces = pieces
        columns = Columns(shape.types, lambda name: pieces.column(name, shape.id_name))
        super().__init__(shape.names, pieces.count, shape.id_type, shape.id_name, columns, lambda: pieces.column(None))


class PiecedEdges(EdgeTable):
    """Edges of other tables."""

    def __init__(self, shape: Shape, pieces: Pieces) -> None:
        self.pieces = pieces
        super().__init__(shape.names[0], pieces.count, Columns(shape.types, pieces.column), pieces.ends)

    def ends_at(self, rows: NDArray[np.integer[Any]]) -> Ends:
        return super().ends_at(rows) if "ends" in self.__dict__ else self.pieces.ends_at(rows)


def _settled(table: PiecedVertices | PiecedEdges) -> VertexTable | EdgeTable:
    """The same table, all of it read."""
    columns = Columns(table.columns.types, dict(table.columns).__getitem__)
    if isinstance(table, EdgeTable):
        ends = table.ends
        return EdgeTable(table.type, table.count, columns, lambda: ends)
    ids = table.ids
    return VertexTable(table.labels, table.count, table.id_type, table.id_name, columns, lambda: ids)
