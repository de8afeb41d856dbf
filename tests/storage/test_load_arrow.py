"""Arrow data from outside: what is not valid never reaches a reader that trusts it; every type is brought to a few."""

from __future__ import annotations

import datetime
import random
import struct
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import gquery
from gquery.errors import LoadError
from gquery.storage.load import from_arrow, load


def buffer(*numbers: int, type: type = np.int32) -> pa.Buffer:
    return pa.py_buffer(np.array(numbers, type))


def strings(*offsets: int, text: bytes = b"abc") -> pa.Array:
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, [None, buffer(*offsets), pa.py_buffer(text)])


def codes(*indices: int) -> pa.Array:
    return pa.DictionaryArray.from_buffers(
        pa.dictionary(pa.int32(), pa.string()), len(indices), [None, buffer(*indices)], pa.array(["a", "b"])
    )


def lists(*offsets: int, items: pa.Array | None = None) -> pa.Array:
    items = pa.array([1, 2, 3]) if items is None else items
    return pa.Array.from_buffers(pa.list_(items.type), len(offsets) - 1, [None, buffer(*offsets)], children=[items])


def views(*parts: tuple[int, int, int], text: bytes = b"x" * 40) -> pa.Array:
    """String views of (length, buffer, offset)."""
    data = b"".join(struct.pack("<i4sii", length, b"xxxx", index, offset) for length, index, offset in parts)
    return pa.Array.from_buffers(pa.string_view(), len(parts), [None, pa.py_buffer(data), pa.py_buffer(text)])


def run_ends(*ends: int, length: int = 3) -> pa.Array:
    type = pa.run_end_encoded(pa.int32(), pa.string())
    return pa.Array.from_buffers(type, length, [None], children=[pa.array(ends, pa.int32()), pa.array(["a", "b", "c"])])


WILD: dict[str, Any] = {
    "string offsets": lambda: strings(0, 1 << 30, 2, 3),
    "string offsets that fall": lambda: strings(0, 3, 1, 2),
    "string offsets below zero": lambda: strings(0, -5, 2, 3),
    "large string offsets": lambda: pa.Array.from_buffers(
        pa.large_string(), 3, [None, buffer(0, 1 << 40, 2, 3, type=np.int64), pa.py_buffer(b"abc")]
    ),
    "binary offsets": lambda: strings(0, 1 << 30, 2, 3).view(pa.binary()),
    "text that is not UTF-8": lambda: strings(0, 1, 2, 3, text=b"a\xffb"),
    "a cut character": lambda: strings(0, 1, 2, 3, text="aé".encode()),
    "dictionary indices": lambda: codes(0, 1, 1 << 20),
    "dictionary indices below zero": lambda: codes(0, -7, 1),
    "dictionary of bad text": lambda: pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 0], pa.int8()), strings(0, 1, 2, text=b"\xff\xfe"), safe=False
    ),
    "list offsets": lambda: lists(0, 1 << 30, 2, 3),
    "list of wild strings": lambda: lists(0, 1, 2, 3, items=strings(0, 1 << 30, 2, 3)),
    "struct of wild strings": lambda: pa.StructArray.from_arrays([strings(0, 1 << 30, 2, 3)], ["s"]),
    "string views past the end": lambda: views((20, 0, 0), (20, 0, 35), (20, 0, 0)),
    "string views of no buffer": lambda: views((20, 9, 0), (20, 0, 0), (20, 0, 0)),
    "list views": lambda: pa.Array.from_buffers(
        pa.list_view(pa.int64()), 3, [None, buffer(0, 1, 99), buffer(1, 1, 50)], children=[pa.array([1, 2, 3])]
    ),
    "run ends that fall": lambda: run_ends(2, 1, 3),
    "run ends below zero": lambda: run_ends(-2, 1, 3),
    "extension over wild strings": lambda: pa.ExtensionArray.from_storage(
        pa.json_(pa.string()), strings(0, 1 << 30, 2, 3)
    ),
    "decimals of too many digits": lambda: pa.Array.from_buffers(
        pa.decimal128(3, 0), 3, [None, buffer(10**9, 0, 1, 0, 2, 0, type=np.int64)]
    ),
}


