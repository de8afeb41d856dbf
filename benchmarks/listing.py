"""Listing and grouping rows: gquery, Ladybug and DuckDB's SQL joins on a property graph of 500,000 people who know each
other 5,000,000 times.

Warm, with as many threads each, the engines in turn in one process; every answer ends as an Arrow table in memory and
is checked against the others. Shown are the least times of the runs: wall, and in brackets the CPU time of all threads.
`--shapes` asks some of the questions, `--engines` some of the engines.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

import gquery

PEOPLE, FRIENDSHIPS, SEED = 500_000, 5_000_000, 7
CITIES = 200
CHUNK = 1 << 16  # rows of a chunk of a column, as a file is read
ONE = 4_321  # the person that is looked up
COLUMNS = "id INT64, name STRING, age INT64, score DOUBLE, city STRING"


@dataclass(frozen=True)
class Question:
    """What is asked, in Cypher and in SQL. bar: whether it is one of the nine shapes of the mean."""

    name: str
    cypher: str
    sql: str
    bar: bool = True


_HOP = "MATCH (a:Person)-[:KNOWS]->(b:Person)"
_KNOWN = "MATCH (a:Person)-[k:KNOWS]->(b:Person)"
_TWO = "MATCH (a:Person)-[:KNOWS]->(b:Person)-[:KNOWS]->(c:Person)"
_JOIN = "FROM KNOWS k JOIN Person a ON a.id = k.s JOIN Person b ON b.id = k.t"

QUESTIONS = (
    Question("ids", f"{_HOP} RETURN a.id AS one, b.id AS other", f"SELECT a.id AS one, b.id AS other {_JOIN}"),
    Question(
        "ids and properties",
        f"{_HOP} RETURN a.id AS one, a.age AS x, b.id AS other, b.age AS y",
        f"SELECT a.id AS one, a.age AS x, b.id AS other, b.age AS y {_JOIN}",
    ),
    Question(
        "strings", f"{_HOP} RETURN a.name AS one, b.name AS other", f"SELECT a.name AS one, b.name AS other {_JOIN}"
    ),
    Question(
        "two hops, filtered",
        f"{_TWO} WHERE a.age > 74 AND c.age < 25 RETURN a.id AS one, c.id AS other",
        "SELECT a.id AS one, c.id AS other FROM Person a JOIN KNOWS x ON x.s = a.id JOIN KNOWS y ON y.s = x.t "
        "JOIN Person c ON c.id = y.t WHERE a.age > 74 AND c.age < 25",
    ),
    Question(
        "grouped by one end",
        f"{_HOP} RETURN a.city AS city, count(*) AS n",
        "SELECT a.city AS city, count(*) AS n FROM KNOWS k JOIN Person a ON a.id = k.s GROUP BY a.city",
    ),
    Question(
        "grouped by both ends",
        f"{_HOP} RETURN a.city AS x, b.city AS y, count(*) AS n",
        f"SELECT a.city AS x, b.city AS y, count(*) AS n {_JOIN} GROUP BY a.city, b.city",
    ),
    Question(
        "top 10 by degree",
        f"{_HOP} RETURN a.id AS one, count(*) AS n ORDER BY n DESC, one LIMIT 10",
        "SELECT s AS one, count(*) AS n FROM KNOWS GROUP BY s ORDER BY n DESC, one LIMIT 10",
    ),
    Question(
        "top 10 by an expression",
        f"{_HOP} RETURN a.id AS one, b.id AS other, a.score * b.score AS s ORDER BY s DESC, one, other LIMIT 10",
        f"SELECT a.id AS one, b.id AS other, a.score * b.score AS s {_JOIN} ORDER BY s DESC, one, other LIMIT 10",
    ),
    Question(
        "DISTINCT friends of friends",
        f"{_TWO} WHERE a.city = 'city 7' RETURN DISTINCT a.id AS one, c.id AS other",
        "SELECT DISTINCT a.id AS one, y.t AS other FROM Person a JOIN KNOWS x ON x.s = a.id JOIN KNOWS y ON y.s = x.t "
        "WHERE a.city = 'city 7'",
    ),
    Question(
        "rows of edges",
        f"{_KNOWN} RETURN a.id AS one, b.id AS other, k.cents AS cents",
        "SELECT s AS one, t AS other, cents FROM KNOWS",
        bar=False,
    ),
    Question(
        "sums by one end",
        f"{_KNOWN} RETURN a.city AS city, sum(k.cents) AS cents",
        "SELECT a.city AS city, sum(k.cents)::BIGINT AS cents FROM KNOWS k JOIN Person a ON a.id = k.s GROUP BY a.city",
        bar=False,
    ),
    Question(
        "sums by both ends",
        f"{_KNOWN} RETURN a.city AS x, b.city AS y, sum(k.cents) AS cents, max(b.age) AS age",
        "SELECT a.city AS x, b.city AS y, sum(k.cents)::BIGINT AS cents, max(b.age) AS age "
        f"{_JOIN} GROUP BY a.city, b.city",
        bar=False,
    ),
    Question(
        "top 10 by a sum",
        f"{_KNOWN} RETURN a.id AS one, sum(k.cents) AS cents ORDER BY cents DESC, one LIMIT 10",
        "SELECT s AS one, sum(cents)::BIGINT AS cents FROM KNOWS GROUP BY s ORDER BY cents DESC, one LIMIT 10",
        bar=False,
    ),
    Question(
        "top 10 edges",
        f"{_KNOWN} RETURN a.id AS one, b.id AS other, k.cents AS cents ORDER BY cents DESC, one, other LIMIT 10",
        "SELECT s AS one, t AS other, cents FROM KNOWS ORDER BY cents DESC, one, other LIMIT 10",
        bar=False,
    ),
    Question(
        "ids, SQL reads the edges alone",
        f"{_HOP} RETURN a.id AS one, b.id AS other",
        "SELECT s AS one, t AS other FROM KNOWS",
        bar=False,
    ),
    Question(
        "one person",
        f"MATCH (a:Person) WHERE a.id = {ONE} RETURN a.name AS name, a.age AS age",
        f"SELECT name, age FROM Person WHERE id = {ONE}",
        bar=False,
    ),
    Question(
        "two hops from one person",
        f"{_TWO} WHERE a.id = {ONE} RETURN DISTINCT c.id AS c",
        f"SELECT DISTINCT y.t AS c FROM KNOWS x JOIN KNOWS y ON y.s = x.t WHERE x.s = {ONE}",
        bar=False,
    ),
)


def tables() -> tuple[pa.Table, pa.Table]:
    """The people, in chunks as a file's columns are, and whom they know; no two edges share both ends, and none is a
    loop."""
    random = np.random.default_rng(SEED)
    ids = np.arange(PEOPLE)
    people = pa.table({
        "id": ids,
        "name": pa.array([f"person {number:x}" for number in random.permutation(PEOPLE * 16)[:PEOPLE].tolist()]),
        "age": random.integers(0, 80, PEOPLE),
        "score": random.random(PEOPLE),
        "city": pa.array([f"city {number}" for number in (CITIES * random.random(PEOPLE) ** 2).astype(int).tolist()]),
    })  # fmt: skip
    drawn = FRIENDSHIPS + FRIENDSHIPS // 5
    pairs = np.unique(
        (PEOPLE * random.random(drawn) ** 1.3).astype(np.int64) * PEOPLE + random.integers(0, PEOPLE, drawn)
    )
    pairs = random.permutation(pairs[pairs // PEOPLE != pairs % PEOPLE])[:FRIENDSHIPS]
    cents = random.integers(0, 100_000, len(pairs))
    knows = pa.table({"s": pairs // PEOPLE, "t": pairs % PEOPLE, "cents": cents})
    return _chunked(people), _chunked(knows)


def _chunked(table: pa.Table) -> pa.Table:
    return pa.Table.from_batches([pa.record_batch(batch) for batch in table.to_batches(max_chunksize=CHUNK)])


Answer = Callable[[Question], pa.Table]


def open_gquery(people: pa.Table, knows: pa.Table, threads: int) -> Answer:
    graph = gquery.from_arrow(vertices={"Person": people}, edges={("Person", "KNOWS", "Person"): knows})
    graph = graph.with_settings(threads=threads, mode="repeatable elements")  # as Ladybug and SQL do
    return lambda question: graph.query(question.cypher).to_arrow()


def open_duckdb(people: pa.Table, knows: pa.Table, threads: int) -> Answer:
    import duckdb

    connection = duckdb.connect(config={"threads": threads})
    for name, table in (("Person", people), ("KNOWS", knows)):
        connection.register("given", table)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    return lambda question: connection.sql(question.sql).to_arrow_table()


def open_ladybug(people: pa.Table, knows: pa.Table, threads: int) -> Answer:
    import ladybug

    folder = Path(tempfile.mkdtemp(prefix="ladybug-"))
    connection: Any = ladybug.Connection(ladybug.Database(str(folder / "db")), num_threads=threads)
    connection.execute(f"CREATE NODE TABLE Person({COLUMNS}, PRIMARY KEY(id))")
    connection.execute("CREATE REL TABLE KNOWS(FROM Person TO Person, cents INT64)")
    for name, table in (("Person", people), ("KNOWS", knows)):
        parquet.write_table(table, folder / f"{name}.parquet")
        connection.execute(f"COPY {name} FROM '{folder / name}.parquet'")
    return lambda question: pa.table(connection.execute(question.cypher).get_as_arrow())


ENGINES = {"gquery": open_gquery, "duckdb": open_duckdb, "ladybug": open_ladybug}


def _digest(found: pa.Table) -> object:
    """The same for answers of the same rows, in whatever order."""
    import duckdb

    names = ", ".join(f'"{name}"' for name in found.column_names)
    connection = duckdb.connect()
    connection.register("found", found)
    return tuple(connection.execute(f"SELECT count(*), sum(hash({names})) FROM found").fetchall()[0])


def _timed(answer: Answer, question: Question) -> tuple[float, float]:
    """Wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    table = answer(question)
    spent = time.perf_counter() - wall, time.process_time() - cpu
    del table
    return spent


