"""Rows that have far more bytes than others: they count against the memory limit, and few of them are made at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.executor.relational.elements import ElementWriter
from gquery.executor.relational.widths import element_widths
from gquery.planner.ir.expr import Kind, Type

COUNT = 2_000


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    return gquery.from_arrow({"P": {"id": np.arange(COUNT), "x": np.arange(COUNT) % 10}}, {})


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