class Stream:
    """Foreign code that gives its table by the C interface alone."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, schema: object = None) -> object:
        return self._table.__arrow_c_stream__(schema)


@pytest.mark.parametrize("kind", WILD)
def test_wild_arrays_are_refused(tmp_path: Path, kind: str) -> None:
    """As a property, as an id, as an end, by the C stream, and from a file."""
    array = WILD[kind]()
    table = pa.table({"id": [1, 2, 3], "x": array})
    ends = pa.table({"source": [1, 2, 3], "target": [1, 2, 3], "x": array})
    attempts = [
        lambda: from_arrow({"A": table}, {}),
        lambda: from_arrow({"A": Stream(table)}, {}),
        lambda: from_arrow({"A": table}, {}, id={"A": "x"}),
        lambda: from_arrow({"A": table.select(["id"])}, {("A", "R", "A"): ends}),
        lambda: from_arrow({"A": table.select(["id"])}, {("A", "R", "A"): ends}, ends={"R": ("x", "target")}),
    ]
    for attempt in attempts:
        with pytest.raises(LoadError) as caught:
            attempt()
        assert "(:A)" in str(caught.value)
        assert "column x" in str(caught.value)
    if "views" in kind or "run ends" in kind:
        return  # a writer would read out of bounds itself
    try:
        with pa.ipc.new_file(tmp_path / "A.arrow", table.schema) as writer:
            writer.write_table(table)
    except pa.ArrowException:
        return
    with pytest.raises(LoadError):
        load(tmp_path)


@pytest.mark.parametrize("format", ["arrow", "stream", "feather", "parquet"])
def test_damaged_files_of_arrow(tmp_path: Path, format: str) -> None:
    """Every byte of a small file changed in turn: a graph or a LoadError."""
    table = pa.table(
        {"id": ["a", "bb", "ccc"], "x": pa.array(["k", None, "k"]).dictionary_encode(), "l": [[1], [], [2, 3]]}
    )
    path = tmp_path / ("A.parquet" if format == "parquet" else "A.arrow")
    if format == "parquet":
        pa.parquet.write_table(table, path)
    elif format == "feather":
        pa.feather.write_feather(table, path, compression="lz4")
    else:
        with (pa.ipc.new_file if format == "arrow" else pa.ipc.new_stream)(path, table.schema) as writer:
            writer.write_table(table)
    data = path.read_bytes()
    source = random.Random(7)
    for at in range(0, len(data), max(1, len(data) // 300)):
        path.write_bytes(data[:at] + bytes([source.randrange(256)]) + data[at + 1 :])
        try:
            graph = load(tmp_path)
        except LoadError:
            continue
        for column in graph.snapshot.vertex_tables[0].columns.values():
            column.validate(full=True)


CATEGORIES = pa.DictionaryArray.from_arrays(pa.array([1], pa.uint32()), pa.array(["a", "b"], pa.string_view()))
"""As Polars gives them."""

TYPES: dict[str, tuple[Any, Any]] = {
    "float16": (pa.array([np.float16(1.5)], pa.float16()), 1.5),
    "date64": (pa.array([datetime.date(2020, 1, 2)], pa.date64()), datetime.date(2020, 1, 2)),
    "time32": (pa.array([5000], pa.time32("ms")), datetime.time(0, 0, 5)),
    "time64": (pa.array([5000], pa.time64("us")), datetime.time(0, 0, 0, 5000)),
    "timestamp of seconds": (pa.array([86400], pa.timestamp("s")), datetime.datetime(1970, 1, 2)),
    "binary": (pa.array([b"x\xff"]), b"x\xff"),
    "large binary": (pa.array([b"x"], pa.large_binary()), b"x"),
    "fixed binary": (pa.array([b"abc"], pa.binary(3)), b"abc"),
    "binary view": (pa.array([b"abc"], pa.binary_view()), b"abc"),
    "large string": (pa.array(["é"], pa.large_string()), "é"),
    "string view": (pa.array(["é" * 30], pa.string_view()), "é" * 30),
    "category": (pa.DictionaryArray.from_arrays(pa.array([1], pa.int8()), ["a", "b"]), "b"),
    "category that is null": (pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), ["a"]), None),
    "category of null": (pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array([None], pa.string())), None),
    "category of numbers": (pa.DictionaryArray.from_arrays(pa.array([0], pa.uint64()), [5]), 5),
    "category of views": (CATEGORIES, "b"),
    "list of categories of views": (pa.ListArray.from_arrays([0, 2], CATEGORIES.take([0, 0])), ["b", "b"]),
    "struct of categories of views": (pa.StructArray.from_arrays([CATEGORIES], ["a"]), {"a": "b"}),
    "decimal32": (pa.array([Decimal("1.5")], pa.decimal32(5, 1)), Decimal("1.5")),
    "decimal256": (pa.array([Decimal("1.5")], pa.decimal256(60, 1)), Decimal("1.5")),
    "decimal of hundreds": (pa.array([Decimal(100)], pa.decimal128(5, -2)), Decimal(100)),
    "null": (pa.nulls(1), None),
    "list of nothing": (pa.array([[]]), []),
    "list view": (pa.array([[1]], pa.list_view(pa.int8())), [1]),
    "large list view": (pa.array([[1, 2]], pa.large_list_view(pa.int8())), [1, 2]),
    "list view that is null": (pa.array([None], pa.list_view(pa.int8())), None),
    "fixed list": (pa.array([[1, 2]], pa.list_(pa.int8(), 2)), [1, 2]),
    "list of categories": (pa.array([["a"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))), ["a"]),
    "struct": (pa.array([{"a": 1, "b": ["x"]}]), {"a": 1, "b": ["x"]}),
    "list of list views": (pa.array([[[1], None]], pa.list_(pa.list_view(pa.int8()))), [[1], None]),
    "list of uuids": (
        pa.ListArray.from_arrays([0, 1], pa.array([b"1" * 16], pa.uuid())),
        ["31313131-3131-3131-3131-313131313131"],
    ),
    "list of durations": (pa.array([[5]], pa.list_(pa.duration("s"))), [pa.MonthDayNano([0, 0, 5_000_000_000])]),
    "runs of categories": (pa.RunEndEncodedArray.from_arrays([1], CATEGORIES), "b"),
    "runs": (pa.RunEndEncodedArray.from_arrays([1], ["a"]), "a"),
    "bool8": (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([3], pa.int8())), True),
    "uuid": (pa.array([b"\0" * 15 + b"\1"], pa.uuid()), "00000000-0000-0000-0000-000000000001"),
    "json": (pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array(["{}"])), "{}"),
    "uint64": (pa.array([2**63 - 1], pa.uint64()), 2**63 - 1),
    "chunks": (pa.chunked_array([pa.array([], pa.int8()), pa.array([3], pa.int8())]), 3),
}


@pytest.mark.parametrize("kind", TYPES)
def test_types(kind: str) -> None:
    array, value = TYPES[kind]
    graph = gquery.from_arrow({"A": pa.table({"id": [1], "x": array})}, {})
    assert graph.query("MATCH (a:A) RETURN a.x").scalar() == value
    assert graph.query("MATCH (a:A) RETURN DISTINCT a.x").scalar() == value


def test_names_that_are_odd() -> None:
    table = pa.table([pa.array([1]), pa.array([2])], names=["id", ""])
    assert gquery.from_arrow({"A": table}, {}).vertex_count == 1
    with pytest.raises(LoadError, match="same name"):
        from_arrow({"A": pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["id", "x", "x"])}, {})


@pytest.mark.parametrize("name", ["", "a\0"])
def test_fields_that_are_no_keys_of_a_map(name: str) -> None:
    """The value of an empty one was lost in what a query computed, and NUL was a fault of gquery's."""
    values = pa.StructArray.from_arrays([pa.array([1])], [name])
    for column in (values, pa.array([[{name: 1}]])):
        with pytest.raises(LoadError, match="cannot be a property"):
            from_arrow({"A": pa.table({"id": [1], "x": column})}, {})


