"""Two states of gquery against each other in one run: what a change made faster or slower.

    python -m benchmarks.against OLD [NEW] [--data ../shared/data] [--scale 0.1 0.3] [--runs 7] [--only GROUP]

OLD and NEW are checkouts with the extension built; each serves from a process of its own, and the two take turns, so
that a noisy machine is noisy for both. Every query is asked with a text not seen before, planning included, and the
fastest run counts. Prints a row a query with the ratio new to old, and the geometric mean of each group.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.csv as csv
from rich.console import Console
from rich.progress import track

from benchmarks import expressions
from benchmarks.counting.suites import cases
from benchmarks.lsqb.generate import generate
from benchmarks.lsqb.statements import CYPHER
from benchmarks.small_graph import ENDS, tables
from benchmarks.small_graph import QUESTIONS as SMALL

ROOT = Path(__file__).resolve().parents[1]
_GRAPHS = ROOT / "build" / "against"
_LISTS = {
    "ids": "MATCH (a:Person)-[:KNOWS]-(b:Person) RETURN id(a) AS a, id(b) AS b",
    "grouped": "MATCH (a:Person)-[:KNOWS]-(b:Person) RETURN id(a) AS a, count(*) AS n",
    "sorted": "MATCH (a:Person)-[:KNOWS]-(b:Person) WHERE id(a) < 100 RETURN id(b) AS b ORDER BY b",
    "compared": "MATCH (a:Person)-[:KNOWS]-(b:Person) WHERE id(a) < id(b) RETURN count(*)",
    "nodes": "MATCH (a:Person)-[:KNOWS]-(b:Person) RETURN a, b LIMIT 20000",
}
_LONGEST = 2.0  # seconds; a query that takes longer in the old state is asked once only

# Reads and answers lines of JSON. Only the public interface, which both states have.
_SERVER = """
import json, sys, time, gquery
kept = None
for line in sys.stdin:
    path, text, source, options = json.loads(line)
    if source is not None:
        gquery.load(source, **options).save(path)
    if kept is None or kept[0] != path:
        kept = path, gquery.open(path).with_settings(threads=2)
    began = time.perf_counter()
    if text == "open":
        value = gquery.open(path).vertex_count
    else:
        found = gquery.Graph(kept[1].snapshot, settings=kept[1].settings).query(text).to_arrow()
        value = found.column(0)[0].as_py() if found.num_rows == 1 else found.num_rows
    print(json.dumps([time.perf_counter() - began, value], default=str), flush=True)
"""


@dataclass(frozen=True)
class Question:
    """A query over a saved graph; `open` opens it."""

    group: str
    name: str
    graph: Path
    text: str


class Server:
    """One state of gquery, ready to be asked."""

    def __init__(self, checkout: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER], cwd=checkout, env={**os.environ, "PYTHONPATH": str(checkout)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, question: Question, run: int) -> tuple[float, int]:
        """Seconds and the answer in short."""
        text = question.text if question.text == "open" else f"{question.text} // {run}"
        return self._told(question.graph, text)

    def save(self, target: Path, source: Path, **options: Any) -> Path:
        """Loads a source and saves it as a graph that both states can open, if that was not done yet."""
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            self._told(target, "open", source, options)
        return target

    def _told(
        self, graph: Path, text: str, source: Path | None = None, options: dict[str, Any] | None = None
    ) -> tuple[float, int]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps([str(graph), text, None if source is None else str(source), options or {}])
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        seconds, value = json.loads(self._process.stdout.readline())
        return seconds, value


def questions(old: Server, data: Path, scales: list[float]) -> Iterator[Question]:
    """LSQB, lists, the small graph, expressions, published labelled queries. The old state saves the graphs."""
    for scale in scales:
        folder = ROOT / "build" / "lsqb" / f"sf{str(scale).replace('.', '_')}"
        if not folder.exists():
            generate(folder, scale)
        target = _GRAPHS / f"{folder.name}.gq"
        saved = old.save(target, folder, super_labels={"Message": ["Post", "Comment"]})
        for name, text in CYPHER.items():
            yield Question(f"LSQB {scale:g}", name, saved, text)
        for name, text in _LISTS.items():
            yield Question(f"lists {scale:g}", name, saved, text)
        yield Question("open", f"{scale:g}", saved, "open")
    saved = old.save(_GRAPHS / "small.gq", _small_folder())
    for each in SMALL:
        yield Question("small graph", each.name, saved, each.cypher)
    saved = old.save(_GRAPHS / "expressions.gq", expressions.write(_GRAPHS / "expressions"))
    for name, text in expressions.QUESTIONS.items():
        yield Question("expressions", name, saved, text)
    if data.exists():
        for suite, every in (("github16", 1), ("research", 6)):
            for case in list(cases(suite, data))[::every]:
                if suite == "github16" or case.peers["DAF"]:
                    kept = old.save(_GRAPHS / f"{case.graph}.gq", case.data)
                    yield Question(suite, f"{case.graph} {case.group} {case.name}", kept, case.text)


def _small_folder() -> Path:
    folder = _GRAPHS / "small"
    folder.mkdir(parents=True, exist_ok=True)
    vertices, edges = tables()
    for label, table in vertices.items():
        csv.write_csv(table, folder / f"{label}.csv")
    for name, table in edges.items():
        source, target = ENDS[name]
        csv.write_csv(table.rename_columns(["source", "target"]), folder / f"{source}_{name}_{target}.csv")
    return folder


def compare(old: Server, new: Server, asked: list[Question], runs: int) -> list[tuple[Question, float, float]]:
    """Seconds of both states, the fastest of the runs each; a different answer ends the comparison."""
    found = []
    for question in track(asked, description="old, new", console=Console(stderr=True)):
        best = [math.inf, math.inf]
        for run in range(runs + 1):
            answers = [server.ask(question, run) for server in (old, new)]
            if not _same(answers[0][1], answers[1][1]):
                raise SystemExit(f"{question.group} {question.name}: {answers[0][1]} became {answers[1][1]}")
            if run:  # the first run may compile
                best = [min(known, seconds) for known, (seconds, _) in zip(best, answers, strict=True)]
            if _LONGEST < best[0] < math.inf:
                break
        found.append((question, best[0], best[1]))
    return found


def _same(one: Any, other: Any) -> bool:
    """A sum of floats depends on the order in which they came."""
    return one == other or (isinstance(one, float) and math.isclose(one, other, rel_tol=1e-9))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?", default=ROOT)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--scale", type=float, nargs="+", default=[0.1, 0.3])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", help="ask the questions of this group alone")
    chosen = parser.parse_args()
    old, new = Server(chosen.old.resolve()), Server(chosen.new.resolve())
    asked = questions(old, chosen.data.resolve(), chosen.scale)
    rows = compare(old, new, [each for each in asked if chosen.only in (None, each.group)], chosen.runs)
    for question, before, after in rows:
        times = f"{before * 1000:9.2f} {after * 1000:9.2f} ms {after / before:6.2f}"
        print(f"{question.group:12} {question.name:40} {times}")
    for group in dict.fromkeys(question.group for question, _, _ in rows):
        ratios = [math.log(after / before) for question, before, after in rows if question.group == group]
        print(f"{group:12} {math.exp(sum(ratios) / len(ratios)):.3f} of the old time on the geometric mean")


if __name__ == "__main__":
    main()
