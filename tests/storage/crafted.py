"""Saved graphs that lie: one place of a rich one is changed, and all checksums are made right again.

`damage` knows the manifest (every number, text, list and field), the buffers of every Arrow file (offsets, indices,
lengths, values), their metadata, whole files written anew in another shape, and what may stand in a file's place.
"""

from __future__ import annotations

import base64
import copy
import json
import os
import random
import shutil
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable

MANIFEST = "gquery.json"


def rich_graph() -> Snapshot:
    """Every kind of column that a load gives; parallel edges, loops, edges both ways, edges that lead to one vertex."""
    count = 40
    people = pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "name": [None if i % 7 == 3 else f"näme {i}" for i in range(count)],
            "kind": pa.array([f"k{i % 3}" for i in range(count)]).dictionary_encode(),
            "tags": pa.array([[f"t{j}" for j in range(i % 4)] for i in range(count)], pa.list_(pa.string())),
            "big": pa.array([f"{i}" * (i % 5) for i in range(count)], pa.large_string()),
            "score": [i / 3 for i in range(count)],
            "ok": [None if i % 5 == 0 else i % 2 == 0 for i in range(count)],
            "born": [date(1990 + i % 30, 1 + i % 12, 1) for i in range(count)],
            "seen": pa.array([datetime(2020, 1, 1 + i % 28, tzinfo=UTC) for i in range(count)]),
            "paid": [Decimal(i) / 100 for i in range(count)],
            "home": [{"street": f"s{i}", "number": i} for i in range(count)],
        }
    )
    cities = pa.table({"title": [f"city {i}" for i in range(6)], "size": pa.array(range(6), pa.int16())})
    city_ids = pa.chunked_array([[f"c{i}" for i in range(6)]])
    chance = np.random.default_rng(5)
    source, target = chance.integers(0, count, (2, 150)).astype(np.int32)
    source[:12], target[:12] = [0, 1, 2, 3, 4, 5, 0, 0, 7, 7, 8, 9], [1, 0, 2, 3, 4, 6, 1, 1, 7, 8, 7, 9]
    lives = (np.arange(count, dtype=np.int32), (count + np.arange(count) % 6).astype(np.int32))
    near = (np.array([40, 41, 42], np.int32), np.array([41, 42, 43], np.int32))
    return Snapshot(
        [
            VertexTable.from_arrow(("Person",), people["id"], people, "id"),
            VertexTable.from_arrow(("City", "Place"), city_ids, cities, None),
            VertexTable.from_arrow((), pa.chunked_array([[7, 8]]), pa.table({}), None),
        ],
        [
            EdgeTable.from_arrow("KNOWS", source, target, pa.table({"since": range(150)})),
            EdgeTable.from_arrow("LIVES_IN", *lives, pa.table({})),
            EdgeTable.from_arrow("NEAR", *near, pa.table({"km": [1.5, 2.5, None]})),
            EdgeTable.from_arrow("KNOWS", np.array([46, 3], np.int32), np.array([1, 47], np.int32), pa.table({})),
            EdgeTable.from_arrow("NEVER", np.zeros(0, np.int32), np.zeros(0, np.int32), pa.table({})),
        ],
    )


def damage(folder: Path, seed: int) -> str:
    """Changes one place of a saved graph; says what was done."""
    chance = random.Random(seed)
    document = json.loads((folder / MANIFEST).read_text("utf-8"))
    how = chance.choice(DAMAGES)
    told = how(folder, document["graph"], chance)
    _seal(folder, document)
    return f"{how.__name__} {told}"


def copied(saved: Path, folder: Path) -> Path:
    """A copy that shares unchanged files with the original: `damage` writes to none in place."""
    shutil.copytree(saved, folder, copy_function=os.link)
    return folder


def _seal(folder: Path, document: dict[str, Any]) -> None:
    """Makes sizes and checksums right, as someone who means harm would."""
    for entry in _entries(document["graph"]):
        path = folder / str(entry.get("name"))[:50].replace("\0", "").replace("\ud800", "")
        if path.is_file() and path.stat().st_size < 2**20:
            data = path.read_bytes()
            if "size" in entry and "keep" not in entry:
                entry.update(size=len(data), checksum=zlib.crc32(data))
        entry.pop("keep", None)
    _write_manifest(folder, document)


