"""Opening: the manifest is read and the files are mapped; a file's content is checked and read when first needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.errors import LoadError
from gquery.lasting.locks import lasting_lock
from gquery.lasting.properties import cached_property
from gquery.records import record
from gquery.stopping import Check, unchecked
from gquery.storage.adjacency import Adjacency
from gquery.storage.counted.counts import Counts
from gquery.storage.counted.signatures import has_bit
from gquery.storage.edges import AdjacencyKey, Edges
from gquery.storage.graph import Snapshot
from gquery.storage.indexes import is_order
from gquery.storage.persist.entries import DIRECTIONS, AdjacencyEntry, EdgeTableEntry, Manifest, VertexTableEntry
from gquery.storage.persist.files import FileEntry, StoredFile, are_below
from gquery.storage.persist.manifest import folder_of, read_manifest
from gquery.storage.persist.verdicts import Verdicts
from gquery.storage.persist.verify import EdgesById, disagreement
from gquery.storage.schema import Direction
from gquery.storage.tables import Columns, EdgeTable, Ends, VertexTable

_ENDS = pa.schema([("source", pa.int32()), ("target", pa.int32())])
_SIGNATURES = pa.schema([("signature", pa.uint64())])
_ROWS = pa.large_list(pa.struct([("neighbour", pa.int32()), ("edge", pa.int64())]))


def open_snapshot(path: str | os.PathLike[str]) -> Snapshot:
    """The graph that was saved to a folder. LoadError when there is none, or a file is missing or cut short; damage
    within a file is a LoadError when the file is first needed."""
    return open_saved(folder_of(path))[0]


def open_saved(directory: Path) -> tuple[Snapshot, str]:
    """The graph in a folder, and the digest of its manifest."""
    manifest = read_manifest(directory)
    while True:
        try:
            return _Opened(directory, manifest).snapshot(), manifest.digest
        except LoadError:
            newer = read_manifest(directory)
            if newer == manifest:
                raise
            manifest = newer  # a save has ended meanwhile and has removed the old files


class _Opened:
    """The mapped files of one manifest, and how each part of the graph is read from them, whole or not at all."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self._manifest = manifest
        self._files = {entry.name: StoredFile(directory, entry) for entry in set(manifest.files())}
        self._verdicts = Verdicts(manifest.digest, self._files.values())
        for file in self._files.values():
            file.verdicts = self._verdicts
        self._types: dict[str, _EdgeType] = {}
        self._right_bits = 0
        self._lock = lasting_lock()

    def snapshot(self) -> Snapshot:
        manifest = self._manifest
        edges = Edges(
            [self._edge_table(number) for number in range(len(manifest.edge_tables))],
            manifest.edge_numbers,
            {entry.key: partial(self._adjacency, entry.key) for entry in manifest.adjacencies},
        )
        return Snapshot(
            [self._vertex_table(number) for number in range(len(manifest.vertex_tables))],
            edges,
            manifest.vertex_numbers,
            self._counts,
            self._signatures if manifest.signatures else None,
        )

    # --- vertices ----------------------------------------------------------------------------------------------

    def _vertex_table(self, number: int) -> VertexTable:
        entry = self._manifest.vertex_tables[number]
        columns, load_ids = self._columns(entry), partial(self._ids, entry)
        orders: dict[str | None, Callable[[Check], NDArray[np.int32]]] = {
            name: partial(
                self._order, f"order {number} {name!r}", file, entry.columns[name], partial(columns.get, name)
            )
            for name, file in entry.orders.items()
        }
        if entry.id_order is not None:
            orders[None] = partial(self._order, f"order {number}", entry.id_order, entry.ids, load_ids)
            if entry.id_name is not None and entry.columns[entry.id_name] == entry.ids:
                orders.setdefault(entry.id_name, orders[None])
        of_ids = entry.id_type, entry.id_name
        return VertexTable(entry.labels, entry.count, *of_ids, columns, load_ids, orders, entry.ids_repeat)

    def _order(
        self, what: str, entry: FileEntry, of: FileEntry, load: Callable[[], pa.ChunkedArray], check: Check
    ) -> NDArray[np.int32]:
        """The order of a column, after it was found to be one: rows that it leaves out would not be found."""
        file, values = self._file(entry), load()
        order = file.numbers(file.column(pa.int32(), len(values) - values.null_count).combine_chunks())
        if not self._verdicts.holds(what, [file, self._file(of)]):
            if not is_order(order, values, check):
                raise file.damaged("has another order than the column")
            self._verdicts.note(what, [file, self._file(of)])
        return order

    def _ids(self, entry: VertexTableEntry) -> pa.ChunkedArray:
        file = self._file(entry.ids)
        ids = file.column(entry.id_type, entry.count)
        if ids.null_count:
            raise file.damaged("has vertices without an id")
        return ids

    def _columns(self, table: VertexTableEntry | EdgeTableEntry) -> Columns:
        def load(name: str) -> pa.ChunkedArray:
            return self._file(table.columns[name]).column(table.types[name], table.count)

        return Columns(table.types, load)

    def _counts(self) -> Counts:
        """What was counted at the save. Vertices and edges are as many as they are said to be, from here on; what is
        said of a type of edges is compared with them when it is first asked for."""
        for table in self._manifest.vertex_tables:
            self._file(table.ids).check_rows(table.count)
        for edges in self._manifest.edge_tables:
            self._file(edges.ends).check_rows(edges.count)
        return replace(self._manifest.counts, verify=self._verify)

    # --- edges -------------------------------------------------------------------------------------------------

    def _edge_table(self, number: int) -> EdgeTable:
        entry = self._manifest.edge_tables[number]
        load_ends = partial(self._ends_of, entry.type, number)
        return EdgeTable(entry.type, entry.count, self._columns(entry), load_ends)

    def _ends_of(self, name: str, number: int) -> Ends:
        return self._edge_type(name).ends[number]

    def _adjacency(self, key: AdjacencyKey) -> Adjacency:
        (name,) = key.types
        return self._edge_type(name).adjacencies[key.direction]

    def _edge_type(self, name: str, check: Check = unchecked) -> _EdgeType:
        """Everything about the edges of one type, after it was found to agree. `check` raises what is to end that."""
        if name not in self._types:
            with self._lock:
                if name not in self._types:
                    self._types[name] = self._verified(name, check)
        return self._types[name]

    def _verify(self, name: str, check: Check) -> None:
        self._edge_type(name, check)

    def _verified(self, name: str, check: Check) -> _EdgeType:
        tables = {number: table for number, table in enumerate(self._manifest.edge_tables) if table.type == name}
        rows = {entry.key.direction: entry for entry in self._manifest.adjacencies if entry.key.types == (name,)}
        found = _EdgeType(
            {number: self._ends(table) for number, table in tables.items()},
            {direction: self._rows(entry) for direction, entry in rows.items()},
        )
        files = [self._file(entry) for entry in (*(t.ends for t in tables.values()), *(e.file for e in rows.values()))]
        what = f"type {name!r}"
        if not self._verdicts.holds(what, files):
            wrong = self._disagreement(name, found, check)
            if wrong:
                raise files[-1].damaged(wrong)
            self._verdicts.note(what, files)
        return found

    def _disagreement(self, name: str, found: _EdgeType, check: Check) -> str | None:
        numbers, edge_numbers = self._manifest.vertex_numbers, self._manifest.edge_numbers
        source, target = (
            edge_numbers.by_id({number: ends[side] for number, ends in found.ends.items()}, np.int32) for side in (0, 1)
        )
        if not (are_below(source, numbers.count) and are_below(target, numbers.count)):
            return "names vertices that the graph does not have"
        edges = EdgesById(source, target, edge_numbers.of(found.ends))
        out, into = (found.adjacencies[direction] for direction in DIRECTIONS)
        recorded = self._manifest.counts.types[name]
        return disagreement(edges, out, into, numbers, recorded, check)

    def _ends(self, entry: EdgeTableEntry) -> Ends:
        file = self._file(entry.ends)
        source, target = (file.numbers(array) for array in file.arrays(_ENDS, entry.count))
        return source, target

    def _rows(self, entry: AdjacencyEntry) -> Adjacency:
        file = self._file(entry.file)
        (rows,) = file.arrays(pa.schema([("entries", _ROWS)]), entry.rows)
        if rows.values.null_count:
            raise file.damaged("has nulls where none can be")
        neighbours, edges = (file.numbers(rows.values.field(index)) for index in range(2))
        if entry.first + entry.rows > self._manifest.vertex_numbers.count:
            raise file.damaged("has rows of vertices that the graph does not have")
        return Adjacency(entry.first, file.numbers(rows.offsets), neighbours, edges, entry.simple)

    # --- signatures --------------------------------------------------------------------------------------------

    def _signatures(self, bits: int, snapshot: Snapshot) -> NDArray[np.uint64]:
        """The signatures, of which these bits agree with the edges."""
        file, words = self._words
        while unknown := bits & ~self._right_bits:
            bit = unknown.bit_length() - 1
            self._verify_bit(file, words, bit, snapshot)
            self._right_bits |= 1 << bit
        return words

    @cached_property
    def _words(self) -> tuple[StoredFile, NDArray[np.uint64]]:
        assert self._manifest.signatures is not None
        file = self._file(self._manifest.signatures)
        (words,) = file.arrays(_SIGNATURES, self._manifest.vertex_numbers.count)
        return file, file.numbers(words)

    def _verify_bit(self, file: StoredFile, words: NDArray[np.uint64], bit: int, snapshot: Snapshot) -> None:
        what, files = f"bit {bit}", list(self._files.values())
        if not self._verdicts.holds(what, files):
            if not has_bit(words, bit, snapshot):
                raise file.damaged("has other signatures than the edges show")
            self._verdicts.note(what, files)

    def _file(self, entry: FileEntry) -> StoredFile:
        return self._files[entry.name]


@record(frozen=True, slots=True)
class _EdgeType:
    """The ends of each edge table by its number, the adjacency of each direction."""

    ends: dict[int, Ends]
    adjacencies: dict[Direction, Adjacency]