def _mean(ratios: Sequence[float]) -> float:
    return math.prod(ratios) ** (1 / len(ratios)) if ratios else math.nan


def main() -> None:
    """Prints the table: least times in ms, and how many times gquery's each engine takes, wall and CPU."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES, help="gquery is always asked")
    parser.add_argument("--shapes", nargs="+", help="beginnings of the names of the questions that are asked")
    options = parser.parse_args()
    people, knows = tables()
    names = list(dict.fromkeys(("gquery", *options.engines)))
    engines = {name: ENGINES[name](people, knows, options.threads) for name in names}
    ratios: dict[str, list[tuple[float, float]]] = {name: [] for name in names[1:]}
    heads = "".join(f"{name:>18}" + (" " * 14 if name != "gquery" else "") for name in names)
    print(f"{'shape':31}{'rows':>10}{heads}", flush=True)
    for question in QUESTIONS:
        if options.shapes and not question.name.startswith(tuple(options.shapes)):
            continue
        rows, least = _asked(question, engines, options.runs)
        own = least["gquery"]
        line = f"{question.name:31}{rows:10,}{own[0]:9.1f} ({own[1]:6.1f})"
        for name, each in ratios.items():
            wall, cpu = (other / mine for other, mine in zip(least[name], own, strict=True))
            if question.bar:
                each.append((wall, cpu))
            line += f"{least[name][0]:9.1f} ({least[name][1]:6.1f}){wall:6.2f}x{cpu:6.2f}x"
        print(line, flush=True)
    for name, each in ratios.items():
        walls, cpus = zip(*each, strict=True) if each else ((), ())
        print(f"geometric mean of the nine beside {name}: {_mean(walls):.2f}x wall, {_mean(cpus):.2f}x CPU")


def _asked(question: Question, engines: dict[str, Answer], runs: int) -> tuple[int, dict[str, tuple[float, float]]]:
    """The number of rows, and each engine's least wall and CPU time in ms."""
    answers = {name: engine(question) for name, engine in engines.items()}
    if len({_digest(answer) for answer in answers.values()}) != 1:
        raise SystemExit(f"{question.name}: the engines disagree")
    rows = answers["gquery"].num_rows
    answers.clear()
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in engines}
    for _ in range(runs):
        for name, engine in engines.items():
            times[name].append(_timed(engine, question))
    least = {name: (1000 * min(w for w, _ in each), 1000 * min(c for _, c in each)) for name, each in times.items()}
    return rows, least


if __name__ == "__main__":
    main()
