"""gquery, Ladybug and plain DuckDB joins side by side on a property graph of 10,000 vertices and 50,000 edges.

Warm: every engine answers each query a few times before it is timed, then the engines take turns, and the median of the
runs is shown. Every answer is checked against the others. Run with `make benchmark`.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

import gquery

VERTICES, EDGES, SEED = 10_000, 50_000, 7
LABELS = ("Person", "Company", "Account", "Device", "City")
TYPES = ("KNOWS", "WORKS_AT", "OWNS", "USES", "LIVES_IN")
ENDS = {
    "KNOWS": ("Person", "Person"),
    "WORKS_AT": ("Person", "Company"),
    "OWNS": ("Person", "Account"),
    "USES": ("Person", "Device"),
    "LIVES_IN": ("Person", "City"),
}
SHARES = {"KNOWS": 30_000, "WORKS_AT": 5_000, "OWNS": 5_000, "USES": 5_000, "LIVES_IN": 5_000}
SIZES = {"Person": 5_000, "Company": 500, "Account": 2_500, "Device": 1_500, "City": 500}
RUNS = 9


@dataclass(frozen=True)
class Question:
    """One pattern in Cypher (gquery's and Ladybug's differ in the return) and in SQL."""

    name: str
    cypher: str
    sql: str


QUESTIONS = (
    Question(
        "triangle",
        "MATCH (a:Person)-[:KNOWS]->(b:Person)-[:KNOWS]->(c:Person), (a)-[:KNOWS]->(c) RETURN count(*) AS n",
        "SELECT count(*) FROM KNOWS x JOIN KNOWS y ON x.t = y.s JOIN KNOWS z ON z.s = x.s AND z.t = y.t",
    ),
    Question(
        "4-cycle",
        "MATCH (a:Person)-[:KNOWS]->(b:Person)-[:KNOWS]->(c:Person)-[:KNOWS]->(d:Person)-[:KNOWS]->(a) "
        "RETURN count(*) AS n",
        "SELECT count(*) FROM KNOWS w JOIN KNOWS x ON w.t = x.s JOIN KNOWS y ON x.t = y.s "
        "JOIN KNOWS z ON y.t = z.s AND z.t = w.s",
    ),
    Question(
        "2-hop, filtered",
        "MATCH (a:Person)-[:KNOWS]->(b:Person)-[:KNOWS]->(c:Person) WHERE a.age > 60 AND c.age < 20 "
        "RETURN a.id AS a, c.id AS c",
        "SELECT a.id AS a, c.id AS c FROM Person a JOIN KNOWS x ON x.s = a.id JOIN KNOWS y ON y.s = x.t "
        "JOIN Person c ON c.id = y.t WHERE a.age > 60 AND c.age < 20",
    ),
    Question(
        "6-vertex pattern",
        "MATCH (a:Person)-[:KNOWS]->(b:Person), (a)-[:WORKS_AT]->(w:Company)<-[:WORKS_AT]-(b), "
        "(a)-[:LIVES_IN]->(l:City), (b)-[:USES]->(d:Device), (a)-[:OWNS]->(o:Account) RETURN count(*) AS n",
        "SELECT count(*) FROM KNOWS k JOIN WORKS_AT p ON p.s = k.s JOIN WORKS_AT q ON q.s = k.t AND q.t = p.t "
        "JOIN LIVES_IN l ON l.s = k.s JOIN USES u ON u.s = k.t JOIN OWNS o ON o.s = k.s",
    ),
)


def tables() -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """Vertices by label and edges by type; no two edges of a type share both ends, and none is a loop."""
    random = np.random.default_rng(SEED)
    first, vertices = {}, {}
    begin = 0
    for label, size in SIZES.items():
        first[label] = begin
        ids = np.arange(begin, begin + size)
        vertices[label] = pa.table({"id": ids, "age": random.integers(0, 80, size)})
        begin += size
    edges = {}
    for type_, count in SHARES.items():
        source, target = ENDS[type_]
        skewed = (SIZES[source] * random.random(count * 3) ** (1.5 if type_ == "KNOWS" else 1)).astype(np.int64)
        pairs = np.stack([skewed, random.integers(0, SIZES[target], count * 3)], 1)
        pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        pairs = random.permutation(pairs)[:count]
        edges[type_] = pa.table({"s": pairs[:, 0] + first[source], "t": pairs[:, 1] + first[target]})
    return vertices, edges


def open_gquery(vertices: dict[str, pa.Table], edges: dict[str, pa.Table]) -> Callable[[Question], int]:
    graph = gquery.from_arrow(
        vertices=vertices, edges={(ENDS[name][0], name, ENDS[name][1]): table for name, table in edges.items()}
    )

    def answer(question: Question) -> int:
        return _size(graph.query(question.cypher, mode="repeatable elements").to_arrow())  # as Ladybug and SQL do

    return answer


def open_duckdb(vertices: dict[str, pa.Table], edges: dict[str, pa.Table]) -> Callable[[Question], int]:
    import duckdb

    connection = duckdb.connect()
    for name, table in {**vertices, **edges}.items():
        connection.register("given", table)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")

    def answer(question: Question) -> int:
        return _size(connection.sql(question.sql).to_arrow_table())

    return answer


def open_ladybug(vertices: dict[str, pa.Table], edges: dict[str, pa.Table]) -> Callable[[Question], int]:
    import ladybug

    folder = Path(tempfile.mkdtemp(prefix="ladybug-"))
    connection: Any = ladybug.Connection(ladybug.Database(str(folder / "db")))
    for label, table in vertices.items():
        parquet.write_table(table, folder / f"{label}.parquet")
        connection.execute(f"CREATE NODE TABLE {label}(id INT64, age INT64, PRIMARY KEY(id))")
        connection.execute(f"COPY {label} FROM '{folder / label}.parquet'")
    for name, table in edges.items():
        parquet.write_table(table, folder / f"{name}.parquet")
        connection.execute(f"CREATE REL TABLE {name}(FROM {ENDS[name][0]} TO {ENDS[name][1]})")
        connection.execute(f"COPY {name} FROM '{folder / name}.parquet'")

    def answer(question: Question) -> int:
        return _size(connection.execute(question.cypher).get_as_arrow())

    return answer


def _size(table: pa.Table) -> int:
    """The count when the answer is one, the number of rows otherwise."""
    return int(table.column(0)[0].as_py()) if table.shape == (1, 1) else table.num_rows


def main() -> None:
    """Prints the table: medians in ms, and how many times faster gquery is."""
    vertices, edges = tables()
    engines = {
        "gquery": open_gquery(vertices, edges),
        "ladybug": open_ladybug(vertices, edges),
        "duckdb": open_duckdb(vertices, edges),
    }
    print(f"{'query':18}{'answer':>10}" + "".join(f"{name:>12}" for name in engines) + f"{'to next best':>14}")
    for question in QUESTIONS:
        answers = {name: {engine(question) for _ in range(3)} for name, engine in engines.items()}
        if len(set.union(*answers.values())) != 1:
            raise SystemExit(f"{question.name}: the engines disagree: {answers}")
        times: dict[str, list[float]] = {name: [] for name in engines}
        for _ in range(RUNS):
            for name, engine in engines.items():
                began = time.perf_counter()
                engine(question)
                times[name].append((time.perf_counter() - began) * 1000)
        medians = {name: statistics.median(values) for name, values in times.items()}
        ratio = min(medians["ladybug"], medians["duckdb"]) / medians["gquery"]
        shown = "".join(f"{medians[name]:12.2f}" for name in engines)
        print(f"{question.name:18}{answers['gquery'].pop():>10,}{shown}{ratio:13.1f}x")


if __name__ == "__main__":
    main()
