"""Batches as bytes, and back: a line of JSON says what is there, then comes an Arrow stream for each part."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, to_numpy
from gquery.storage.changes.batch import Batch, NewEdges, NewLabels, NewValues, NewVertices
from gquery.storage.tables import wrong_time

REFUSALS = (
    pa.ArrowException,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What decoding raises for bytes that are no batches."""

_Part = tuple[dict[str, Any], pa.Table]


def encoded(batches: Sequence[Batch], free_ids: Sequence[int]) -> bytes:
    """Some batches, and the first number that each may give out as an id."""
    told, streams = [], []
    for free_id, batch in zip(free_ids, batches, strict=True):
        parts = [(head, _stream(table)) for head, table in _parts(batch)]
        told.append({"free_id": free_id, "parts": [head | {"bytes": len(stream)} for head, stream in parts]})
        streams += [stream for _, stream in parts]
    return b"\n".join([json.dumps(told).encode(), b"".join(streams)])


def decoded(content: memoryview) -> Iterator[tuple[int, Batch]]:
    """The inverse of `encoded`. Arrow's values are found to be valid; what ids name is for the reader to look at.
    Raises one of REFUSALS for what is something else."""
    end = bytes(content[:_LONGEST]).index(b"\n")
    place = end + 1
    for told in json.loads(bytes(content[:end])):
        parts: dict[str, list[Any]] = {kind: [] for kind in _KINDS}
        for part in told["parts"]:
            size = _count(part["bytes"])
            with pa.ipc.open_stream(pa.py_buffer(content[place : place + size])) as reader:
                table = reader.read_all()
            table.validate(full=True)
            if wrong := next(filter(None, map(wrong_time, table.columns)), None):
                raise ValueError(wrong)
            parts[part["kind"]].append(_KINDS[part["kind"]](part, table))
            place += size
        yield _count(told["free_id"]), _batch(parts)
    if place != len(content):
        raise ValueError("there is more than was told")


_LONGEST = 1 << 26  # bytes of what is told


def _parts(batch: Batch) -> Iterator[_Part]:
    for vertices in batch.vertices:
        told = {
            "kind": "vertices",
            "labels": vertices.labels,
            "id_name": vertices.id_name,
            "ids": vertices.ids is not None,
        }
        ids = to_arrow(np.zeros(vertices.count, np.int8)) if vertices.ids is None else vertices.ids
        yield told, _table([ids], vertices.properties)
    for edges in batch.edges:
        yield (
            {"kind": "edges", "type": edges.type},
            _table(map(to_arrow, (edges.source, edges.target)), edges.properties),
        )
    for kind, gone in (("gone_vertices", batch.gone_vertices), ("gone_edges", batch.gone_edges)):
        if len(gone):
            yield {"kind": kind}, _table([to_arrow(gone)])
    for kind, values in (("vertex_values", batch.vertex_values), ("edge_values", batch.edge_values)):
        for each in values:
            yield {"kind": kind, "name": each.name}, _table([to_arrow(each.of), each.values])
    for labels in batch.labels:
        told = {"kind": "labels", "labels": labels.labels, "id_name": labels.id_name}
        yield told, _table([to_arrow(labels.vertices)])


def _batch(parts: dict[str, list[Any]]) -> Batch:
    gone_vertices = np.concatenate([np.zeros(0, np.int32), *parts.pop("gone_vertices")])
    gone_edges = np.concatenate([np.zeros(0, np.int64), *parts.pop("gone_edges")])
    others: dict[str, Any] = {kind: tuple(found) for kind, found in parts.items()}
    return Batch(gone_vertices=gone_vertices, gone_edges=gone_edges, **others)


def _table(first: Any, others: pa.Table | None = None) -> pa.Table:
    """Columns without names, in front of named ones."""
    columns, names = list(first), [] if others is None else others.column_names
    return pa.Table.from_arrays([*columns, *(() if others is None else others.columns)], [""] * len(columns) + names)


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(allow_64bit=True)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table.unify_dictionaries())
    return bytes(sink.getvalue())


def _vertices(told: dict[str, Any], table: pa.Table) -> NewVertices:
    ids = _whole(table.column(0)) if told["ids"] is True else None
    if ids is not None and (ids.null_count or ids.type not in (pa.int64(), pa.string())):
        raise ValueError("vertices without an id")
    return NewVertices(tuple(map(_text, told["labels"])), _others(table, 1), ids, _id_name(told))


def _labels(told: dict[str, Any], table: pa.Table) -> NewLabels:
    return NewLabels(_numbers(table, 0, np.int32), tuple(map(_text, told["labels"])), _id_name(told))


def _id_name(told: dict[str, Any]) -> str | None:
    """Labels have none in what was written before December 2026."""
    name = told.get("id_name")
    return None if name is None else _text(name)


def _edges(told: dict[str, Any], table: pa.Table) -> NewEdges:
    return NewEdges(_text(told["type"]), _numbers(table, 0, np.int32), _numbers(table, 1, np.int32), _others(table, 2))


def _values(dtype: type) -> Callable[[dict[str, Any], pa.Table], NewValues]:
    return lambda told, table: NewValues(_numbers(table, 0, dtype), _text(told["name"]), _whole(table.column(1)))


_KINDS: dict[str, Callable[[dict[str, Any], pa.Table], Any]] = {
    "vertices": _vertices,
    "edges": _edges,
    "gone_vertices": lambda _, table: _numbers(table, 0, np.int32),
    "gone_edges": lambda _, table: _numbers(table, 0, np.int64),
    "vertex_values": _values(np.int32),
    "edge_values": _values(np.int64),
    "labels": _labels,
}


def _others(table: pa.Table, begin: int) -> pa.Table:
    """The named columns."""
    names = table.column_names[begin:]
    if len(names) != len(set(names)):
        raise ValueError("a name occurs twice")
    return table.select(range(begin, table.num_columns))


def _numbers(table: pa.Table, place: int, dtype: type) -> NDArray[Any]:
    column = table.column(place)
    if column.null_count or column.type != pa.from_numpy_dtype(dtype):
        raise TypeError(column.type)
    return np.ascontiguousarray(to_numpy(column))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _text(value: object) -> str:
    if not isinstance(value, str) or "\0" in value[:1]:
        raise TypeError(value)
    value.encode()
    return value


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError(value)
    return value
