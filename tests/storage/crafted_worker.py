"""Damages copies of a saved graph, seed by seed, opens each and asks it. Run by itself: a crash ends it.

Prints a seed before it is tried and what is wrong after it. An answer is right when it is that of a graph made of the
same tables anew, or of the undamaged one where a part of the damaged one cannot be read.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

import gquery
from gquery import session
from gquery.planner.search.costs import CPU
from gquery.session import Graph
from gquery.storage import indexes
from gquery.storage.graph import Snapshot
from gquery.storage.numbering import Numbering
from gquery.storage.persist import open_snapshot
from gquery.storage.tables import EdgeTable, VertexTable
from tests.storage.crafted import copied, damage

QUERIES = (
    "MATCH (a) RETURN count(*) AS n",
    "MATCH (a)-[r]-(b) RETURN count(*) AS n",
    "MATCH (a:Person)-[:KNOWS]->(b:Person)-[:KNOWS]->(a) RETURN count(*) AS n",
    "MATCH (a)-[:KNOWS]-(b)-[:KNOWS]-(c)-[:KNOWS]-(a) RETURN count(*) AS n",
    "MATCH (a:Person)-[:KNOWS]->(b)-[:LIVES_IN]->(c)<-[:LIVES_IN]-(a) RETURN count(*) AS n",
    "MATCH (a:Person)-[:LIVES_IN]->(c)-[:NEAR]->(d)<-[:LIVES_IN]-(b)<-[:KNOWS]-(a) RETURN count(*) AS n",
    "MATCH INDUCED (a)-[:KNOWS]->(b)-[:LIVES_IN]->(c) RETURN count(*) AS n",
    "MATCH (a:Person)-[r:KNOWS]->(b) WHERE r.since > 100 AND a.score < 9 RETURN id(a) AS a, id(b) AS b, r.since AS s",
    "MATCH (a:Person) RETURN a",
    "MATCH (a:Person)-[:KNOWS]->(b) WHERE a.id IN [0, 9, 21] RETURN a.name, id(b) AS b",
    "MATCH (a) WHERE id(a) = 'c3' RETURN labels(a) AS l",
    "MATCH (a:City)<-[r:LIVES_IN]-(b) RETURN a, r, labels(b) AS l",
    "MATCH (a:Person)-[:LIVES_IN]->(:City) WHERE NOT EXISTS { (a)-[:KNOWS]->(:City) } RETURN a.kind, count(*)",
)
SLOW = 60.0  # seconds that one damaged graph may take


def outcome(graph: Graph, text: str) -> Any:
    """The rows in some order, or the name of gquery's error; any other error is passed on."""
    try:
        table = graph.query(text).to_arrow()
    except gquery.GQueryError as error:
        return type(error).__name__
    return sorted(map(repr, zip(*map(shown, table.columns), strict=True)))


def shown(column: pa.ChunkedArray) -> list[Any]:
    try:
        return column.to_pylist()
    except (OverflowError, ValueError):  # a date that Arrow has and Python has not
        return column.cast(pa.string()).to_pylist() if pa.types.is_temporal(column.type) else [str(column)]


def answers(graph: Graph) -> dict[str, Any]:
    return {text: outcome(graph, text) for text in QUERIES}


def content(snapshot: Snapshot) -> tuple[list[Any], list[Any], Numbering]:
    """The tables of a graph, every column read, and which vertex is in which row."""
    return (
        [(table.labels, table.ids, pa.table(dict(table.columns)), table.id_name) for table in snapshot.vertex_tables],
        [(table.type, *map(pa.array, table.ends), pa.table(dict(table.columns))) for table in snapshot.edge_tables],
        snapshot.vertex_numbers,
    )


def rebuilt(vertices: list[Any], edges: list[Any], numbers: Numbering) -> Graph:
    """A graph of these tables, with nothing that was said of them."""
    ends = ((type_, source.to_numpy(), target.to_numpy(), columns) for type_, source, target, columns in edges)
    tables = [VertexTable.from_arrow(*table) for table in vertices]
    return Graph(Snapshot(tables, [EdgeTable.from_arrow(*each) for each in ends], numbers))


def wrong(folder: Path, whole: dict[str, Any]) -> list[str]:
    """What is wrong with how a damaged graph answers."""
    try:
        graph = gquery.open(folder)
    except gquery.LoadError:
        return []
    found, right_error = answers(graph), "LoadError"
    try:
        tables = content(open_snapshot(folder))
        right = whole if tables == whole["tables"] else answers(rebuilt(*tables))
    except gquery.LoadError:
        right, right_error = whole, "BindError"  # what cannot be read may have been all that had a label or a property
    try:
        graph.save(folder.parent / "again.gq")
        found["again"] = outcome(gquery.open(folder.parent / "again.gq"), QUERIES[0])
        right["again"] = right[QUERIES[0]]
    except gquery.LoadError:
        pass
    return [
        f"{text}: {str(answer)[:200]} instead of {str(right[text])[:200]}"
        for text, answer in found.items()
        if answer not in ("LoadError", right_error, right[text])
    ]


def main(saved: Path, first: int, step: int, seconds: float) -> None:
    """Tries the seeds first, first + step, ... until the time is up."""
    faulthandler.enable()
    session.CPU = replace(CPU, filters_weighed=-1.0)
    indexes.FEWEST, indexes.ENOUGH, indexes._PROBE = 4, 0, 0
    resource.setrlimit(resource.RLIMIT_AS, (2**36 + 2**33, 2**36 + 2**33))
    os.fsync = lambda _: None  # what is written need not outlive a power cut
    graph = gquery.open(saved)
    whole = answers(graph)
    assert not any(isinstance(answer, str) for answer in whole.values()), whole
    whole["tables"] = content(graph.snapshot)
    deadline = time.monotonic() + seconds
    seed, tried = first, 0
    with tempfile.TemporaryDirectory() as scratch:
        while time.monotonic() < deadline:
            print(f"seed {seed}", flush=True)
            folder = copied(saved, Path(scratch) / "damaged.gq")
            told = damage(folder, seed)
            started = time.monotonic()
            try:
                problems = wrong(folder, dict(whole))
            except Exception as error:  # any error that is not gquery's own is what is looked for
                problems = [f"{type(error).__name__}: {str(error)[:300]}"]
            if time.monotonic() - started > SLOW:
                problems.append("too slow")
            for problem in problems:
                print(f"WRONG seed {seed} ({told}): {problem}", flush=True)
            for entry in Path(scratch).iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            seed, tried = seed + step, tried + 1
    print(f"tried {tried}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
