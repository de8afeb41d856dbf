"""What more cores bring: the same queries on 1, 2, 4, 8 and 16 threads, as many as the machine has cores.

    python -m benchmarks.scaling [--data ../shared/data] [--seconds 600] [--out benchmarks/results]

Without the data, patterns are counted in a graph that is made from a seed (R-MAT). Wall is from text to answer, the
graph loaded and the kernels compiled; beside it what planning took of it, filters and the candidate graph included, and
what the kernels took, in CPU time of all workers together and of the busiest one, which bounds the wall from below. The
fastest run counts; every number of threads must give the same answer. Long lists are read twice: whole, as `to_arrow()`
keeps them, and batch by batch, as a reader that drops each.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import gquery
from benchmarks.counting.suites import cases
from benchmarks.query_files import SMALL_PATTERNS
from gquery.executor.matching import Measured
from gquery.executor.progress import Control
from gquery.session import Prepared

ROOT = Path(__file__).resolve().parents[1]
THREADS = (1, 2, 4, 8, 16)
_SEED = 7
Ends = NDArray[np.int64]
_PUBLISHED = {  # short ones, and all that take over 0.2 s on one core, but for those that take over 10
    "small": {("enron", "P1"), ("enron", "P8"), ("enron", "P5"), *(("slashdot", each) for each in ("P5", "P6", "P7"))},
    "labelled": {
        ("astroph", "q11_16"), ("github", "q19_16"), ("slashdot", "q19_16"),
        *(("blogcatalog", f"q{each}") for each in (
            "00_8", "01_12", "02_12", "03_16", "05_12", "10_12", "13_12", "14_12", "17_12", "18_12", "19_16"
        )),
    },
}  # fmt: skip
_MADE = {"P1": 14, "P4": 13, "P7": 10, "P8": 10}  # by the scale of the graph
_LISTED = 200_000, 10  # vertices, and edges that leave each: 2e7 paths of two edges
_LONG = 0.2  # seconds on one core from which on a query counts for the mean
_ENOUGH, _RUNS = 2.0, 5  # seconds, and runs, after which a query is not asked again


@dataclass(frozen=True)
class Question:
    """A query over a graph. kind: of which the means are told apart. kept: its answer is kept whole, rather than read
    batch by batch."""

    kind: str
    name: str
    graph: gquery.Graph
    text: str
    kept: bool = True


@dataclass(frozen=True)
class Run:
    """Seconds: of the whole, until the search begins, of the kernels on all workers together, of the busiest's."""

    wall: float
    planning: float
    kernels: float
    busiest: float


def questions(data: Path) -> Iterator[Question]:
    """Counts in published graphs, or in a made one, and a long list."""
    if data.exists():
        graphs: dict[Path, gquery.Graph] = {}
        for suite, wanted in _PUBLISHED.items():
            for case in cases(suite, data):
                if (case.graph, case.name) in wanted:
                    if case.data not in graphs:
                        graphs[case.data] = gquery.load(case.data, undirected=case.data.parent.name == "snap")
                    yield Question("counts", f"{case.graph} {case.name}", graphs[case.data], case.text)
    else:
        for name, scale in _MADE.items():
            text = f"MATCH DIFFERENT NODES {SMALL_PATTERNS[name].pattern()} RETURN count(*) AS n"
            yield Question("counts", f"R-MAT {scale} {name}", _graph(*_rmat(scale, 8)), text)
    vertices, degree = _LISTED
    random = np.random.default_rng(_SEED)
    sources, steps = np.arange(vertices), random.choice(np.arange(1, vertices), degree, replace=False)
    listed = _graph(np.repeat(sources, degree), ((sources[:, None] + steps) % vertices).ravel())
    path = "MATCH REPEATABLE ELEMENTS (a)-[]->(b)-[]->(c)"
    for kept, way in ((True, "kept"), (False, "read")):
        yield Question(
            "lists", f"2e7 rows, ids, {way}", listed, f"{path} RETURN id(a) AS a, id(b) AS b, id(c) AS c", kept
        )
        yield Question("lists", f"2e7 rows, properties, {way}", listed, f"{path} RETURN a.age AS a, c.age AS c", kept)
    yield Question("lists", "2e7 rows, grouped", listed, f"{path} RETURN a.age AS age, c.age AS other, count(*) AS n")


