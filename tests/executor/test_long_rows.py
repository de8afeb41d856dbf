"""Rows that have far more bytes than others: they count against the memory limit, and few of them are made at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.executor.progress import Control
from gquery.executor.relational.elements import ElementWriter
from gquery.executor.relational.widths import BATCH_BYTES, Copies, element_widths, held_bytes
from gquery.planner.ir.expr import Kind, Type

COUNT = 2_000
_LISTS = "MATCH (a:P) WHERE a.id < 10 WITH a, CASE WHEN a.id = 1 THEN range(1, 400000) ELSE [] END AS l "
REPEATED = {
    "match": _LISTS + "MATCH (m:P) WHERE m.x = a.x RETURN m.id, l",
    "condition": _LISTS + "MATCH (m:P) WHERE m.x = a.x AND size(l) > m.id RETURN m.id, l",
    "optional": _LISTS + "OPTIONAL MATCH (m:P) WHERE m.x = a.x RETURN m.id, l",
    "subquery": _LISTS + "CALL (a) { MATCH (m:P) WHERE m.x = a.x RETURN m } RETURN m.id, l",
    "beside a subquery": _LISTS + "CALL { MATCH (m:P) RETURN m } RETURN m.id, l",
    "subquery's list": "MATCH (m:P) CALL { RETURN range(1, 400000) AS l } RETURN m.id, l",
    "collected": "MATCH (m:P) RETURN m.id, COLLECT { UNWIND range(1, 400000) AS i RETURN i } AS l",
}


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    return gquery.from_arrow({"P": {"id": np.arange(COUNT), "x": np.arange(COUNT) % 10}}, {})


@pytest.mark.parametrize("name", REPEATED)
def test_a_long_row_is_repeated_in_parts(name: str, graph: gquery.Graph) -> None:
    """Of the rows it was the average that counted, or nothing: batches had gigabytes."""
    rows = long = 0
    for batch in graph.query(REPEATED[name], memory_limit="200MB").reader():
        assert batch.nbytes < BATCH_BYTES
        rows += batch.num_rows
        long += sum(length > 0 for length in batch.column("l").value_lengths().to_pylist())
    of_one = COUNT // 10
    assert (rows, long) == {
        "match": (COUNT, of_one),
        "condition": (of_one, of_one),
        "optional": (COUNT, of_one),
        "subquery": (COUNT, of_one),
        "beside a subquery": (10 * COUNT, COUNT),
    }.get(name, (COUNT, COUNT))


def test_parts_have_no_more_bytes_than_a_batch() -> None:
    random = np.random.default_rng(5)
    texts = pa.array(["x" * (3_000_000 if number % 50 == 7 else number) for number in range(100)])
    rows = pa.table({"id": pa.array(range(100)), "text": texts})
    copies = Copies(rows, Control())
    places = random.integers(0, 100, 1000)
    parts = list(copies.parts(places))
    assert np.concatenate([places[part] for part in parts]).tolist() == places.tolist()
    sizes = [rows.take(pa.array(places[part])).nbytes for part in parts]
    assert max(sizes) < 1.1 * BATCH_BYTES
    assert len(parts) < 2 * (sum(sizes) / BATCH_BYTES) + 1
    assert list(copies.parts(places[:0])) == []


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, None, 3]),
        pa.array([True, False, None]),
        pa.array(["a", None, "abc" * 50]),
        pa.array([[1, 2], None, [3] * 200]),
        pa.array([["a", "b"], None, ["c" * 30] * 20]),
        pa.array([{"a": 1, "b": "x" * 90}, None, {"a": None, "b": ""}]),
        pa.array([[{"a": ["x" * 9]}], [], None]),
        pa.nulls(3),
    ],
)
def test_held_bytes(values: pa.Array) -> None:
    """About as many as Arrow counts, which are as many for a slice."""
    for array in (values, values.slice(1), pa.concat_arrays([values] * 40)):
        found = np.broadcast_to(held_bytes(array), len(array))
        assert abs(int(found.sum()) - array.nbytes) <= 10 * len(array) + 16


def test_a_row_that_is_too_long_is_refused(graph: gquery.Graph) -> None:
    """Whatever makes it: nothing but DuckDB counted what a row has, and that not what goes out of it."""
    ranges = ", ".join(f"range(i, 900000 + {number}) AS l{number}" for number in range(8))
    for text in (f"UNWIND [1] AS i RETURN {ranges}", f"MATCH (a {{id: 1}}) WITH a.id AS i RETURN {ranges}"):
        with pytest.raises(gquery.MemoryLimitError, match="one row needs"):
            graph.query(text, memory_limit="40MB").to_arrow()
        assert graph.query(text, memory_limit="300MB").to_arrow().num_rows == 1
    shared = "UNWIND [1] AS i WITH range(i, 900000) AS l RETURN " + ", ".join(f"l AS l{number}" for number in range(8))
    assert graph.query(shared, memory_limit="40MB").to_arrow().num_rows == 1


@pytest.mark.parametrize("kind", [Kind.NODE, Kind.RELATIONSHIP])
def test_the_bytes_of_elements_are_known_before_they_are_written(kind: Kind) -> None:
    """Those of numbers, days, labels and properties that others have were left out."""
    random, count = np.random.default_rng(2), 20_000
    numbers = np.arange(count)
    people = {"id": numbers, "f": numbers * 0.5, "s": [f"person {number}" for number in numbers]}
    ends = {end: random.integers(0, count, count) for end in ("source", "target")}
    several = {"P": people, ("Q", "Long"): {"id": numbers, "l": [["a", "b"]] * count, "n": numbers}}
    snapshot = gquery.from_arrow(several, {("P", "X", "P"): {**ends, "w": numbers}}).snapshot
    ids = pa.array(random.permutation(count), pa.int32() if kind is Kind.NODE else pa.int64())
    lists = pa.ListArray.from_arrays(pa.array([0, 5, 5, count], pa.int32()), ids)
    for values, type_ in ((ids, Type(kind)), (lists, Type(Kind.LIST, item=Type(kind)))):
        found = element_widths(snapshot, values, type_, 1)
        assert found is not None
        assert 0.9 < found.sum() / ElementWriter(snapshot).write(values, type_).nbytes < 1.2
        assert element_widths(snapshot, values, type_, 2**30) is None
    beside = pa.array(np.arange(count), ids.type)  # what is stored goes out as it is
    shared = element_widths(snapshot, beside, Type(kind), 1)
    assert shared is not None
    assert shared.sum() < 0.8 * ElementWriter(snapshot).write(beside, Type(kind)).nbytes
