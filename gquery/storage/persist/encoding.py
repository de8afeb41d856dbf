"""What a manifest says as JSON and back. Whatever cannot be what a save has written is a ValueError, a TypeError or a
LookupError."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from gquery.storage.counted import counts
from gquery.storage.edges import AdjacencyKey
from gquery.storage.numbering import Numbering
from gquery.storage.persist.entries import DIRECTIONS, AdjacencyEntry, EdgeTableEntry, Manifest, VertexTableEntry
from gquery.storage.persist.files import DATA_FILE, FileEntry


def encoded(manifest: Manifest) -> dict[str, Any]:
    return {
        "vertex_tables": [_encode_vertex_table(table) for table in manifest.vertex_tables],
        "edge_tables": [asdict(table) | {"types": _encode_types(table.types)} for table in manifest.edge_tables],
        "adjacencies": [asdict(entry) for entry in manifest.adjacencies],
        "statistics": counts.to_json(manifest.counts),
        "signatures": asdict(manifest.signatures) if manifest.signatures else None,
        **_encode_numbers("vertex_segments", manifest.vertex_numbers),
        **_encode_numbers("edge_segments", manifest.edge_numbers),
    }


def _encode_vertex_table(table: VertexTableEntry) -> dict[str, Any]:
    encoded = asdict(table) | {"id_type": _encode_types({"id": table.id_type}), "types": _encode_types(table.types)}
    if table.id_order is None and not table.orders:
        del encoded["id_order"], encoded["orders"]
    if not table.ids_repeat:
        del encoded["ids_repeat"]
    return encoded


def _encode_numbers(name: str, numbers: Numbering) -> dict[str, list[tuple[int, int]]]:
    """Table and length of each segment; nothing when the tables are numbered one after the other."""
    if numbers.is_consecutive:
        return {}
    return {name: [(table, end - begin) for begin, end, table, _ in numbers.segments]}


def decoded(graph: dict[str, Any]) -> Manifest:
    vertex_tables = tuple(_decode_vertex_table(**table) for table in graph["vertex_tables"])
    edge_tables = tuple(_decode_edge_table(**table) for table in graph["edge_tables"])
    manifest = Manifest(
        vertex_tables,
        edge_tables,
        tuple(_decode_adjacency(**entry) for entry in graph["adjacencies"]),
        counts.from_json(graph["statistics"]),
        _decode_file(**graph["signatures"]) if graph.get("signatures") else None,
        _decode_numbers(graph.get("vertex_segments"), [table.count for table in vertex_tables]),
        _decode_numbers(graph.get("edge_segments"), [table.count for table in edge_tables]),
    )
    _check_agreement(manifest)
    return manifest


def _check_agreement(manifest: Manifest) -> None:
    """ValueError when the parts of a manifest do not speak of one graph. What the files hold is not known here."""
    vertices, types = [table.count for table in manifest.vertex_tables], {table.type for table in manifest.edge_tables}
    keys = [entry.key for entry in manifest.adjacencies]
    wanted = {AdjacencyKey((type,), direction) for type in types for direction in DIRECTIONS}
    files = set(manifest.files())
    between = (row for entry in manifest.counts.types.values() for row in entry.between)
    agreed = (
        list(manifest.counts.vertices) == vertices
        and set(manifest.counts.types) == types
        and len(keys) == len(set(keys))
        and set(keys) == wanted
        and len(files) == len({file.name for file in files})
        and all(max(row.source, row.target) < len(vertices) for row in between)
    )
    if not agreed:
        raise ValueError("tables, adjacencies, statistics and files do not belong together")


def _decode_vertex_table(
    labels: list[str],
    count: int,
    id_name: str | None,
    id_type: str,
    ids: Any,
    types: str,
    columns: dict[str, Any],
    ids_repeat: bool = False,
    **orders: Any,
) -> VertexTableEntry:
    (decoded_id_type,) = _decode_types(id_type).values()
    decoded_types, files = _decode_columns(types, columns)
    names = tuple(_name(label) for label in labels)
    is_id = pa.types.is_integer(decoded_id_type) or pa.types.is_string(decoded_id_type)
    is_id = is_id or pa.types.is_large_string(decoded_id_type)
    if not is_id or len(names) != len(set(names)) or not (id_name is None or id_name in decoded_types):
        raise ValueError(id_name)
    if type(ids_repeat) is not bool:
        raise TypeError(ids_repeat)
    return VertexTableEntry(
        names,
        _count(count),
        id_name,
        decoded_id_type,
        _decode_file(**ids),
        decoded_types,
        files,
        *_decode_orders(decoded_types, **orders),
        ids_repeat,
    )


def _decode_orders(
    types: Mapping[str, pa.DataType], id_order: Any = None, orders: Any = None
) -> tuple[FileEntry | None, dict[str, FileEntry]]:
    if not (orders or {}).keys() <= types.keys():
        raise ValueError(orders)
    columns = {name: _decode_file(**file) for name, file in (orders or {}).items()}
    return None if id_order is None else _decode_file(**id_order), columns


def _decode_edge_table(type: str, count: int, ends: Any, types: str, columns: dict[str, Any]) -> EdgeTableEntry:
    return EdgeTableEntry(_name(type), _count(count), _decode_file(**ends), *_decode_columns(types, columns))


def _decode_adjacency(key: dict[str, Any], first: int, rows: int, simple: bool, file: Any) -> AdjacencyEntry:
    if type(simple) is not bool:
        raise TypeError(simple)
    decoded_key = AdjacencyKey(tuple(_name(name) for name in key["types"]), key["direction"])
    return AdjacencyEntry(decoded_key, _count(first), _count(rows), simple, _decode_file(**file))


def _decode_numbers(segments: list[list[int]] | None, counts: list[int]) -> Numbering:
    """The ids of tables that have so many rows. ValueError when the segments have others."""
    if segments is None:
        return Numbering.consecutive(counts)
    rows = [0] * len(counts)
    for table, count in segments:
        rows[_count(table)] += _count(count)
    if rows != counts:
        raise ValueError(segments)
    return Numbering([table for table, _ in segments], [count for _, count in segments])


def _decode_columns(types: str, columns: dict[str, Any]) -> tuple[Mapping[str, pa.DataType], dict[str, FileEntry]]:
    decoded_types = _decode_types(types)
    return decoded_types, {_name(name): _decode_file(**columns[name]) for name in decoded_types}


def _decode_file(name: str, size: int, checksum: int) -> FileEntry:
    if not DATA_FILE.fullmatch(name) or not name.isascii():
        raise ValueError(name)
    return FileEntry(name, _count(size), _count(checksum))


def _name(text: object) -> str:
    """A label, type or property: any text of characters."""
    if not isinstance(text, str):
        raise ValueError(text)
    text.encode()  # a UnicodeEncodeError is a ValueError
    return text


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**48:  # sums of counts fit into 64 bits
        raise ValueError(value)
    return value


def _encode_types(types: Mapping[str, pa.DataType]) -> str:
    """Arrow types by name, as a serialised Arrow schema: it holds every type there is."""
    return base64.b64encode(pa.schema(list(types.items())).serialize()).decode()


def _decode_types(text: str) -> Mapping[str, pa.DataType]:
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))
    types = {field.name: field.type for field in schema}
    if len(types) != len(schema):
        raise ValueError("a name occurs twice")
    for type in types.values():
        check_type(type)
    return types


def check_type(type: pa.DataType) -> None:
    """ValueError for a type that no load gives."""
    types = pa.types
    if types.is_primitive(type):
        return
    if types.is_union(type) or types.is_map(type) or types.is_run_end_encoded(type) or hasattr(type, "storage_type"):
        raise ValueError(type)
    if types.is_dictionary(type):
        check_type(type.value_type)
    for index in range(type.num_fields):
        check_type(type.field(index).type)
