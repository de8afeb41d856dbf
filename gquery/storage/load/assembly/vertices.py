"""The vertex tables of a graph, from the vertices of all files: ids that occur once, one table for each label set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.errors import LoadError, did_you_mean
from gquery.storage.graph import MAX_VERTICES
from gquery.storage.load.assembly.directory import Directory, Home, described
from gquery.storage.load.assembly.lookup import ABSENT, as_type, concat_ids, distinct, repeats
from gquery.storage.load.assembly.rows import EdgeRows, VertexRows
from gquery.storage.load.loading import Loading
from gquery.storage.load.rejects import Origin
from gquery.storage.load.text.header import check_text
from gquery.storage.schema import common_type
from gquery.storage.tables import VertexTable


def with_super_labels(vertices: Sequence[VertexRows], super_labels: Mapping[str, Iterable[str]]) -> list[VertexRows]:
    """The vertices, those with a member label carrying the super label too. LoadError for a member nobody carries."""
    pieces = list(vertices)
    for label, members in super_labels.items():
        check_text(label, "label")
        names = {members} if isinstance(members, str) else set(members)
        known = dict.fromkeys(name for piece in pieces for name in piece.labels)
        for name in sorted(names):
            if name not in known:
                hint = did_you_mean(name, known)
                raise LoadError(f"super label `{label}`: no vertices are labelled `{name}`", hint=hint)
        pieces = [
            replace(piece, labels=tuple(dict.fromkeys((*piece.labels, label)))) if names & set(piece.labels) else piece
            for piece in pieces
        ]
    return pieces


def unique(loading: Loading, vertices: Sequence[VertexRows]) -> tuple[list[VertexRows], int]:
    """The vertices without those whose id occurred before in the same space, which are rejected; and their number."""
    spaces: dict[str, list[int]] = {}
    for index, piece in enumerate(vertices):
        spaces.setdefault(piece.space, []).append(index)
    pieces, count = list(vertices), 0
    for members in spaces.values():
        again = repeats(concat_ids([pieces[index].ids for index in members]))
        count += len(again)
        first = 0
        for index in members if len(again) else ():
            piece = pieces[index]
            rows = again[(again >= first) & (again < first + piece.count)] - first
            first += piece.count
            reason = "the id occurs twice" + (f" in {piece.space}" if piece.space else "")
            values = piece.ids.take(pa.array(rows))
            loading.rejects.add(piece.origin, rows, piece.id_name or ":ID", values, reason)
            pieces[index] = piece.take(np.delete(np.arange(piece.count), rows))
    return pieces, count


def named_by(edges: Iterable[EdgeRows], alone: Sequence[pa.ChunkedArray] = ()) -> VertexRows:
    """The vertices that edges name, and some that stand `alone`; their ids are the property `id`."""
    ids = [*alone] + [end.ids for piece in edges for end in (piece.source, piece.target)]
    return _new_vertices(Home((), "", "id", None), ids)


def created(loading: Loading, pieces: Sequence[VertexRows], edges: Iterable[EdgeRows]) -> tuple[list[VertexRows], int]:
    """Vertices for the ends that do not exist, and the number of edges that have such ends; these are noted."""
    directory = Directory(pieces, [np.zeros(piece.count, np.int32) for piece in pieces])
    missing: dict[Home, list[pa.ChunkedArray]] = {}
    dangling = 0
    for piece in edges:
        either = np.zeros(piece.count, np.bool_)
        for end in (piece.source, piece.target):
            absent = directory.lookup(end).find(end.ids) == ABSENT
            rows = np.flatnonzero(absent)
            if len(rows):
                ids = end.ids.take(pa.array(rows))
                home = directory.home(end.reference)
                known = ids if home.id_type is None else as_type(ids, home.id_type).drop_null()
                missing.setdefault(home, []).append(known)
                reason = f"{described(home.labels)} has been created for the end of this edge"
                loading.rejects.note(piece.origin, rows, end.reference.column, ids, reason)
                either |= absent
        dangling += int(np.count_nonzero(either))
    return [_new_vertices(home, ids) for home, ids in missing.items()], dangling


def _new_vertices(home: Home, ids: Sequence[pa.ChunkedArray]) -> VertexRows:
    each = distinct(ids)
    properties = pa.table({home.id_name: each} if home.id_name else {})
    return VertexRows(home.labels, each, home.id_name, properties, home.space, Origin(()))


def vertex_tables(loading: Loading, pieces: Sequence[VertexRows]) -> tuple[list[VertexTable], list[NDArray[np.int32]]]:
    """One table per label set, and the internal vertices of every piece."""
    if sum(piece.count for piece in pieces) > MAX_VERTICES:
        raise LoadError(f"the graph has more vertices than gquery can number ({MAX_VERTICES:,})")
    groups: dict[frozenset[str], list[int]] = {}
    for index, piece in enumerate(pieces):
        groups.setdefault(frozenset(piece.labels), []).append(index)
    numbers = [np.zeros(0, np.int32)] * len(pieces)
    tables, first = [], 0
    for members in groups.values():
        parts = [pieces[index] for index in members]
        for index in members:
            numbers[index] = np.arange(first, first + pieces[index].count, dtype=np.int32)
            first += pieces[index].count
        id_names = {part.id_name for part in parts}
        id_name = id_names.pop() if len(id_names) == 1 else None
        ids = concat_ids([part.ids for part in parts])
        tables.append(VertexTable.from_arrow(parts[0].labels, ids, _stacked(loading, parts), id_name))
    return tables, numbers


def _stacked(loading: Loading, parts: Sequence[VertexRows]) -> pa.Table:
    """Properties of pieces one below the other, null where a piece lacks one."""
    if len(parts) == 1:
        return parts[0].properties
    columns = {}
    for name in dict.fromkeys(name for part in parts for name in part.properties.column_names):
        found = [part.properties[name] if name in part.properties.column_names else None for part in parts]
        type = _shared_type(name, parts, [column.type for column in found if column is not None])
        chunks: list[pa.Array] = []
        for part, column in zip(parts, found, strict=True):
            values = None if column is None else _shared(loading, part, name, column, type)
            chunks.extend([pa.nulls(part.count, type)] if values is None else values.chunks)
        columns[name] = pa.chunked_array(chunks, type)
    return pa.table(columns)


def _shared(
    loading: Loading, part: VertexRows, name: str, values: pa.ChunkedArray, type: pa.DataType
) -> pa.ChunkedArray:
    """The values of one piece as what holds those of the others. Raises LoadError where it does not hold them all: a
    float not every integer, nanoseconds not every year."""
    try:
        return values.cast(type)
    except pa.ArrowInvalid:
        row = _first_misfit(values, type)
        reason = f"the value does not fit into {type}, which other values of {described(part.labels)} need"
        hint = f"types={{{name!r}: 'string'}} takes them as text"
        loading.rejects.fail(part.origin, np.array([row]), name, values.slice(row, 1), reason, hint)


def _first_misfit(values: pa.ChunkedArray, type: pa.DataType) -> int:
    """The first row that cannot be cast, found by halving."""
    first, end = 0, len(values)
    while end - first > 1:
        middle = (first + end) // 2
        try:
            values.slice(first, middle - first).cast(type)
            first = middle
        except pa.ArrowInvalid:
            end = middle
    return first


def _shared_type(name: str, parts: Sequence[VertexRows], types: Sequence[pa.DataType]) -> pa.DataType:
    """The type that holds all values: text when they agree on no other, as files do whose types were guessed apart."""
    type = common_type(types)
    if type is not None:
        return type
    if any(pa.types.is_nested(type) or pa.types.is_binary(type) for type in types):
        kinds = " and ".join(dict.fromkeys(str(type) for type in types))
        raise LoadError(
            f"a property of {described(parts[0].labels)} has several types: {kinds}",
            file=parts[-1].origin.file or None,
            column=name,
        )
    return pa.string()
