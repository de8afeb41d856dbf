"""What tables are after a batch: whose rows they have, and of which types their columns are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.storage.changes.columns.pieces import Patch, Piece, Pieces, Types
from gquery.storage.tables import Columns, EdgeTable, Ends, VertexTable, in_one_piece


@dataclass(slots=True)
class Shape:
    """A table without its rows. names: the labels of its vertices, or the type of its edges, which has no `id_type`.
    types: of its properties."""

    names: tuple[str, ...]
    types: dict[str, pa.DataType] = field(default_factory=dict)
    id_name: str | None = None
    id_type: pa.DataType | None = None
    ids_repeat: bool = False

    @classmethod
    def of(cls, table: VertexTable | EdgeTable) -> Shape:
        if isinstance(table, VertexTable):
            return cls(table.labels, dict(table.columns.types), table.id_name, table.id_type, table.ids_repeat)
        return cls((table.type,), dict(table.columns.types))

    def filled(self, pieces: Iterable[Piece], patches: Mapping[str | None, Patch]) -> VertexTable | EdgeTable:
        """The table that has these rows, with some other values."""
        types: Types = dict([(None, self.id_type), *self.types.items()])
        whole = Pieces.of(pieces, types).patched(patches)
        return self._table(whole.flat().with_fewer(self._written) if whole.is_heavy else whole)

    def _table(self, pieces: Pieces) -> PiecedVertices | PiecedEdges:
        return PiecedEdges(self, pieces) if self.id_type is None else PiecedVertices(self, pieces)

    def _written(self, pieces: Pieces) -> VertexTable | EdgeTable:
        return self._table(pieces).settled()


class PiecedVertices(VertexTable):
    """Vertices of other tables."""

    def __init__(self, shape: Shape, pieces: Pieces) -> None:
        self.pieces = pieces
        columns = Columns(shape.types, lambda name: pieces.column(name, shape.id_name))
        of_ids = shape.id_type, shape.id_name
        ids = partial(pieces.column, None)
        super().__init__(shape.names, pieces.count, *of_ids, columns, ids, ids_repeat=shape.ids_repeat)

    def settled(self) -> VertexTable:
        """The same table, all of it read, and each column in one piece."""
        ids, of_ids = in_one_piece(self.ids), (self.id_type, self.id_name)
        columns = _read(self.columns)
        return VertexTable(self.labels, self.count, *of_ids, columns, lambda: ids, ids_repeat=self.ids_repeat)


class PiecedEdges(EdgeTable):
    """Edges of other tables."""

    def __init__(self, shape: Shape, pieces: Pieces) -> None:
        self.pieces = pieces
        super().__init__(shape.names[0], pieces.count, Columns(shape.types, pieces.column), pieces.ends)

    def settled(self) -> EdgeTable:
        """The same table, all of it read, and each column in one piece."""
        ends = self.ends
        return EdgeTable(self.type, self.count, _read(self.columns), lambda: ends)

    def ends_at(self, rows: NDArray[np.integer[Any]]) -> Ends:
        return super().ends_at(rows) if "ends" in self.__dict__ else self.pieces.ends_at(rows)


def _read(columns: Columns) -> Columns:
    whole = {name: in_one_piece(column) for name, column in columns.items()}
    return Columns(columns.types, whole.__getitem__)
