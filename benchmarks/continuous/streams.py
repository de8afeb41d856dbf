"""Standing patterns on two graphs that change, beside the times of RapidFlow: the first table of
`results/continuous.md`.

`DATA/continuous` holds the graphs, the streams of updates, the queries, and what two published matchers counted of each
stream in which time. A stream is cut into so many batches. Each query stands, and what its changes count together is
checked: of streams that only insert or only delete the number itself, of mixed ones what is added less what is
removed.

Times are of the process, of all its threads together; where a card may take part, of the clock on the wall, and all is
done once before, for its kernels to be compiled. *upkeep* is what the store takes for its versions, once for all
queries; *changes* is what a query takes for all batches, planning included; the first one also pays what all share of a
version, on a card its copy. RapidFlow's time is of one thread, upkeep included, after its index is built.
"""

from __future__ import annotations

import csv
import gzip
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import gquery
from benchmarks.query_files import read_query
from gquery.storage.changes.batch import Batch, NewEdges
from gquery.storage.graph import Snapshot
from gquery.store import Store

GRAPHS, STREAMS, CUTS = ("github", "amazon6"), ("insert", "delete", "mixed"), (1, 10, 1000)
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Expected:
    """What is known of a query and a stream: embeddings that come and that go, and milliseconds."""

    query: str
    kind: str
    positives: int
    negatives: int
    rapidflow: float


@dataclass(slots=True)
class Measured:
    """Seconds of the process. right: whether what was counted is what is known."""

    expected: Expected
    seconds: list[float] = field(default_factory=list)
    right: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    inserts: bool
    ends: Pair


class Ids:
    """The internal ids of a graph's vertices and edges, by the users' ids."""

    def __init__(self, snapshot: Snapshot) -> None:
        numbers = snapshot.vertex_numbers
        self.vertices = {}
        for table, each in enumerate(snapshot.vertex_tables):
            ids = numbers.ids([table], np.int64).tolist()
            self.vertices.update(zip(each.ids.to_pylist(), ids, strict=True))
        ends = np.sort(np.stack(snapshot.edges.ends_of(np.arange(snapshot.edge_count))), axis=0)
        self._edges = {pair: edge for edge, pair in enumerate(zip(*ends.tolist(), strict=True))}
        self._next = snapshot.edge_count

    def batch(self, updates: list[Update]) -> Batch:
        """The net change of some updates: what is inserted and deleted among them has never been there."""
        there: dict[Pair, bool] = {}
        for update in updates:
            pair = self._pair(update.ends)
            if pair in there:
                del there[pair]
            else:
                there[pair] = update.inserts
        new = [pair for pair, inserted in there.items() if inserted]
        gone = sorted(self._edges.pop(pair) for pair, inserted in there.items() if not inserted)
        for pair in new:
            self._edges[pair] = self._next
            self._next += 1
        source, target = np.array(new, np.int32).reshape(-1, 2).T
        edges = NewEdges("EDGE", source, target, pa.table({"of": np.zeros(len(new))}).select([]))
        return Batch(edges=(edges,) if new else (), gone_edges=np.array(gone, np.int64))

    def _pair(self, ends: Pair) -> Pair:
        one, other = (self.vertices[end] for end in ends)
        return min(one, other), max(one, other)


def expected(folder: Path, graph: str, stream: str) -> list[Expected]:
    with (folder / "expected.csv").open() as file:
        return [
            Expected(
                row["query"], row["kind"], int(row["positives"]), int(row["negatives"]), float(row["rapidflow_ms"])
            )
            for row in csv.DictReader(file)
            if (row["graph"], row["stream"]) == (graph, stream)
        ]


def updates(folder: Path, graph: str, stream: str) -> list[Update]:
    with gzip.open(folder / "streams" / f"{graph}.{stream}.csv.gz", "rt") as file:
        return [Update(row["op"] == "+", (int(row["u"]), int(row["v"]))) for row in csv.DictReader(file)]


def cut(of: list[Update], batches: int) -> Iterator[list[Update]]:
    """As even as can be."""
    bounds: NDArray[np.int64] = np.linspace(0, len(of), batches + 1).astype(np.int64)
    yield from (of[begin:end] for begin, end in zip(bounds.tolist(), bounds[1:].tolist(), strict=False) if begin < end)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the data is, and where is counted."""

    folder: Path
    device: str

    @property
    def clock(self) -> Callable[[], float]:
        return time.process_time if self.device == "cpu" else time.perf_counter


def measure(
    place: Place, graph: gquery.Graph, stream: list[Update], known: list[Expected], batches: int
) -> tuple[float, list[Measured]]:
    """Seconds of the store, and what the queries have measured."""
    store, ids, clock = Store(graph), Ids(graph.snapshot), place.clock
    patterns = [read_query(place.folder / "queries" / f"{each.query}.graph").pattern() for each in known]
    settings = {"mode": "different nodes", "device": place.device}
    watches = [store.watch(f"MATCH {each} RETURN count(*) AS n", emit="counts", **settings) for each in patterns]
    found = [Measured(each) for each in known]
    totals = [[0, 0] for _ in known]
    upkeep = 0.0
    for part in cut(stream, batches):
        batch = ids.batch(part)
        began = clock()
        store.commit([batch])
        snapshot = store.graph.snapshot
        snapshot.adjacency(("EDGE",), "both")
        _ = snapshot.counts
        upkeep += clock() - began
        for watch, measured, total in zip(watches, found, totals, strict=True):
            began = clock()
            change = watch.next()
            measured.seconds.append(clock() - began)
            assert change is not None
            total[0] += change.added["n"][0].as_py()
            total[1] += change.removed["n"][0].as_py()
    for measured, (added, removed) in zip(found, totals, strict=True):
        net = measured.expected.positives - measured.expected.negatives
        measured.right = added - removed == net
    return upkeep, found


def table(of: Mapping[tuple[str, str, str, int], list[Measured]], upkeep: Mapping[tuple[str, str, int], float]) -> str:
    lines = [
        "| graph | stream | batches | queries | right | upkeep, ms | changes, ms | RapidFlow, ms | ratio |",
        "|---|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for (graph, stream, kind, batches), found in of.items():
        own = _mean(1e3 * sum(each.seconds) for each in found)
        peer = _mean(each.expected.rapidflow for each in found)
        right = sum(each.right for each in found)
        lines.append(
            f"| {graph} | {stream} | {batches:,} | {kind} | {right} of {len(found)} "
            f"| {1e3 * upkeep[graph, stream, batches]:,.0f} | {own:,.1f} | {peer:,.1f} | {own / peer:.2f} |"
        )
    return "\n".join(lines)


def _mean(values: Iterator[float]) -> float:
    """The geometric mean."""
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))


def run(place: Place, graphs: Sequence[str], streams: Sequence[str], cuts: Sequence[int]) -> bool:
    """Prints the table as it grows. Returns whether all counts are right."""
    upkeep = {}
    found: dict[tuple[str, str, str, int], list[Measured]] = defaultdict(list)
    for name in graphs:
        graph = gquery.load(place.folder / f"{name}.graph.gz")
        graph.snapshot.adjacency(("EDGE",), "both")
        for stream in streams:
            known, lines = expected(place.folder, name, stream), updates(place.folder, name, stream)
            for batches in cuts:
                if place.device != "cpu":
                    measure(place, graph, lines, known, batches)
                seconds, measured = measure(place, graph, lines, known, batches)
                upkeep[name, stream, batches] = seconds
                for each in measured:
                    found[name, stream, each.expected.kind, batches].append(each)
                print(table(found, upkeep), flush=True)
    return all(each.right for several in found.values() for each in several)
