"""The complex reads of LDBC's Social Network Benchmark: gquery, Ladybug and DuckDB side by side.

    python -m benchmarks.ldbc --scale 0.1 1 [--people 5] [--runs 5] [--queries ic2 ic8]

The engines take turns in one process with two threads each, asked about the same people, tags, places and days. Every
answer is compared with the others', row by row and in order. Times are from text to last row, of texts that were asked
before: of each parameter's runs the fastest, of these the median; by the clock, and of the processors in brackets.
Writes benchmarks/results/ldbc.md.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.ldbc.engines import ENGINES, Engine, Rows, comparable
from benchmarks.ldbc.network import network
from benchmarks.ldbc.parameters import parameters_of
from benchmarks.lsqb.generate import SIZES

RESULTS = Path(__file__).resolve().parents[1] / "results"
QUERIES = tuple(f"ic{number}" for number in range(1, 15))


Times = tuple[float, float]
"""By the clock and of the processors, in seconds."""

_CLOCKS = ("by the clock", "of the processors")


@dataclass(frozen=True)
class Line:
    """rows: of the answers, on average. seconds: by engine; none where it cannot say the query."""

    scale: float
    query: str
    rows: float
    seconds: Mapping[str, Times]

    def lead(self, clock: int) -> float:
        """How many times faster gquery is than the next best, by one of the clocks."""
        others = (times[clock] for name, times in self.seconds.items() if name != "gquery")
        return min(others) / self.seconds["gquery"][clock]


def measured(scale: float, queries: list[str], people: int, runs: int) -> list[Line]:
    data = network(scale)
    parameters = parameters_of(data, people)
    engines: dict[str, Engine] = {name: engine(data) for name, engine in ENGINES.items()}
    return [_line(scale, query, engines, parameters, runs) for query in queries]


def _line(scale: float, query: str, engines: Mapping[str, Engine], parameters: list[dict[str, Any]], runs: int) -> Line:
    asked = {name: engine for name, engine in engines.items() if query in engine.texts}
    best: dict[str, list[Times]] = {name: [] for name in asked}
    counts = []
    for given in parameters:
        seconds: dict[str, list[Times]] = {name: [] for name in asked}
        answers: dict[str, Rows] = {}
        for _ in range(runs + 1):
            for name, engine in asked.items():
                began = time.perf_counter(), time.process_time()
                answers[name] = engine.ask(query, given)
                seconds[name].append((time.perf_counter() - began[0], time.process_time() - began[1]))
        _compare(query, given, answers)
        counts.append(len(answers["gquery"]))
        for name in asked:
            best[name].append(_of_each(min, seconds[name]))
    medians = {name: _of_each(statistics.median, times) for name, times in best.items()}
    return Line(scale, query, statistics.fmean(counts), medians)


def _of_each(chosen: Callable[[Iterable[float]], float], times: list[Times]) -> Times:
    return chosen([clock for clock, _ in times]), chosen([processors for _, processors in times])


def _compare(query: str, given: dict[str, Any], answers: Mapping[str, Rows]) -> None:
    plain = {name: comparable(rows) for name, rows in answers.items()}
    for name, rows in plain.items():
        if rows != plain["gquery"]:
            pairs = [pair for pair in zip(plain["gquery"], rows, strict=False) if pair[0] != pair[1]]
            told = f"{len(plain['gquery'])} and {len(rows)} rows, first {pairs[:1]}"
            raise SystemExit(f"{query} with {given}: gquery and {name} disagree: {told}")


def table(lines: list[Line]) -> str:
    """The lines as Markdown."""
    names = list(ENGINES)
    text = ["| scale | query | rows | " + " | ".join(f"{name} ms" for name in names) + " | lead |", "| ---: " * 7 + "|"]
    for line in lines:
        times = [_shown(line.seconds.get(name)) for name in names]
        leads = f"{line.lead(0):.1f}x ({line.lead(1):.1f}x)"
        text.append("| " + " | ".join([f"{line.scale:g}", line.query, f"{line.rows:.0f}", *times, leads]) + " |")
    for scale in dict.fromkeys(line.scale for line in lines):
        for clock, name in enumerate(_CLOCKS):
            leads_of = [line.lead(clock) for line in lines if line.scale == scale]
            mean = math.exp(statistics.fmean(map(math.log, leads_of)))
            text.append(f"\nScale factor {scale:g}, {name}: {mean:.2f} times as fast as the next best on the geometric "
                        f"mean, at least {min(leads_of):.2f} times.")  # fmt: skip
    return "\n".join(text)


def _shown(times: Times | None) -> str:
    return "" if times is None else f"{times[0] * 1000:.1f} ({times[1] * 1000:.1f})"


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
    told = f"""{chosen.people} parameters each, the fastest of {chosen.runs + 1} runs, two threads; in brackets the time
of the processors. Where a column is empty the engine's language does not say the query."""
    chosen.out.write_text(f"# LDBC Social Network Benchmark, interactive\n\n{told}\n\n{text}\n")


if __name__ == "__main__":
    main()
