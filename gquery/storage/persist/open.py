"""Opening: the manifest is read and the files are mapped; a file's content is checked and read when first needed."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.errors import LoadError
from gquery.storage.adjacency import Adjacency
from gquery.storage.graph import Columns, EdgeTable, Snapshot, VertexTable
from gquery.storage.persist.files import FileEntry, StoredFile, all_below, as_numpy
from gquery.storage.persist.manifest import AdjacencyEntry, EdgeTableEntry, Manifest, VertexTableEntry, read_manifest

_ENDS = pa.schema([("source", pa.int32()), ("target", pa.int32())])
_SIGNATURES = pa.schema([("signature", pa.uint64())])
_ROWS = pa.large_list(pa.struct([("neighbour", pa.int32()), ("edge", pa.int64())]))


def open_snapshot(path: str | os.PathLike[str]) -> Snapshot:
    """The graph that was saved to a folder. LoadError when there is none, or a file is missing or cut short; damage
    within a file is a LoadError when the file is first needed."""
    directory = Path(path)
    manifest = read_manifest(directory)
    while True:
        try:
            return _Opened(directory, manifest).snapshot()
        except LoadError:
            newer = read_manifest(directory)
            if newer == manifest:
                raise
            manifest = newer  # a save has ended meanwhile and has removed the old files


class _Opened:
    """The mapped files of one manifest, and how each part of the graph is read from them."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self._manifest = manifest
        self._files = {entry.name: StoredFile(directory, entry) for entry in set(manifest.files())}
        self._vertex_count = sum(table.count for table in manifest.vertex_tables)
        self._edge_count = sum(table.count for table in manifest.edge_tables)

    def snapshot(self) -> Snapshot:
        manifest = self._manifest
        return Snapshot(
            [self._vertex_table(entry) for entry in manifest.vertex_tables],
            [self._edge_table(entry) for entry in manifest.edge_tables],
            {entry.key: partial(self._adjacency, entry) for entry in manifest.adjacencies},
            manifest.statistics,
            partial(self._signatures, manifest.signatures) if manifest.signatures else None,
        )

    def _vertex_table(self, entry: VertexTableEntry) -> VertexTable:
        load_ids = partial(self._file(entry.ids).column, entry.id_type, entry.count)
        return VertexTable(entry.labels, entry.count, entry.id_type, entry.id_name, self._columns(entry), load_ids)

    def _edge_table(self, entry: EdgeTableEntry) -> EdgeTable:
        return EdgeTable(entry.type, entry.count, self._columns(entry), partial(self._ends, entry))

    def _columns(self, table: VertexTableEntry | EdgeTableEntry) -> Columns:
        def load(name: str) -> pa.ChunkedArray:
            return self._file(table.columns[name]).column(table.types[name], table.count)

        return Columns(table.types, load)

    def _ends(self, entry: EdgeTableEntry) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        file = self._file(entry.ends)
        source, target = (as_numpy(array) for array in file.arrays(_ENDS, entry.count))
        if not (all_below(source, self._vertex_count) and all_below(target, self._vertex_count)):
            raise file.damaged("names vertices that the graph does not have")
        return source, target

    def _adjacency(self, entry: AdjacencyEntry) -> Adjacency:
        """Matching reads these arrays unchecked, so their bounds are checked here."""
        file = self._file(entry.file)
        (rows,) = file.arrays(pa.schema([("entries", _ROWS)]), entry.rows)
        try:
            rows.validate(full=True)
        except pa.ArrowException as error:
            raise file.damaged(f"has rows out of order ({error})") from error
        neighbours, edges = (as_numpy(rows.values.field(index)) for index in range(2))
        offsets = as_numpy(rows.offsets)
        if not (
            entry.first + entry.rows <= self._vertex_count
            and all_below(neighbours, self._vertex_count)
            and all_below(edges, self._edge_count)
        ):
            raise file.damaged("names vertices or edges that the graph does not have")
        return Adjacency(entry.first, offsets, neighbours, edges, entry.simple)

    def _signatures(self, entry: FileEntry) -> NDArray[np.uint64]:
        (words,) = self._file(entry).arrays(_SIGNATURES, self._vertex_count)
        return as_numpy(words)

    def _file(self, entry: FileEntry) -> StoredFile:
        return self._files[entry.name]
