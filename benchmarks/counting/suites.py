"""The queries: published graphs, patterns and counts, with the times that other systems were measured to take."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import gquery
from benchmarks.query_files import SMALL_PATTERNS, QueryFile, read_query
from gquery.executor.progress import Control

SNAP = {"enron": "email-Enron.txt.gz", "slashdot": "soc-Slashdot0902.txt.gz"}


@dataclass(frozen=True)
class Case:
    """One count. expected: None where nobody knows it; peers: milliseconds by system; group: rows that belong
    together."""

    data: Path
    graph: str
    name: str
    group: str
    query: QueryFile
    expected: int | None
    peers: dict[str, float | None]

    @property
    def text(self) -> str:
        return f"MATCH DIFFERENT NODES {self.query.pattern()} RETURN count(*) AS n"


@dataclass(frozen=True)
class Suite:
    """Cases with the limits under which they are counted. timeout: seconds by the clock, which also times what is
    counted."""

    name: str
    title: str
    threads: int
    timeout: float
    peers: tuple[str, ...]
    clock: type[Control] = Control


SUITES = {
    suite.name: suite
    for suite in (
        Suite("labelled", "100 labelled queries of 8, 12 and 16 vertices", 2, 10.0, ("DAF", "gMatch", "EGSM")),
        Suite("research", "Yeast, hprd and human, sparse and dense queries", 1, 4.0, ("DAF",)),
        Suite("github16", "22 queries of up to 13 vertices on github with 16 labels", 2, 60.0, ()),
        Suite("small", "P1 to P9 without labels", 2, 600.0, ("gMatch", "STMatch", "T-DFS", "G2Miner")),
    )
}


def cases(suite: str, data: Path) -> Iterator[Case]:
    """The cases of a suite, graph by graph. `data`: the folder with the published data."""
    yield from {"labelled": _labelled, "research": _research, "github16": _github16, "small": _small}[suite](data)


@lru_cache(maxsize=1)
def loaded(data: Path, threads: int) -> gquery.Graph:
    """A graph, ready to be matched on so many threads."""
    return gquery.load(data, undirected=data.parent.name == "snap").with_settings(threads=threads)


def _labelled(data: Path) -> Iterator[Case]:
    for row in _rows(data / "bench" / "peers_h100_labelled.csv"):
        folder = data / "bench" / row["graph"]
        egsm = [_number(row[f"egsm_{stage}_ms"]) for stage in ("build", "filter", "join")]
        peers = {
            "DAF": _number(row["daf_1core_search_ms"]),
            "gMatch": _number(row["gmatch_total_ms"]),
            "EGSM": None if None in egsm else sum(part for part in egsm if part is not None),
        }
        query = read_query(folder / "queries" / row["query"])
        name = row["query"].removesuffix(".graph")
        yield Case(folder / "data.graph.gz", row["graph"], name, row["graph"], query, _count(row["matches"]), peers)


def _research(data: Path) -> Iterator[Case]:
    for row in _rows(data / "labelled" / "daf_counts.csv"):
        graph = row["query"].split("/")[0]
        group = row["query"].removesuffix(".graph").rsplit("_", 1)[0].replace("/query_", " ").replace("_", " ")
        query = read_query(data / "labelled" / "queries" / row["query"])
        peers = {"DAF": _number(row["search_ms"])}
        expected = _count(row["matches"]) if peers["DAF"] is not None else None
        yield Case(
            data / "labelled" / f"{graph}.graph.gz", graph, Path(row["query"]).stem, group, query, expected, peers
        )


def _github16(data: Path) -> Iterator[Case]:
    folder = data / "labelled" / "queries" / "github16"
    for number, count in enumerate((folder / "expected_counts.txt").read_text().split()):
        query = read_query(folder / f"Q_{number}.graph")
        yield Case(data / "labelled" / "github16.graph.gz", "github16", f"Q{number}", "github16", query, int(count), {})


def _small(data: Path) -> Iterator[Case]:
    for row in _rows(data / "bench" / "peers_h100_small_patterns.csv"):
        if row["graph"] in SNAP:
            columns = {"gMatch": "gmatch_ms", "STMatch": "stmatch_ms", "T-DFS": "tdfs_ms", "G2Miner": "g2miner_ms"}
            peers = {name: _number(row[column]) for name, column in columns.items()}
            path = data / "snap" / SNAP[row["graph"]]
            pattern = SMALL_PATTERNS[row["pattern"]]
            yield Case(path, row["graph"], row["pattern"], row["graph"], pattern, _count(row["embeddings"]), peers)


def _rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as lines:
        return list(csv.DictReader(lines))


def _number(text: str) -> float | None:
    """A time; None where there is none, such as for a run that did not end."""
    try:
        return float(text)
    except ValueError:
        return None


def _count(text: str) -> int | None:
    return int(text) if text.isdigit() else None
