"""The card beside the CPU, from the text of a query to its count: python -m benchmarks.gpu --data ../shared/data

Every query is asked with texts not seen before on a graph that is on the card already; the median of the runs counts.
A count that is not the published one ends the run. Peers' times are those that were recorded for them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import gquery
from benchmarks.counting.suites import SUITES, Case, cases, loaded

_ENOUGH = 1.0  # seconds; a query that takes longer is asked once


def measured(graph: gquery.Graph, case: Case, device: str, timeout: float, runs: int) -> float | None:
    """Seconds; None when it was not counted in time."""
    seconds: list[float] = []
    for run in range(runs + 1):
        began = time.perf_counter()
        try:
            count = graph.query(f"{case.text} // {run}", device=device, timeout=timeout).scalar()
        except (gquery.QueryTimeout, gquery.ExecutionError) as error:
            print(f"{case.graph} {case.name} on {device}: {error}"[:200])
            return None
        seconds.append(time.perf_counter() - began)
        if case.expected is not None and count % 2**64 != case.expected:  # others count in 64 bits
            raise SystemExit(f"{case.graph} {case.name} on {device}: {count:,}, not {case.expected:,}")
        if seconds[-1] > _ENOUGH:
            break
    return statistics.median(seconds[1:] or seconds)


def rows(suite: str, data: Path, chosen: argparse.Namespace) -> Iterator[str]:
    """A line for each query: milliseconds by device, and the best peer's."""
    for case in cases(suite, data):
        graph = loaded(case.data, chosen.threads)
        times = [measured(graph, case, device, chosen.timeout, chosen.runs) for device in chosen.devices]
        peers = {name: each for name, each in case.peers.items() if each}
        best = min(peers, key=lambda name: peers[name] or 0.0) if peers else None
        shown = "".join(f"{'-' if each is None else f'{1000 * each:,.2f}':>12}" for each in times)
        yield f"{case.graph:12} {case.name:14}{shown}   {f'{best} {peers[best]:g}' if best else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--suites", nargs="+", default=["small", "labelled"], choices=list(SUITES))
    parser.add_argument("--devices", nargs="+", default=["gpu", "cpu"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds")
    parser.add_argument("--runs", type=int, default=5)
    chosen = parser.parse_args()
    for suite in chosen.suites:
        print(f"{suite}: ms on {', '.join(chosen.devices)}; best peer")
        for row in rows(suite, chosen.data.resolve(), chosen):
            print(row, flush=True)


if __name__ == "__main__":
    main()
