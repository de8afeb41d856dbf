"""What a saved graph consists of: its tables and adjacencies, with the file that each column is in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

import pyarrow as pa

from gquery.records import record
from gquery.storage.counted.counts import Counts
from gquery.storage.edges import AdjacencyKey
from gquery.storage.numbering import Numbering
from gquery.storage.persist.files import FileEntry
from gquery.storage.schema import Direction

DIRECTIONS: tuple[Direction, ...] = ("out", "in")  # in which the edges of each type are saved


@record(frozen=True, slots=True)
class VertexTableEntry:
    labels: tuple[str, ...]
    count: int
    id_name: str | None
    id_type: pa.DataType
    ids: FileEntry
    types: Mapping[str, pa.DataType]
    columns: dict[str, FileEntry]
    id_order: FileEntry | None = None
    orders: dict[str, FileEntry] = field(default_factory=dict)
    """Of columns that have an index."""
    ids_repeat: bool = False


@record(frozen=True, slots=True)
class EdgeTableEntry:
    type: str
    count: int
    ends: FileEntry
    types: Mapping[str, pa.DataType]
    columns: dict[str, FileEntry]


@record(frozen=True, slots=True)
class AdjacencyEntry:
    key: AdjacencyKey
    first: int
    rows: int
    simple: bool
    file: FileEntry


@record(frozen=True, slots=True)
class Manifest:
    vertex_tables: tuple[VertexTableEntry, ...]
    edge_tables: tuple[EdgeTableEntry, ...]
    adjacencies: tuple[AdjacencyEntry, ...]
    counts: Counts
    signatures: FileEntry | None
    """None in graphs that were saved before there were any."""
    vertex_numbers: Numbering
    edge_numbers: Numbering
    digest: str = ""
    """Of the whole content, when it was read."""

    def files(self) -> Iterator[FileEntry]:
        """Every file of the graph; one that serves twice comes twice."""
        for vertex_table in self.vertex_tables:
            yield vertex_table.ids
            yield from vertex_table.columns.values()
            yield from vertex_table.orders.values()
            if vertex_table.id_order is not None:
                yield vertex_table.id_order
        for edge_table in self.edge_tables:
            yield edge_table.ends
            yield from edge_table.columns.values()
        for adjacency in self.adjacencies:
            yield adjacency.file
        if self.signatures is not None:
            yield self.signatures
