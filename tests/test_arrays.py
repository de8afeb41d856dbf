"""Numbers between NumPy and Arrow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.arrays import comparable, filled, raised, to_arrow, to_numpy, to_scalar, truths

QUERIES = (
    "MATCH (a)-[:K]->(b)-[:K]->(c) RETURN count(*)",
    "MATCH (a:P)-[:K]->(b) WHERE a.id = 7 RETURN b.id, b.name",
    "MATCH (a:P)-[k:K]->(b) WHERE a.age < 30 AND b.name <> 'n3' RETURN a.id, k.since, b.age LIMIT 10",
    "MATCH (a:P) WHERE a.flag RETURN a.age, count(*)",
    "MATCH (a:P)-[k:K]->(b) WHERE a.age < $age RETURN a.id, b.name ORDER BY b.age LIMIT 10",
    "MATCH (a:P)-[:K]->(b) WITH b, count(*) AS n MATCH (b)-[:K]->(c) RETURN c.name, sum(n)",
)
ASK = """
import sys, gquery
gquery.open(sys.argv[1]).query(sys.argv[2], {"age": 5.5} if "$age" in sys.argv[2] else None).to_arrow()
print("pandas" in sys.modules, "duckdb" in sys.modules)
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    count = 40
    people = {
        "id": list(range(count)),
        "age": [float(i) for i in range(count)],
        "name": [f"n{i}" for i in range(count)],
        "flag": [i % 3 == 0 for i in range(count)],
    }
    ends = {
        "source": [i for i in range(count) for _ in range(3)],
        "target": [(i + j) % count for i in range(count) for j in (1, 2, 3)],
        "since": list(range(3 * count)),
    }
    path = tmp_path_factory.mktemp("saved") / "g.gq"
    gquery.from_arrow(vertices={"P": people}, edges={("P", "K", "P"): ends}).save(path)
    return path


@pytest.mark.parametrize("query", QUERIES)
def test_usual_queries_import_no_pandas(saved: Path, query: str) -> None:
    done = subprocess.run([sys.executable, "-c", ASK, saved, query], capture_output=True, text=True, check=True)
    needs_duckdb = "ORDER BY" in query or "WITH" in query or ", count(*)" in query
    assert done.stdout.split() == ["False", str(needs_duckdb)]


@pytest.mark.parametrize(
    "numbers",
    [
        np.arange(10),
        np.arange(20, dtype=np.int32)[::2],
        np.zeros(0, np.float64),
        np.array([True, False] * 9),
        np.ones(3, np.uint16),
    ],
)
def test_there_and_back(numbers: np.ndarray[Any, Any]) -> None:
    array = to_arrow(numbers)
    array.validate(full=True)
    assert array.equals(pa.array(numbers))
    if numbers.dtype == np.bool_:
        assert np.array_equal(truths(array.slice(3)), numbers[3:])
    else:
        assert np.array_equal(to_numpy(array.slice(2)), numbers[2:])
        assert to_numpy(array).dtype == numbers.dtype
        chunks = pa.chunked_array([array, array.slice(1)], array.type)
        assert np.array_equal(to_numpy(chunks), chunks.to_numpy())


def test_nulls() -> None:
    assert filled(pa.nulls(3), 7).tolist() == [7] * 3
    assert len(to_numpy(pa.chunked_array([pa.nulls(2)]))) == 2
    values = pa.array([1, None, 3, None], pa.int32())
    assert filled(values, 7).tolist() == [1, 7, 3, 7]
    assert filled(values.slice(1, 2), 7).tolist() == [7, 3]
    assert filled(values, 7).dtype == np.int32
    several = pa.chunked_array(
        [pa.array([True, None, False]), pa.array([], pa.bool_()), pa.array([None, True]).slice(1)]
    )
    assert truths(several).tolist() == [True, False, False, True]
    assert truths(pa.nulls(3, pa.bool_())).tolist() == [False] * 3


def test_values_to_compare() -> None:
    """Those that openCypher finds equal, in columns of other types, pieces and slices."""
    day = pa.array([0, 1, None], pa.date32())
    alike = [
        (pa.array([1, 2, None]), pa.array([1.0, 2.0, None])),
        (pa.array(["a", "b", "a"]), pa.array(["a", "b", "a"]).dictionary_encode()),
        (pa.array([[1], [], None]), pa.array([[1.0], [], None], pa.large_list(pa.float64()))),
        (pa.array([[1, 2], None]), pa.array([[1, 2], None], pa.list_(pa.int64(), 2))),
        (pa.array([{"a": 1, "b": [2]}, None]), pa.array([{"b": [2.0], "a": 1}, None])),
        (day, pa.array([0, 86_400_000, None], pa.date64())),
        (pa.array([1, None], pa.time32("s")), pa.array([10**9, None], pa.time64("ns"))),
        (pa.array([1], pa.timestamp("s", "Europe/Paris")), pa.array([10**6], pa.timestamp("us", "UTC"))),
    ]
    for one, other in alike:
        assert comparable(one) == comparable(other)
        assert comparable(pa.chunked_array([one[:1], one[1:]])) == comparable(other)
        assert comparable(one[1:]) == comparable(other)[1:]
        assert len(set(comparable(one))) == len(one) - (one.type == pa.string())
    assert comparable(day) != comparable(day.cast(pa.timestamp("ns")))
    assert comparable(pa.array([[True], [False]])) != comparable(pa.array([[1], [0]]))
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array([[True], [False]])])
    assert comparable(union[1:]) == comparable(pa.array([[False]]))


@pytest.mark.parametrize(
    ("value", "type"),
    [
        ("", pa.string()),
        ("naïve", pa.string()),
        (5, pa.int64()),
        (-(2**63), pa.int64()),
        (5, pa.int8()),
        (0.5, pa.float64()),
        (True, pa.bool_()),
    ],
)
def test_scalars(value: object, type: pa.DataType) -> None:
    assert to_scalar(value, type).equals(pa.scalar(value, type))


def test_scalars_that_do_not_fit() -> None:
    with pytest.raises((pa.ArrowInvalid, OverflowError)):
        to_scalar(2**63, pa.int64())
    with pytest.raises((pa.ArrowInvalid, OverflowError)):
        to_scalar(300, pa.int8())


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_numbers_and_another_one(dtype: type[np.signedinteger[Any]]) -> None:
    for numbers in ([], [0], [-3, 2**31 - 1, 5]):
        found = pa.array(raised(np.array(numbers, dtype), 2**40))
        assert found.equals(pa.array([number + 2**40 for number in numbers], pa.int64()))
