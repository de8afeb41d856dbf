"""The Labelled Subgraph Query Benchmark: published counts on the example, hand-written SQL on a larger graph."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb
import pytest

import gquery
from benchmarks.lsqb.generate import generate
from benchmarks.lsqb.statements import CYPHER, SQL, SQL_TABLES

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.large


def load(data: Path, scale: str, layout: str) -> gquery.Graph:
    folder = data / "lsqb" / f"social-network-{scale}-{layout}-fk"
    if layout == "projected":
        return gquery.load(folder, super_labels={"Message": ["Post", "Comment"]})
    return gquery.load(folder, mapping=ROOT / "examples" / "lsqb_merged_fk.toml")


def sql_counts(folder: Path) -> dict[str, int]:
    """The nine counts over the projected-fk files. Ids of posts and comments never meet: `P` and `C` part them."""
    connection = duckdb.connect()
    for file in folder.glob("*_*_*.csv"):
        source, _, target = ({"Post": "P", "Comment": "C"}.get(part, "") for part in file.stem.split("_"))
        connection.execute(
            f"CREATE TABLE {file.stem} AS SELECT '{source}' || a AS source, '{target}' || b AS target"
            f" FROM read_csv('{file}', header=false, skip=1, delim='|', names=['a', 'b'], all_varchar=true)"
        )
    for table in SQL_TABLES:
        connection.execute(table)
    rows = {name: connection.execute(f"SELECT count(*) {body}").fetchone() for name, body in SQL.items()}
    return {name: row[0] for name, row in rows.items() if row is not None}


def expected_counts(data: Path) -> dict[str, int]:
    with open(data / "lsqb" / "expected_example.csv") as lines:
        return {f"q{number}": int(count) for number, count in csv.reader(lines)}


def test_sql_gives_the_published_counts(shared_data: Path) -> None:
    """The SQL that judges the larger graph is itself judged by the example."""
    counts = sql_counts(shared_data / "lsqb" / "social-network-sfexample-projected-fk")
    assert counts == expected_counts(shared_data)


@pytest.mark.parametrize("layout", ["projected", "merged"])
def test_example_counts(shared_data: Path, layout: str, device: str) -> None:
    graph = load(shared_data, "sfexample", layout)
    counts = {name: graph.query(text, device=device).scalar() for name, text in CYPHER.items()}
    assert counts == expected_counts(shared_data)


@pytest.mark.parametrize("layout", ["projected", "merged"])
def test_larger_graph_agrees_with_sql(shared_data: Path, layout: str, device: str) -> None:
    graph = load(shared_data, "sf0.003", layout)
    counts = {name: graph.query(text, device=device).scalar() for name, text in CYPHER.items()}
    assert counts == sql_counts(shared_data / "lsqb" / "social-network-sf0.003-projected-fk")


def test_generated_networks(tmp_path: Path, device: str) -> None:
    """The same seed gives the same network, another seed another; on it gquery counts what joins count."""
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        generate(tmp_path / name, 0.01, seed)
    read = {
        folder.name: {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
        for folder in tmp_path.iterdir()
    }
    assert read["one"] == read["again"] != read["other"]
    graph = gquery.load(tmp_path / "one", super_labels={"Message": ["Post", "Comment"]})
    counts = {name: graph.query(text, device=device).scalar() for name, text in CYPHER.items()}
    assert counts == sql_counts(tmp_path / "one")


@pytest.mark.parametrize("name", list(CYPHER))
def test_little_memory_is_enough(tmp_path: Path, device: str, name: str) -> None:
    generate(tmp_path / "network", 0.01)
    graph = gquery.load(tmp_path / "network", super_labels={"Message": ["Post", "Comment"]})
    count = graph.query(CYPHER[name], device=device).scalar()
    assert graph.query(CYPHER[name], device=device, memory_limit="2MB").scalar() == count