def test_streams_that_fail() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"id": [1]})
        raise RuntimeError("the source went away")

    schema = pa.schema([("id", pa.int64())])
    with pytest.raises(LoadError, match="the source went away"):
        from_arrow({"A": pa.RecordBatchReader.from_batches(schema, batches())}, {})

    class Broken:
        def __arrow_c_stream__(self, schema: object = None) -> object:
            raise ZeroDivisionError("mine")

    class Empty:
        def __arrow_c_stream__(self, schema: object = None) -> object:
            return None

    for value, words in ((Broken(), "mine"), (Empty(), "cannot be taken"), (Broken, "no table")):
        with pytest.raises(LoadError, match=words):
            from_arrow({"A": value}, {})


def _with_offset(time: datetime.time | None, seconds: int | None) -> pa.Array:
    type_ = pa.struct([("time", pa.time64("us")), ("offset_seconds", pa.int32())])
    return pa.array([{"time": time, "offset_seconds": seconds}, None], type_)


_ONE = datetime.time(1, 2, 3)
_NO_TIMES = {
    "lacks one of the two": (_with_offset(_ONE, None), _with_offset(None, 60)),
    "a day or more": (_with_offset(_ONE, 86_400), _with_offset(_ONE, -600_000)),
}


@pytest.mark.parametrize("reason", _NO_TIMES)
def test_offsets_that_no_time_has(reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They came out as errors of Python's, where rows were read."""
    for number, values in enumerate(_NO_TIMES[reason]):
        lists = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), values)
        for column in (values, lists, pa.StructArray.from_arrays([values], ["q"])):
            with pytest.raises(gquery.LoadError, match=reason) as error:
                gquery.from_arrow({"P": pa.table({"id": [1, 2], "at": column})}, {})
            assert "column at" in str(error.value)
        with monkeypatch.context() as patch:
            patch.setattr("gquery.storage.load.assembly.arrow_values.wrong_time", lambda column: None)
            gquery.from_arrow({"P": pa.table({"id": [1, 2], "at": values})}, {}).save(tmp_path / f"{number}.gq")
        with pytest.raises(gquery.LoadError, match=reason):
            gquery.open(tmp_path / f"{number}.gq").query("MATCH (a) RETURN a.at").rows()


@pytest.mark.parametrize("seconds", [-86_399, -86_340, 3601, 0])
def test_offsets_that_times_have(seconds: int) -> None:
    graph = gquery.from_arrow({"P": pa.table({"id": [1, 2], "at": _with_offset(_ONE, seconds)})}, {})
    offset = datetime.timezone(datetime.timedelta(seconds=seconds))
    assert [row[0] for row in graph.query("MATCH (a) RETURN a.at ORDER BY a.id").rows()] == [
        _ONE.replace(tzinfo=offset),
        None,
    ]