def _graph(sources: Ends, targets: Ends) -> gquery.Graph:
    vertices = pa.table({"id": np.arange(max(sources.max(), targets.max()) + 1)})
    ages = np.random.default_rng(_SEED).integers(0, 80, vertices.num_rows)
    edges = pa.table({"source": sources, "target": targets})
    vertices = vertices.append_column("age", pa.array(ages))
    return gquery.from_arrow(vertices={"V": vertices}, edges={("V", "E", "V"): edges})


def _rmat(scale: int, factor: int) -> tuple[Ends, Ends]:
    """The ends of 2^scale times factor edges of a skewed random graph, without loops and repeated pairs."""
    random = np.random.default_rng(_SEED)
    ends = np.zeros((2, factor << scale), np.int64)
    for _ in range(scale):
        quarter = np.searchsorted(np.cumsum([0.57, 0.19, 0.19]), random.random(ends.shape[1]))
        ends = 2 * ends + np.stack([quarter >> 1, quarter & 1])
    low, high = np.sort(ends, axis=0)
    pairs = np.unique(np.stack([low, high])[:, low != high], axis=1)
    return pairs[0], pairs[1]


def measure(question: Question, threads: int) -> tuple[Run, object]:
    """The fastest of a few runs, and the answer in short."""
    runs: list[Run] = []
    settings = question.graph.settings.changed(threads=threads, device="cpu")
    while not runs or (len(runs) < _RUNS and sum(run.wall for run in runs) < _ENOUGH):
        measured = [Measured(), Measured()]
        began = time.perf_counter()
        query = Prepared(question.graph.snapshot, question.text, {}, settings)
        batches = query.run(Control(), measured)
        kept = list(batches) if question.kept else []
        rows = sum(batch.num_rows for batch in kept or pa.RecordBatchReader.from_batches(query.chain.schema, batches))
        wall = time.perf_counter() - began
        answer = kept[0].column(0)[0].as_py() if kept and rows == 1 else rows
        kept.clear()  # before the next run: giving so much memory back takes time
        profile = measured[0].profile
        planning = sum(profile.seconds.get(stage, 0.0) for stage in ("filter", "refine", "plan"))
        searches = [each.worker_seconds for each in profile.enumerations]
        busiest = sum(max(seconds, default=0.0) for seconds in searches)
        runs.append(Run(wall, planning, sum(map(sum, searches)), busiest))
    return min(runs, key=lambda run: run.wall), answer


def report(asked: Iterator[Question], counts: list[int], seconds: float) -> Iterator[str]:
    """A row a query and number of threads, and the means over long queries."""
    yield "| query | threads | wall ms | times one core | planning ms | kernels ms | busiest ms |"
    yield "| --- |" + " ---: |" * 6
    speedups: dict[tuple[str, int], list[float]] = {}
    began = time.perf_counter()
    for question in asked:
        measure(question, max(counts))  # compiles what is not compiled yet
        alone, answer = measure(question, 1)
        for threads in counts:
            run, other = (alone, answer) if threads == 1 else measure(question, threads)
            if other != answer:
                raise SystemExit(f"{question.name}: {other} on {threads} threads, {answer} on one")
            if alone.wall >= _LONG:
                speedups.setdefault((question.kind, threads), []).append(alone.wall / run.wall)
            times = f"{run.wall * 1000:,.1f} | {alone.wall / run.wall:.2f}"
            parts = (f"{seconds * 1000:,.1f}" for seconds in (run.planning, run.kernels, run.busiest))
            yield f"| {question.name} | {threads} | {times} | {' | '.join(parts)} |"
        if time.perf_counter() - began > seconds:
            break
    yield ""
    for (kind, threads), each in sorted(speedups.items()):
        mean = math.exp(statistics.fmean(map(math.log, each)))
        yield f"{kind}, {threads} threads: {mean:.2f} times one core on the geometric mean of {len(each)} long queries."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--seconds", type=float, default=math.inf, help="ask nothing more after so long")
    parser.add_argument("--only", nargs="+", default=[""], help="ask the queries alone whose names hold one of these")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results", help="folder for the table")
    chosen = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    counts = [threads for threads in THREADS if threads <= max(2, cores)]
    lines = [f"# Scaling: {cores} cores", "", f"{(__doc__ or '').split(chr(10) * 2)[2]}", ""]
    asked = (each for each in questions(chosen.data) if any(part in each.name for part in chosen.only))
    for line in report(asked, counts, chosen.seconds):
        print(line, flush=True)
        lines.append(line)
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "scaling.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
