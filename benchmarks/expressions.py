"""Questions about expressions and scans alone: one label, a property of each type, and next to no pattern."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

VERTICES, SEED = 300_000, 7
_WRITTEN = ", ".join(str(number) for number in range(1, 98_000, 2))
_LISTS = ", ".join(f"[{number}, {number + 1}]" for number in range(20))
_DAYS = ", ".join(f"date('2020-{month:02d}-{day:02d}')" for month in range(1, 6) for day in range(1, 29))
QUESTIONS = {
    "round": "MATCH (a:P) RETURN sum(round(a.f))",
    "round to a digit": "MATCH (a:P) RETURN sum(round(a.f, 1))",
    "left": "MATCH (a:P) RETURN count(DISTINCT left(a.t, 3))",
    "left of computed": "MATCH (a:P) RETURN count(DISTINCT left(toUpper(a.t), 3))",
    "substring": "MATCH (a:P) RETURN count(DISTINCT substring(a.t, 1, 3))",
    "substring of computed": "MATCH (a:P) RETURN count(DISTINCT substring(a.t, a.i % 5, 3))",
    "computed index": "MATCH (a:P) RETURN sum(a.l[a.i % 3])",
    "index of a written list": "MATCH (a:P) RETURN sum([10, 20, 30][a.i % 3])",
    "lists are equal": "MATCH (a:P) WHERE a.l = [1, 2, 3] RETURN count(*)",
    "lists in order": "MATCH (a:P) WHERE a.l < [50, 2, 3] RETURN count(*)",
    "lists in lists": f"MATCH (a:P) WHERE tail(a.l) IN [{_LISTS}] RETURN count(*)",
    "in a stored list": "MATCH (a:P) WHERE a.i % 100 IN a.l RETURN count(*)",
    "whole numbers in a list": "MATCH (a:P) WHERE a.i IN [1, 5, 9, 1000, 2000] RETURN count(*)",
    "floats in a list": "MATCH (a:P) WHERE a.f IN [1.5, 2.5, 1000.0] RETURN count(*)",
    "texts in a list": "MATCH (a:P) WHERE a.t IN ['text 1', 'text 22', 'none'] RETURN count(*)",
    "days in a list": f"MATCH (a:P) WHERE a.d IN [{_DAYS}] RETURN count(*)",
    "computed in a list": "MATCH (a:P) WHERE a.i % 1000 IN [1, 5, 9, 1000, 2000] RETURN count(*)",
    "a long list": f"MATCH (a:P) WHERE a.i IN [{_WRITTEN}] RETURN count(*)",
    "computed in a long list": f"MATCH (a:P) WHERE a.i + 1 IN [{_WRITTEN}] RETURN count(*)",
    "whole number and float": "MATCH (a:P) WHERE a.i < a.f RETURN count(*)",
    "across vertices": "MATCH (a:P)-[:R]->(b:P) WHERE a.i < b.f RETURN count(*)",
    "float bound": "MATCH (a:P) WHERE a.i < 1000.5 AND a.f > 5 RETURN count(*)",
    "days": "MATCH (a:P) WHERE a.d >= date('2020-03-01') AND a.d < date('2020-04-01') RETURN count(*)",
    "floats computed": "MATCH (a:P) WHERE a.f * 2 < a.f + 10 RETURN count(*)",
    "rows": "MATCH (a:P) RETURN a.i + 1 AS i, a.f * 2 AS f, a.t AS t LIMIT 50000",
    "one row": "RETURN round(1.5) AS x, left('abc', 1) AS y, [1, 2, 3][1] AS z",
}  # fmt: skip


def write(folder: Path) -> Path:
    """The graph's source: a table of vertices with a property of each type, and a ring of edges."""
    if folder.exists():
        return folder
    folder.mkdir(parents=True)
    random = np.random.default_rng(SEED)
    numbers = random.integers(0, 100_000, VERTICES)
    items = pa.array(random.integers(0, 100, 3 * VERTICES), pa.int64())
    ids = np.arange(VERTICES)
    days = pa.array(18_262 + numbers % 1_000, pa.int32()).cast(pa.date32())
    parquet.write_table(
        pa.table({
            "id": ids, "i": numbers, "f": numbers / 2 + random.random(VERTICES).round(3), "d": days,
            "t": [f"text {number}" for number in numbers % 5_000],
            "l": pa.ListArray.from_arrays(pa.array(np.arange(0, 3 * VERTICES + 1, 3), pa.int32()), items),
        }), folder / "P.parquet"
    )  # fmt: skip
    parquet.write_table(pa.table({"source": ids, "target": np.roll(ids, 1)}), folder / "P_R_P.parquet")
    return folder