def _write_manifest(folder: Path, document: dict[str, Any]) -> None:
    document["checksum"] = zlib.crc32(json.dumps(document["graph"]).encode())
    (folder / MANIFEST).unlink()
    (folder / MANIFEST).write_text(json.dumps(document), "utf-8")


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    """The file entries in a manifest."""
    if isinstance(value, dict):
        if "checksum" in value:
            yield value
        for part in value.values():
            yield from _entries(part)
    elif isinstance(value, list):
        for part in value:
            yield from _entries(part)


# --- the manifest --------------------------------------------------------------------------------------------------

_NUMBERS: tuple[Callable[[int], Any], ...] = (
    lambda n: n + 1, lambda n: n - 1, lambda n: -n, lambda n: 0, lambda n: 1, lambda n: 2 * n, lambda n: 2**31 - 1,
    lambda n: 2**31, lambda n: 2**47, lambda n: 2**63 - 1, lambda n: 10**30, lambda n: float(n), lambda n: float("nan"),
    lambda n: True, lambda n: None, lambda n: str(n), lambda n: [n], lambda n: n + 2**32,
)  # fmt: skip
_TEXTS: tuple[Callable[[str], Any], ...] = (
    lambda t: "", lambda t: t + "x", lambda t: "\0same", lambda t: "\ud800", lambda t: None, lambda t: 5, lambda t: [t],
    lambda t: "KNOWS", lambda t: "Person", lambda t: "out", lambda t: "in", lambda t: "both", lambda t: t * 1000,
    lambda t: "../" + t, lambda t: t.upper(), lambda t: "00000000-0.arrow",
)  # fmt: skip


def manifest_value(folder: Path, graph: dict[str, Any], chance: random.Random) -> str:
    """Another number, text or truth value somewhere."""
    parent, key = chance.choice([place for place in _places(graph) if not isinstance(place[0][place[1]], (dict, list))])
    old = parent[key]
    if isinstance(old, bool):
        parent[key] = chance.choice([not old, None, int(old), "true"])
    elif isinstance(old, int):
        parent[key] = chance.choice(_NUMBERS)(old)
    elif isinstance(old, str):
        parent[key] = _bent(old, chance) if len(old) > 60 and chance.random() < 0.7 else chance.choice(_TEXTS)(old)
    else:
        parent[key] = chance.choice([0, "x", [], {}])
    if isinstance(parent, dict) and "checksum" in parent:
        parent["keep"] = True
    return f"{key}: {str(old)[:40]} -> {str(parent[key])[:40]!r}"


def _bent(text: str, chance: random.Random) -> str:
    """A serialised schema with some bytes changed."""
    data = bytearray(base64.b64decode(text))
    for _ in range(chance.choice([1, 1, 2, 8])):
        data[chance.randrange(len(data))] = chance.choice([0, 1, 2, 3, 0x7F, 0xFF, chance.randrange(256)])
    return base64.b64encode(bytes(data)).decode()


def manifest_shape(folder: Path, graph: dict[str, Any], chance: random.Random) -> str:
    """Something is gone, doubled, moved, or takes the place of something else."""
    parent, key = chance.choice(list(_places(graph)))
    other_parent, other_key = chance.choice(list(_places(graph)))
    kind = chance.choice(["remove", "double", "swap", "copy", "deep", "empty", "statistics"])
    if kind == "remove":
        del parent[key]
    elif kind == "double" and isinstance(parent, list):
        parent.insert(chance.randrange(len(parent) + 1), copy.deepcopy(parent[key]))
    elif kind == "swap" and not (_within(parent[key], other_parent) or _within(other_parent[other_key], parent)):
        parent[key], other_parent[other_key] = other_parent[other_key], parent[key]
    elif kind == "copy":
        parent[key] = copy.deepcopy(other_parent[other_key])
    elif kind == "deep":
        for _ in range(chance.choice([3, 500])):
            parent[key] = [parent[key]]
    elif kind == "empty":
        parent[key] = type(parent[key])() if parent[key] is not None else {}
    else:
        types = graph["statistics"]["types"]
        name = chance.choice(sorted(types))
        field = chance.choice(sorted(types[name]))
        types[name][field] = copy.deepcopy(types[chance.choice(sorted(types))][field])
    return f"{kind} {key}"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) below a value."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def _within(value: Any, container: Any) -> bool:
    return value is container or any(parent[key] is container for parent, key in _places(value))


# --- Arrow files ---------------------------------------------------------------------------------------------------


