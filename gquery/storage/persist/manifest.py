"""The manifest: a small JSON file that says which files are the graph, and everything about it that is not a column."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import secrets
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from gquery.errors import LoadError, shortened
from gquery.storage.counted import counts
from gquery.storage.counted.counts import Counts
from gquery.storage.edges import AdjacencyKey
from gquery.storage.numbering import Numbering
from gquery.storage.persist.files import FileEntry, open_regular, sync_directory
from gquery.storage.schema import Direction

NAME = "gquery.json"
FORMAT = "gquery graph"
_CONSECUTIVE, _SEGMENTS, _ORDERED = 1, 2, 3  # versions: tables numbered one after the other, in segments; with indexes
_VERSIONS = (_CONSECUTIVE, _SEGMENTS, _ORDERED)
DIRECTIONS: tuple[Direction, ...] = ("out", "in")  # in which the edges of each type are saved

_NUMBERS = {"vertex_segments", "edge_segments"}
_DATA_FILE = re.compile(r"[0-9a-f]{8}-\d+\.arrow")
_LOG = re.compile(r"changes-[0-9a-f]{16}\.log")
_UNFINISHED = re.compile(r"gquery\.[0-9a-f]{8}\.tmp")
_BEFORE, _BEHIND = b', "graph": ', b"}"  # what a graph stands between
_LARGEST = 64 * 2**20  # bytes of a manifest: some 10^5 columns. A file without end must not fill the memory


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class EdgeTableEntry:
    type: str
    count: int
    ends: FileEntry
    types: Mapping[str, pa.DataType]
    columns: dict[str, FileEntry]


@dataclass(frozen=True, slots=True)
class AdjacencyEntry:
    key: AdjacencyKey
    first: int
    rows: int
    simple: bool
    file: FileEntry


@dataclass(frozen=True, slots=True)
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


def folder_of(path: object) -> Path:
    """The path that a user gave. LoadError for what is none."""
    if isinstance(path, (str, os.PathLike)):
        text = os.fspath(path)
        if isinstance(text, str) and text and "\0" not in text and _is_encodable(text, os.fsencode):
            return Path(text)
    raise LoadError(f"{shortened(repr(path))} is not the path of a folder", hint="give a text or a pathlib.Path")


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a saved graph."""
    try:
        return (Path(path) / NAME).is_file()
    except (OSError, ValueError, TypeError):  # such a path there cannot be
        return False


def is_ours(name: str) -> bool:
    """Whether a file name is one that only a save, or a store, gives."""
    return any(pattern.fullmatch(name) for pattern in (_DATA_FILE, _LOG, _UNFINISHED))


def manifest_there(directory: Path) -> tuple[int, ...] | None:
    """What tells the manifest that a folder has now from those that it had; None where there is none."""
    try:
        status = os.stat(directory / NAME)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def log_name(digest: str) -> str:
    """The file of the changes since a manifest was written, if there is one."""
    return f"changes-{digest[:16]}.log"


def digest_of(manifest: Manifest) -> str:
    """What the digest of a manifest will be when it is read."""
    return hashlib.sha256(_text(_encode(manifest))).hexdigest()


