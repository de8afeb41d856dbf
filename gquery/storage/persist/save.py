"""Saving: new files first, then the manifest, then the old files go."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.errors import LoadError
from gquery.storage.adjacency import Adjacency
from gquery.storage.changes.compacted import compacted
from gquery.storage.edges import AdjacencyKey
from gquery.storage.graph import Snapshot
from gquery.storage.persist import lock
from gquery.storage.persist import manifest as manifests
from gquery.storage.persist.entries import DIRECTIONS, AdjacencyEntry, EdgeTableEntry, Manifest, VertexTableEntry
from gquery.storage.persist.files import FileEntry, data_file_name, sync_directory, write_file
from gquery.storage.persist.lock import locked
from gquery.storage.tables import Columns, EdgeTable, VertexTable


def save(snapshot: Snapshot, path: str | os.PathLike[str]) -> None:
    """Write a graph to a folder, in place of the graph that may be there.

    Graphs that are open from the same folder keep what they have. LoadError when the folder holds something else, when
    another save is at work in it, or when the system refuses a write; what was there stays whole.
    """
    directory = manifests.folder_of(path)
    snapshot = compacted(snapshot)
    try:
        with _gone_if_refused(directory):
            _claim(directory)
            with locked(directory):
                install(written(snapshot, directory), directory)
    except OSError as error:
        raise LoadError(
            f"the graph cannot be saved: {error.strerror or error}",
            file=str(error.filename or directory),
            hint="a graph that was there before is unchanged",
        ) from error


@contextmanager
def _gone_if_refused(directory: Path) -> Iterator[None]:
    """Removes the folders again that are made for a graph which is not saved after all."""
    made = [each for each in (directory, *directory.parents) if not each.exists()]
    try:
        yield
    except BaseException:
        with suppress(OSError, LoadError):
            if made and os.listdir(directory) == [lock.NAME]:
                with locked(directory):  # which may be another's by now
                    (directory / lock.NAME).unlink()
            for each in made:
                each.rmdir()
        raise


def _claim(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise LoadError(f"cannot save to `{directory}`: it is a file", file=str(directory), hint="name a folder")
    directory.mkdir(parents=True, exist_ok=True)
    names = {entry.name for entry in directory.iterdir()}
    if names and not names & {manifests.NAME, lock.NAME}:
        raise LoadError(
            f"cannot save to `{directory}`: the folder holds other things",
            file=str(directory),
            hint="name a new folder, an empty one, or one that holds a saved graph",
        )


def written(snapshot: Snapshot, directory: Path) -> Manifest:
    """Writes the files of a graph beside those of the one that is there, for who holds the folder's lock. OSError when
    the system refuses: then they are gone again."""
    sweep(directory)
    try:
        manifest = _Writer(directory).graph(snapshot)
        sync_directory(directory)
    except BaseException:
        sweep(directory)
        raise
    return replace(manifest, digest=manifests.digest_of(manifest))


def install(manifest: Manifest, directory: Path) -> None:
    """Puts a graph whose files are written in place of the one that is there. OSError when the system refuses; the
    folder is read again then to know which it has."""
    before = _files_in_use(directory)
    try:
        manifests.write_manifest(directory, manifest)
    except BaseException:
        _sweep(directory, before | _files_in_use(directory))
        raise
    sweep(directory)


def sweep(directory: Path) -> None:
    """Removes the files of saves that were killed, or have failed, and of graphs that have been replaced."""
    _sweep(directory, _files_in_use(directory))


def _files_in_use(directory: Path) -> set[str]:
    """The files that the manifest names; without a manifest none, with one that cannot be read all."""
    if not manifests.is_saved(directory):
        return set()
    try:
        manifest = manifests.read_manifest(directory)
        return {manifests.log_name(manifest.digest), *(entry.name for entry in manifest.files())}
    except LoadError:
        return set(os.listdir(directory))


def _sweep(directory: Path, in_use: set[str]) -> None:
    for entry in directory.iterdir():
        if manifests.is_ours(entry.name) and entry.name not in in_use:
            try:
                entry.unlink()
            except OSError:  # held open on some systems: the next save removes it
                continue


class _Writer:
    """Writes the files of one save, under names that no other save has."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._save = secrets.token_hex(4)
        self._count = 0

    def graph(self, snapshot: Snapshot) -> Manifest:
        keys = [AdjacencyKey((name,), direction) for name in snapshot.schema.types for direction in DIRECTIONS]
        return Manifest(
            tuple(
                self._vertex_table(table, snapshot.indexes.orders(number))
                for number, table in enumerate(snapshot.vertex_tables)
            ),
            tuple(self._edge_table(table) for table in snapshot.edge_tables),
            tuple(self._adjacency(key, snapshot.adjacency(key.types, key.direction)) for key in keys),
            snapshot.counts,
            self._write(pa.table({"signature": snapshot.signatures()})),
            snapshot.vertex_numbers,
            snapshot.edges.numbers,
        )

    def _vertex_table(self, table: VertexTable, orders: Mapping[str | None, NDArray[np.int32]]) -> VertexTableEntry:
        columns = self._columns(table.columns)
        shown = table.columns[table.id_name] if table.id_name is not None else None
        if table.id_name is not None and shown is not None and shown.equals(table.ids):
            ids = columns[table.id_name]
        else:
            ids = self._write(pa.table({"id": table.ids}))
        twice = table.id_name if table.id_name is not None and ids is columns.get(table.id_name) else None
        sorted_by = {
            name: self._write(pa.table({"row": order}))
            for name, order in orders.items()
            if name is None or name != twice
        }
        of_ids = sorted_by.pop(None, None)
        return VertexTableEntry(
            table.labels,
            table.count,
            table.id_name,
            table.id_type,
            ids,
            table.columns.types,
            columns,
            of_ids,
            {name: file for name, file in sorted_by.items() if name is not None},
            table.ids_repeat,
        )

    def _edge_table(self, table: EdgeTable) -> EdgeTableEntry:
        source, target = table.ends
        ends = self._write(pa.table({"source": source, "target": target}))
        return EdgeTableEntry(table.type, table.count, ends, table.columns.types, self._columns(table.columns))

    def _adjacency(self, key: AdjacencyKey, adjacency: Adjacency) -> AdjacencyEntry:
        adjacency = adjacency.compact()
        entries = pa.StructArray.from_arrays([adjacency.neighbours, adjacency.edges], ["neighbour", "edge"])
        rows = pa.LargeListArray.from_arrays(adjacency.offsets, entries)
        file = self._write(pa.table({"entries": rows}))
        return AdjacencyEntry(key, adjacency.first, adjacency.rows, adjacency.simple, file)

    def _columns(self, columns: Columns) -> dict[str, FileEntry]:
        return {name: self._write(pa.table({name: column})) for name, column in columns.items()}

    def _write(self, table: pa.Table) -> FileEntry:
        self._count += 1
        return write_file(self._directory / data_file_name(self._save, self._count), table)
