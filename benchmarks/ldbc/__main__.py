"""The complex reads of LDBC's Social Network Benchmark: gquery, Ladybug and DuckDB side by side.

    python -m benchmarks.ldbc --scale 0.1 1 [--people 5] [--runs 5] [--queries ic2 ic8]

The engines take turns in one process with two threads each, asked about the same people, tags, places and days. Every
answer is compared with the others', row by row and in order. Times are from text to last row, of texts that were asked
before: of each parameter's runs the fastest, of these the median. Writes benchmarks/results/ldbc.md.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.ldbc.engines import ENGINES, Engine, Rows
from benchmarks.ldbc.network import network
from benchmarks.ldbc.parameters import parameters_of
from benchmarks.lsqb.generate import SIZES

RESULTS = Path(__file__).resolve().parents[1] / "results"
QUERIES = tuple(f"ic{number}" for number in range(1, 15))


@dataclass(frozen=True)
class Line:
    """rows: of the answers, on average. seconds: by engine; none where it cannot say the query."""

    scale: float
    query: str
    rows: float
    seconds: Mapping[str, float]

    @property
    def lead(self) -> float:
        """How many times faster gquery is than the next best."""
        return min(seconds for name, seconds in self.seconds.items() if name != "gquery") / self.seconds["gquery"]


def measured(scale: float, queries: list[str], people: int, runs: int) -> list[Line]:
    data = network(scale)
    parameters = parameters_of(data, people)
    engines: dict[str, Engine] = {name: engine(data) for name, engine in ENGINES.items()}
    return [_line(scale, query, engines, parameters, runs) for query in queries]


def _line(scale: float, query: str, engines: Mapping[str, Engine], parameters: list[dict[str, Any]], runs: int) -> Line:
    asked = {name: engine for name, engine in engines.items() if query in engine.texts}
    best: dict[str, list[float]] = {name: [] for name in asked}
    counts = []
    for given in parameters:
        seconds = dict.fromkeys(asked, math.inf)
        answers: dict[str, Rows] = {}
        for _ in range(runs + 1):
            for name, engine in asked.items():
                began = time.perf_counter()
                answers[name] = engine.ask(query, given)
                seconds[name] = min(seconds[name], time.perf_counter() - began)
        _compare(query, given, answers)
        counts.append(len(answers["gquery"]))
        for name in asked:
            best[name].append(seconds[name])
    return Line(scale, query, statistics.fmean(counts), {name: statistics.median(each) for name, each in best.items()})


def _compare(query: str, given: dict[str, Any], answers: Mapping[str, Rows]) -> None:
    plain = {name: [tuple(map(_plain, row)) for row in rows] for name, rows in answers.items()}
    for name, rows in plain.items():
        if rows != plain["gquery"]:
            pairs = [pair for pair in zip(plain["gquery"], rows, strict=False) if pair[0] != pair[1]]
            told = f"{len(plain['gquery'])} and {len(rows)} rows, first {pairs[:1]}"
            raise SystemExit(f"{query} with {given}: gquery and {name} disagree: {told}")


def _plain(value: Any) -> Any:
    """Values as they are compared: collected lists have no order, and engines have types of their own for numbers."""
    if isinstance(value, list):
        return sorted(map(_plain, value)) if value and isinstance(value[0], str) else value
    return float(value) if isinstance(value, Decimal) else value


def table(lines: list[Line]) -> str:
    """The lines as Markdown."""
    names = list(ENGINES)
    text = ["| scale | query | rows | " + " | ".join(f"{name} ms" for name in names) + " | lead |", "| ---: " * 7 + "|"]
    for line in lines:
        times = [f"{line.seconds[name] * 1000:.1f}" if name in line.seconds else "" for name in names]
        cells = [f"{line.scale:g}", line.query, f"{line.rows:.0f}", *times, f"{line.lead:.1f}x"]
        text.append("| " + " | ".join(cells) + " |")
    for scale in dict.fromkeys(line.scale for line in lines):
        leads = [line.lead for line in lines if line.scale == scale]
        mean = math.exp(statistics.fmean(map(math.log, leads)))
        text.append(f"\nScale factor {scale:g}: {mean:.1f} times the next best on the geometric mean, at least "
                    f"{min(leads):.1f} times.")  # fmt: skip
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, nargs="+", default=[0.1, 1.0], choices=list(SIZES))
    parser.add_argument("--people", type=int, default=5, help="parameters that each query is asked with")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, after the first")
    parser.add_argument("--queries", nargs="+", default=list(QUERIES), choices=QUERIES)
    parser.add_argument("--out", type=Path, default=RESULTS / "ldbc.md")
    chosen = parser.parse_args()
    lines = [line for scale in chosen.scale for line in measured(scale, chosen.queries, chosen.people, chosen.runs)]
    text = table(lines)
    print(text)
    told = f"Complex reads, {chosen.people} parameters each, the fastest of {chosen.runs + 1} runs, two threads."
    chosen.out.write_text(f"# LDBC Social Network Benchmark, interactive\n\n{told}\n\n{text}\n")


if __name__ == "__main__":
    main()