def data_file_name(save: str, number: int) -> str:
    """A file name that no other save has; `save` is 8 random hexadecimal digits."""
    return f"{save}-{number}.arrow"


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Replace the manifest of a directory in one step, which every file of the new one must precede."""
    graph = _encode(manifest)
    version = _SEGMENTS if _NUMBERS & graph.keys() else _CONSECUTIVE
    version = _ORDERED if any("orders" in table for table in graph["vertex_tables"]) else version
    content = _text(graph)
    head = json.dumps({"format": FORMAT, "version": version, "checksum": zlib.crc32(content)}).encode()
    text = head[:-1] + _BEFORE + content + _BEHIND
    if len(text) > _LARGEST:
        raise LoadError("the graph has more tables and columns than a saved graph can hold", file=str(directory))
    unfinished = directory / f"gquery.{secrets.token_hex(4)}.tmp"
    with open(unfinished, "xb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, directory / NAME)
    sync_directory(directory)


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a saved graph; LoadError when there is none, it is damaged, or of another version."""
    path = directory / NAME
    try:
        document, graph = _parsed(_read(path))
        if document["format"] == FORMAT and document["version"] not in _VERSIONS:
            raise LoadError(
                f"the graph was saved in version {document['version']} of the format, this gquery reads those up to "
                f"{_ORDERED}",
                file=str(path),
                hint="load the graph from its source and save it again, or open it with the gquery that saved it",
            )
        if document["format"] != FORMAT or document["checksum"] != zlib.crc32(graph):
            raise _damaged(path)
        return replace(_decode(document["graph"]), digest=hashlib.sha256(graph).hexdigest())
    except (FileNotFoundError, NotADirectoryError):
        raise _absent(directory) from None
    except OSError as error:
        raise LoadError(f"the saved graph cannot be read: {error.strerror or error}", file=str(path)) from error
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        OverflowError,
        RecursionError,
        pa.ArrowException,
    ) as error:
        raise _damaged(path) from error


def _parsed(text: bytes) -> tuple[Any, bytes]:
    """The document, and what its checksum is taken of: that stands in the text, but in one of before November 2026."""
    if not text.startswith(b'{"'):
        document = json.loads(text, parse_constant=_refuse)
        return document, _text(document["graph"])
    head, _, content = text.removesuffix(_BEHIND).partition(_BEFORE)
    graph = json.loads(content, parse_constant=_refuse)
    return json.loads(head + _BEHIND, parse_constant=_refuse) | {"graph": graph}, content


def _read(path: Path) -> bytes:
    descriptor, _ = open_regular(str(path))
    with open(descriptor, "rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError("too long")
    return content


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _absent(directory: Path) -> LoadError:
    what = "is no saved graph" if directory.exists() else "does not exist"
    return LoadError(
        f"`{directory}` {what}",
        file=str(directory),
        hint="`save` makes such a folder; CSV, Parquet and edge lists are read by `gquery.load`",
    )


def _damaged(path: Path) -> LoadError:
    return LoadError(
        "the saved graph is damaged: its manifest does not have the content that was saved",
        file=str(path),
        hint="bring the folder back from a copy, or load the graph from its source and save it again",
    )


def _text(graph: Any) -> bytes:
    """What the checksum is taken of."""
    return json.dumps(graph).encode()


def _encode(manifest: Manifest) -> dict[str, Any]:
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
    return encoded


def _encode_numbers(name: str, numbers: Numbering) -> dict[str, list[tuple[int, int]]]:
    """Table and length of each segment; nothing when the tables are numbered one after the other."""
    if numbers.is_consecutive:
        return {}
    return {name: [(table, end - begin) for begin, end, table, _ in numbers.segments]}


def _decode(graph: dict[str, Any]) -> Manifest:
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
    **orders: Any,
) -> VertexTableEntry:
    (decoded_id_type,) = _decode_types(id_type).values()
    decoded_types, files = _decode_columns(types, columns)
    names = tuple(_name(label) for label in labels)
    is_id = pa.types.is_integer(decoded_id_type) or pa.types.is_string(decoded_id_type)
    is_id = is_id or pa.types.is_large_string(decoded_id_type)
    if not is_id or len(names) != len(set(names)) or not (id_name is None or id_name in decoded_types):
        raise ValueError(id_name)
    return VertexTableEntry(
        names,
        _count(count),
        id_name,
        decoded_id_type,
        _decode_file(**ids),
        decoded_types,
        files,
        *_decode_orders(decoded_types, **orders),
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
    if not _DATA_FILE.fullmatch(name) or not name.isascii():
        raise ValueError(name)
    return FileEntry(name, _count(size), _count(checksum))


def _name(text: object) -> str:
    """A label, type or property: any text of characters."""
    if not isinstance(text, str) or not _is_encodable(text, str.encode):
        raise ValueError(text)
    return text


def _is_encodable(text: str, encode: Callable[[str], bytes]) -> bool:
    try:
        encode(text)
    except UnicodeEncodeError:
        return False
    return True


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
