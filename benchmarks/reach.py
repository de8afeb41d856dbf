"""Reachability and shortest paths on 500,000 vertices and 5,000,000 edges: gquery, igraph, Ladybug, networkx and
DuckDB's recursive queries side by side. `python -m benchmarks.reach [ENGINE ...]` prints the table of
`results/reach.md`.

Targets of edges are skewed, sources are not; there are loops and parallel edges. Engines have loaded the graph; each
question is asked several times, and the least CPU time of the process is shown, all threads together. Engines that can
answer for one pair at a time only are asked for one after the other, until they are through or have taken `PATIENCE`.
Answers are checked against each other. Engines that are not installed are left out.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import gquery

VERTICES, EDGES, SEED, HOPS, PAIRS, RUNS = 500_000, 5_000_000, 7, 4, 1_000, 20
PATIENCE = 30.0  # seconds of CPU time for a question
Ask = Callable[[], Any]


def edges() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    random = np.random.default_rng(SEED)
    skewed = (VERTICES * random.random(EDGES) ** 2).astype(np.int64)
    return random.integers(0, VERTICES, EDGES), skewed


def pairs() -> list[tuple[int, int]]:
    chosen = np.random.default_rng(SEED + 1).integers(0, VERTICES // 2, (PAIRS, 2))
    return [(int(one), int(other)) for one, other in chosen]


QUESTIONS = (
    f"reached within {HOPS} hops, counted",
    f"reached within {HOPS} hops, listed",
    "length of one shortest path",
    "all shortest paths of one pair, counted",
    f"lengths of {PAIRS:,} shortest paths, summed",
)


def of_gquery(source: Any, target: Any) -> tuple[Ask, ...]:
    graph = gquery.from_arrow(
        vertices={"P": {"id": pa.array(np.arange(VERTICES))}},
        edges={("P", "K", "P"): {"source": pa.array(source), "target": pa.array(target)}},
    )
    (one, other), *_ = asked = pairs()
    ends = {"a": one, "b": other}
    reach = f"MATCH (a {{id: $a}})-[:K*1..{HOPS}]->(b) RETURN "
    between = "MATCH (a {id: $a}), (b {id: $b}), p = "
    many = [{"a": first, "b": second} for first, second in asked]
    each = "UNWIND $pairs AS q MATCH (a {id: q.a}), (b {id: q.b}) MATCH p = ANY SHORTEST (a)-[:K]->+(b) "
    return (
        lambda: graph.query(reach + "count(DISTINCT b)", ends).scalar(),
        lambda: graph.query(reach + "DISTINCT b.id", ends).to_arrow().num_rows,
        lambda: graph.query(between + "ANY SHORTEST (a)-[:K]->+(b) RETURN length(p)", ends).scalar(),
        lambda: graph.query(between + "ALL SHORTEST (a)-[:K]->+(b) RETURN count(*)", ends).scalar(),
        lambda: graph.query(each + "RETURN sum(length(p))", {"pairs": many}).scalar(),
    )


def of_igraph(source: Any, target: Any) -> tuple[Ask, ...]:
    igraph = importlib.import_module("igraph")
    graph = igraph.Graph(n=VERTICES, edges=np.stack([source, target], axis=1), directed=True)
    (one, other), *_ = asked = pairs()

    def reached() -> list[int]:
        """Without the vertex itself, unless it is met again, which igraph does not say."""
        return list(graph.neighborhood(one, order=HOPS, mode="out", mindist=1))

    return (
        lambda: len(reached()),
        lambda: len(reached()),
        lambda: len(graph.get_shortest_path(one, other)) - 1,
        lambda: len(graph.get_all_shortest_paths(one, other)),
        lambda: summed(len(graph.get_shortest_path(*pair)) - 1 for pair in asked),
    )


def of_ladybug(source: Any, target: Any) -> tuple[Ask, ...]:
    ladybug = importlib.import_module("ladybug")
    folder = Path(tempfile.mkdtemp(prefix="ladybug-"))
    connection: Any = ladybug.Connection(ladybug.Database(str(folder / "db")))
    parquet.write_table(pa.table({"id": np.arange(VERTICES)}), folder / "p.parquet")
    parquet.write_table(pa.table({"source": source, "target": target}), folder / "k.parquet")
    connection.execute("CREATE NODE TABLE P(id INT64, PRIMARY KEY(id))")
    connection.execute("CREATE REL TABLE K(FROM P TO P)")
    connection.execute(f"COPY P FROM '{folder / 'p.parquet'}'")
    connection.execute(f"COPY K FROM '{folder / 'k.parquet'}'")
    asked = pairs()
    reach = f"MATCH (a:P {{id: $a}})-[:K* SHORTEST 1..{HOPS}]->(b:P) RETURN "
    between = "MATCH (a:P {id: $a})-[p:K* %s 1..30]->(b:P {id: $b}) RETURN "
    one = {"a": asked[0][0]}

    def value(query: str, pair: tuple[int, int]) -> int:
        return int(connection.execute(query, {"a": pair[0], "b": pair[1]}).get_all()[0][0])

    length = between % "SHORTEST" + "length(p)"
    return (
        lambda: connection.execute(reach + "count(b.id)", one).get_all()[0][0],
        lambda: connection.execute(reach + "b.id", one).get_as_arrow().num_rows,
        lambda: value(length, asked[0]),
        lambda: value(between % "ALL SHORTEST" + "count(*)", asked[0]),
        lambda: summed(value(length, pair) for pair in asked),
    )


def of_networkx(source: Any, target: Any) -> tuple[Ask, ...]:
    networkx = importlib.import_module("networkx")
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(range(VERTICES))
    graph.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
    (one, other), *_ = asked = pairs()

    def reached() -> list[int]:
        return [vertex for vertex in networkx.single_source_shortest_path_length(graph, one, HOPS) if vertex != one]

    return (
        lambda: len(reached()),
        lambda: len(reached()),
        lambda: networkx.shortest_path_length(graph, one, other),
        lambda: len(list(networkx.all_shortest_paths(graph, one, other))),
        lambda: summed(networkx.shortest_path_length(graph, *pair) for pair in asked),
    )


def of_duckdb(source: Any, target: Any) -> tuple[Ask | None, ...]:
    duckdb = importlib.import_module("duckdb")
    connection = duckdb.connect()
    k = pa.table({"s": source, "t": target})
    connection.register("given", k)
    connection.execute("CREATE TABLE k AS SELECT * FROM given ORDER BY s")
    (one, other), *_ = pairs()
    walk = (
        "WITH RECURSIVE w(v, d) AS (SELECT {one}, 0 UNION "
        "SELECT k.t, w.d + 1 FROM w JOIN k ON k.s = w.v WHERE w.d < {most}) "
    )
    reach = walk.format(one=one, most=HOPS) + f"SELECT {{}} FROM w WHERE v <> {one}"
    shortest = walk.format(one=one, most=8) + f"SELECT min(d) FROM w WHERE v = {other}"
    return (
        lambda: connection.execute(reach.format("count(DISTINCT v)")).fetchone()[0],
        lambda: len(connection.execute(reach.format("DISTINCT v AS v")).fetchnumpy()["v"]),
        lambda: connection.execute(shortest).fetchone()[0],
        None,
        None,
    )


ENGINES: dict[str, Callable[[Any, Any], tuple[Ask | None, ...]]] = {
    "gquery": of_gquery, "igraph": of_igraph, "ladybug": of_ladybug, "networkx": of_networkx, "duckdb": of_duckdb,
}  # fmt: skip


def summed(lengths: Iterator[int]) -> int | None:
    """The sum of what is worked out one after the other; None where that takes too long."""
    until, total = time.process_time() + PATIENCE, 0
    for length in lengths:
        if time.process_time() > until:
            return None
        total += length
    return total


def measured(ask: Ask, runs: int) -> tuple[Any, float]:
    """The answer, and milliseconds of CPU time."""
    least, answer = float("inf"), None
    for number in range(runs):
        began = time.process_time()
        answer = ask()
        least = min(least, 1000 * (time.process_time() - began))
        if number and least > 1_000:  # the first loads kernels
            break
    return answer, least


def told(cell: tuple[Any, float] | None) -> str:
    if cell is None:
        return "-"
    answer, least = cell
    return f"over {least:,.0f}" if answer is None else f"{answer:,} {least:,.2f}"


def main() -> None:
    source, target = edges()
    found: dict[str, list[tuple[Any, float] | None]] = {}
    for name in sys.argv[1:] or ENGINES:
        begin = ENGINES[name]
        try:
            asks = begin(source, target)
        except ModuleNotFoundError:
            continue
        found[name] = [None if ask is None else measured(ask, RUNS) for ask in asks]
        print(name, *map(told, found[name]), sep=" | ", file=sys.stderr, flush=True)
    print(f"{'question':44}" + "".join(f"{name:>20}" for name in found))
    for place, question in enumerate(QUESTIONS):
        cells = [found[name][place] for name in found]
        answers = {cell[0] for cell in cells if cell is not None and cell[0] is not None}
        if len(answers) > 1:
            raise SystemExit(f"{question}: the engines disagree: {answers}")
        print(f"{question:44}" + "".join(f"{told(cell):>20}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
