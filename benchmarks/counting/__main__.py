"""Counts the patterns of one or all suites, checks the counts and writes a table for each to benchmarks/results.

    python -m benchmarks.counting --data ../shared/data [--suite labelled research github16 small] [--memory 4GB]
        [--processes N] [--out FOLDER]

Graphs are loaded and kernels compiled before anything is timed, and short counts are repeated. With `--processes` so
many cases are counted at once, each by a process of one thread, within a limit of processor time. Peers were measured
once on an H100 (gMatch, EGSM, STMatch, T-DFS, G2Miner) or on one core (DAF, search alone); their times stand in the
data. A count that contradicts theirs ends the benchmark.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import statistics
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.counting.measure import Outcome, ProcessorTime, measure
from benchmarks.counting.suites import SUITES, Case, Suite, cases
from gquery.settings import parse_memory

_NOTE = (
    "Milliseconds. Search is everything after planning and building the candidate graph; kernel is what the "
    "compiled search takes of it, on all cores together. Peak memory is what a query held besides the graph. Other "
    "systems: see `benchmarks/counting`."
)
RESULTS = Path(__file__).resolve().parents[1] / "results"
Map = Callable[[Callable[[Case], Outcome], list[Case]], Iterator[Outcome]]


def run(suite: Suite, data: Path, memory: int | None, apply: Map) -> list[Outcome]:
    found = list(cases(suite.name, data))
    counted = apply(partial(measure, suite=suite, memory=memory), found)
    outcomes = []
    for outcome in track(counted, description=suite.name, total=len(found), console=Console(stderr=True)):
        if not outcome.agrees:
            case = outcome.case
            raise SystemExit(f"{case.graph} {case.name}: counted {outcome.count}, expected {case.expected}")
        outcomes.append(outcome)
    return outcomes


@contextmanager
def mapping(processes: int | None) -> Iterator[Map]:
    """What counts case after case here, or by so many processes, each of which takes the next case."""
    if processes is None:
        yield map
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        try:
            yield pool.map
        finally:
            pool.shutdown(cancel_futures=True)


def table(suite: Suite, outcomes: list[Outcome]) -> str:
    """One row a query."""
    head = ["graph", "query", "count", "ms", "search ms", *(f"{peer} ms" for peer in suite.peers), "peak MB"]
    rows = []
    for outcome in outcomes:
        count = outcome.problem if outcome.count is None else f"{outcome.count:,}" + ("*" if outcome.wrapped else "")
        peers = [_cell(outcome.case.peers.get(peer)) for peer in suite.peers]
        times = [_cell(outcome.seconds * 1000), _cell(outcome.search * 1000) if outcome.count is not None else ""]
        rows.append([outcome.case.graph, outcome.case.name, count, *times, *peers, f"{outcome.peak / 1e6:.1f}"])
    lines = [_row(head), "|" + " --- |" * 2 + " ---: |" * (len(head) - 2), *map(_row, rows)]
    if any(outcome.wrapped for outcome in outcomes):
        lines += ["", "\\* beyond 2^64: the published count is this one modulo 2^64."]
    return "\n".join([*lines, "", *summary(suite, outcomes)])


def grouped(suite: Suite, outcomes: list[Outcome]) -> str:
    """One row for each group of queries: how many were counted in time, geometric means over those that all counted."""
    head = ["queries", "counted", "by DAF", "kernel ms", "DAF ms", "ratio", "search ms", "with planning ms", "peak MB"]
    lines = [_row(head), "| --- |" + " ---: |" * (len(head) - 1)]
    for group in dict.fromkeys(outcome.case.group for outcome in outcomes):
        members = [outcome for outcome in outcomes if outcome.case.group == group]
        lines.append(_row([group, *_group_cells(members)]))
    for graph in dict.fromkeys(outcome.case.graph for outcome in outcomes):
        members = [outcome for outcome in outcomes if outcome.case.graph == graph]
        lines.append(_row([f"**{graph}**", *_group_cells(members)]))
    return "\n".join([*lines, "", *summary(suite, outcomes)])


def _group_cells(members: list[Outcome]) -> list[str]:
    daf = [member for member in members if member.case.peers["DAF"] is not None]
    both = [member for member in daf if member.count is not None]
    kernel = _mean(member.kernel * 1000 for member in both)
    peer = _mean(member.case.peers["DAF"] or math.nan for member in both)
    return [
        f"{sum(member.count is not None for member in members)} of {len(members)}",
        str(len(daf)),
        f"{kernel:.3f}",
        f"{peer:.3f}",
        f"{kernel / peer:.2f}",
        f"{_mean(member.search * 1000 for member in both):.3f}",
        f"{_mean(member.seconds * 1000 for member in both):.2f}",
        f"{max(member.peak for member in members) / 1e6:.1f}",
    ]


def summary(suite: Suite, outcomes: list[Outcome]) -> list[str]:
    counted = [outcome for outcome in outcomes if outcome.count is not None]
    together = sum(outcome.seconds for outcome in outcomes)
    lines = [
        f"Counted {len(counted)} of {len(outcomes)} in {suite.timeout:g} s each, on {_threads(suite)}; "
        f"all together {together:.1f} s."
    ]
    for peer in suite.peers:
        theirs = [outcome for outcome in outcomes if outcome.case.peers.get(peer)]  # 0: too short to be measured
        both = [outcome for outcome in theirs if outcome.count is not None]
        if both:
            search = _mean(outcome.search * 1000 / (outcome.case.peers[peer] or math.nan) for outcome in both)
            kernel = _mean(outcome.kernel * 1000 / (outcome.case.peers[peer] or math.nan) for outcome in both)
            total = _mean(outcome.seconds * 1000 / (outcome.case.peers[peer] or math.nan) for outcome in both)
            lines.append(
                f"{peer} counts {len(theirs)} of them, {len(theirs) - len(both)} that gquery does not; over the "
                f"{len(both)} that both count, gquery needs {kernel:.3f} times its time in the search kernels, "
                f"{search:.3f} times with setting the search up, {total:.3f} times with planning (geometric means)."
            )
    return lines


def _threads(suite: Suite) -> str:
    cores = "one core" if suite.threads == 1 else f"{suite.threads} cores"
    return cores if suite.clock is not ProcessorTime else f"{cores}, by processor time"


def _mean(values: object) -> float:
    logs = [math.log(max(value, 1e-6)) for value in values]  # type: ignore[attr-defined]
    return math.exp(statistics.fmean(logs)) if logs else math.nan


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if value < 10 else f"{value:,.1f}"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the published graphs and queries")
    parser.add_argument("--suite", nargs="+", default=list(SUITES), choices=list(SUITES))
    parser.add_argument("--memory", default=None, help="limit besides the graph, such as 1GB")
    parser.add_argument("--processes", type=int, default=None, help="cases counted at once, each on one thread")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the tables")
    chosen = parser.parse_args()
    memory = parse_memory(chosen.memory) if chosen.memory else None
    for name in chosen.suite:
        suite = SUITES[name]
        if chosen.processes:
            suite = replace(suite, threads=1, clock=ProcessorTime)
        with mapping(chosen.processes) as apply:
            outcomes = run(suite, chosen.data, memory, apply)
        text = grouped(suite, outcomes) if name == "research" else table(suite, outcomes)
        Console(width=200).print(text, highlight=False)
        limit = f" Limit: {chosen.memory} besides the graph." if chosen.memory else ""
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.out / f"{name}.md").write_text(f"# {suite.title}\n\n{_NOTE}{limit}\n\n{text}\n")


if __name__ == "__main__":
    main()