def buffer_value(folder: Path, graph: dict[str, Any], chance: random.Random) -> str:
    """Another offset, index, length or value in a buffer of an Arrow file."""
    path, data = _picked(folder, graph, chance)
    spans = [span for column in _read(data).columns for span in _spans(column, data)]
    if not spans:
        return "nothing to change"
    begin, size = chance.choice(spans)
    width = chance.choice([width for width in (1, 4, 4, 8, 8) if width <= size] or [1])
    values = np.frombuffer(data, f"i{width}", size // width, begin).copy()
    place = chance.randrange(len(values)) if chance.random() < 0.7 else chance.choice([0, -1, len(values) // 2])
    other = chance.randrange(len(values))
    bounds = np.iinfo(values.dtype)
    new = chance.choice(
        [values[place] + 1, values[place] - 1, 0, -1, bounds.max, bounds.min, min(2**30, bounds.max), values[other],
         chance.randrange(bounds.min, bounds.max), len(values), 39, 40, 47, 48]
    )  # fmt: skip
    if chance.random() < 0.2:
        values[place], values[other] = values[other], values[place]
    else:
        values[place] = np.array(int(new) & (2 ** (8 * width) - 1), f"u{width}").astype(f"i{width}")
    _put(path, data[:begin] + values.tobytes() + data[begin + values.nbytes :])
    return f"{path.name} at {begin}[{place}] of {width} bytes"


def metadata(folder: Path, graph: dict[str, Any], chance: random.Random) -> str:
    """Other bytes in what an Arrow file says of itself."""
    path, raw = _picked(folder, graph, chance)
    data = bytearray(raw)
    inside = np.zeros(len(data), np.bool_)
    for begin, size in (span for column in _read(raw).columns for span in _spans(column, raw)):
        inside[begin : begin + size] = True
    places = np.flatnonzero(~inside)
    places = places[np.frombuffer(raw, np.uint8)[places] != 0] if chance.random() < 0.5 else places
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        place = int(chance.choice(places))
        data[place] = chance.choice([0, 1, 2, 0x7F, 0x80, 0xFF, data[place] ^ 1 << chance.randrange(8)])
    _put(path, bytes(data))
    return path.name


def other_table(folder: Path, graph: dict[str, Any], chance: random.Random) -> str:
    """A whole Arrow file of another length, type, shape or encoding."""
    path, data = _picked(folder, graph, chance)
    table = _read(data)
    name, change = chance.choice(sorted(_CHANGES.items()))
    compression = chance.choice([None, None, "lz4", "zstd"])
    try:
        table = change(table, chance)
        sink = pa.BufferOutputStream()
        make = pa.ipc.new_stream if chance.random() < 0.05 else pa.ipc.new_file
        with make(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
            writer.write_table(table, max_chunksize=chance.choice([None, None, 3]))
    except (pa.ArrowException, IndexError, TypeError, ValueError):
        return "nothing to change"
    _put(path, sink.getvalue().to_pybytes())
    return f"{path.name} {name} {compression}"


def _cast(table: pa.Table, types: list[pa.DataType]) -> pa.Table:
    return table.cast(pa.schema(list(zip(table.column_names, types, strict=True))))


_OTHER_TYPES = (pa.int64(), pa.string(), pa.float64(), pa.int16(), pa.uint32(), pa.bool_())
_CHANGES: dict[str, Callable[[pa.Table, random.Random], pa.Table]] = {
    "same": lambda t, c: t,
    "shorter": lambda t, c: t.slice(0, max(0, len(t) - 1)),
    "longer": lambda t, c: pa.concat_tables([t, t.slice(0, 1)]),
    "turned": lambda t, c: t.take(pa.array(range(len(t) - 1, -1, -1))),
    "mixed": lambda t, c: t.take(pa.array(c.sample(range(len(t)), len(t)))),
    "repeated": lambda t, c: t.take(pa.array([0] * len(t))),
    "nulls": lambda t, c: t.take(pa.array([None if c.random() < 0.2 else i for i in range(len(t))], pa.int64())),
    "all null": lambda t, c: t.take(pa.array([None] * len(t), pa.int64())),
    "cast": lambda t, c: _cast(t, [c.choice(_OTHER_TYPES) for _ in t.schema]),
    "more columns": lambda t, c: t.append_column("more", pa.array(range(len(t)))),
    "no columns": lambda t, c: t.select([]),
    "empty": lambda t, c: t.slice(0, 0),
    "dictionary": lambda t, c: t.set_column(0, t.column_names[0], t.column(0).dictionary_encode()),
}  # fmt: skip


def other_type(folder: Path, graph: dict[str, Any], chance: random.Random) -> str:
    """A property of another type, with its most unlikely values, in the file and in the manifest."""
    table = chance.choice([table for table in graph["vertex_tables"] + graph["edge_tables"] if table["columns"]])
    name = chance.choice(sorted(table["columns"]))
    path = folder / table["columns"][name]["name"]
    count = len(_read(path.read_bytes()))
    values = chance.choice(_UNLIKELY)
    column = pa.concat_arrays([values] * (count // len(values) + 1)).slice(0, count)
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(table["types"])))
    schema = schema.set(schema.get_field_index(name), pa.field(name, values.type))
    table["types"] = base64.b64encode(schema.serialize()).decode()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, pa.schema([(name, values.type)])) as writer:
        writer.write_table(pa.table({name: column}))
    _put(path, sink.getvalue().to_pybytes())
    return f"{name} {values.type}"


_UNLIKELY = [
    pa.array([0, 1], pa.timestamp("us", "Nowhere/Nope")),
    pa.array([2**63 - 1, -(2**63) + 1, None], pa.timestamp("ns")),
    pa.array([2**31 - 1, -(2**31), 0], pa.date32()),
    pa.array([86_400_000 * 10**9, 0], pa.date64()),
    pa.array([2**63 - 1, -(2**63)], pa.duration("s")),
    pa.array([Decimal(10) ** 70, None], pa.decimal256(76, 0)),
    pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
    pa.array([float("nan"), float("-inf"), -0.0], pa.float32()),
    pa.array([2**64 - 1, 0], pa.uint64()),
    pa.array([b"\xff", b"", None]),
    pa.array([None, None]),
    pa.array([{}, None], pa.struct([])),
    pa.StructArray.from_arrays([pa.array([1, 2]), pa.array([3, 4])], ["a", "a"]),
    pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array([None, "x"])),
    pa.array([[[["x"]]], [[None]], None]),
    pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
    pa.array(["a", None], pa.string_view()),
    pa.array([[1], [2, 3]], pa.list_view(pa.int64())),
    pa.array(["\0", "'; DROP TABLE matches; --", "\U0001f0cf"]),
]


def other_place(folder: Path, graph: dict[str, Any], chance: random.Random) -> str:
    """Something else in a file's place, or two entries that name one file."""
    entries = list(_entries(graph))
    entry, other = chance.choice(entries), chance.choice(entries)
    path = folder / entry["name"]
    kind = chance.choice(["entry", "content", "link", "pipe", "folder", "sparse", "gone", "twice"])
    if kind == "entry":
        entry.update(other)
    elif kind == "twice":
        entry.update(name=other["name"], keep=True)
    elif kind == "content":
        _put(path, (folder / other["name"]).read_bytes())
    else:
        data = path.read_bytes()
        path.unlink(missing_ok=True)
        if kind == "link":
            (folder.parent / "outside").write_bytes(data)
            path.symlink_to(folder.parent / "outside")
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "sparse":
            with open(path, "wb") as file:
                file.write(data)
                file.truncate(2**36)
            entry["size"] = chance.choice([2**36, entry["size"]])
    return f"{kind} {entry['name']}"


def _picked(folder: Path, graph: dict[str, Any], chance: random.Random) -> tuple[Path, bytes]:
    """One of the files; those of edges more often."""
    entries = list(_entries(graph)) + 2 * list(_entries([graph["edge_tables"], graph["adjacencies"]]))
    path = folder / chance.choice(entries)["name"]
    return path, path.read_bytes()


def _put(path: Path, data: bytes) -> None:
    path.unlink()  # it may be shared with the original
    path.write_bytes(data)


def _read(data: bytes) -> pa.Table:
    with pa.ipc.open_file(pa.py_buffer(data)) as reader:
        return reader.read_all()


def _spans(column: pa.ChunkedArray, data: bytes) -> Iterator[tuple[int, int]]:
    """Begin and size of the buffers of a column within its file."""
    start = pa.py_buffer(data).address
    for chunk in column.chunks:
        buffers = list(chunk.buffers())
        if pa.types.is_dictionary(chunk.type):
            buffers += chunk.dictionary.buffers()
        for buffer in buffers:
            if buffer is not None and buffer.size and 0 <= buffer.address - start < len(data):
                yield buffer.address - start, buffer.size


DAMAGES = (
    manifest_value,
    manifest_value,
    manifest_shape,
    buffer_value,
    buffer_value,
    metadata,
    other_table,
    other_place,
)
