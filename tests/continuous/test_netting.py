"""Rows that are gone and others that are new, told apart by values that DuckDB finds equal or does not hold."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

import gquery
from gquery.values.elements import python_values

Duration = pa.MonthDayNano
ALIKE = [
    (Duration([0, 0, 1]), Duration([0, 0, 2])),
    (Duration([1, 0, 0]), Duration([0, 30, 0])),
    (Duration([0, 1, 0]), Duration([0, 0, 86_400 * 10**9])),
]


@pytest.mark.parametrize(("before", "after"), ALIKE)
@pytest.mark.parametrize("query", ["MATCH (a) RETURN a.x", "MATCH (a) RETURN [a.x]", "MATCH (a) RETURN a"])
def test_durations(before: Duration, after: Duration, query: str) -> None:
    """Their nanoseconds were lost, and a month that became 30 days had not changed. Also beside texts."""
    values = pa.table({"id": [1, 2], "x": pa.array([before, Duration([0, 0, 3])])})
    store = gquery.Store(gquery.from_arrow({"A": values, "B": {"id": [1], "x": ["a"]}}, {}))
    for asked in (query, f"{query}, count(*)"):
        rows = _rows(store.graph.query(asked).to_arrow())
        with store.watch(asked) as watch:
            store.execute("MATCH (a:A {id: 1}) SET a.x = $x", {"x": after})
            change = watch.next()
        assert change is not None
        assert (change.added.num_rows, change.removed.num_rows) == (1, 1)
        now = _rows(store.graph.query(asked).to_arrow())
        assert now - rows == _rows(change.added)
        assert rows - now == _rows(change.removed)
        store.execute("MATCH (a:A {id: 1}) SET a.x = $x", {"x": before})


def _rows(table: pa.Table) -> Counter[str]:
    columns = [[value for chunk in column.chunks for value in python_values(chunk)] for column in table.columns]
    return Counter(map(str, zip(*columns, strict=True)))
