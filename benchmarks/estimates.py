"""How far estimates are from the truth: the ratio of the two for every level of every plan that is run.

    python -m benchmarks.estimates --data ../shared/data [--suite labelled research github16 lsqb] [--every 1]

Each query is counted once with walks through the candidate graph and once from statistics alone; levels that are
searched are compared, those of counts that are not over in time are left out. Writes a table to benchmarks/results.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
from rich.console import Console
from rich.progress import track

import gquery
from benchmarks.counting.suites import SUITES, cases, loaded
from benchmarks.lsqb.generate import generate
from benchmarks.lsqb.statements import CYPHER
from gquery.errors import GQueryError
from gquery.executor.cpu.engine import CpuCandidates
from gquery.executor.matching import Measured
from gquery.executor.progress import Control
from gquery.session import Prepared

ROOT = Path(__file__).resolve().parents[1]
_QUANTILES = (0.01, 0.1, 0.5, 0.9, 0.99)
_HEAD = ["queries", "estimates", "counted", "levels", "within 2 times", "10", "100"]
_NOTE = (
    "The ratio of estimate to truth, level by level: the share of the levels where it is within a factor, and its "
    "quantiles. Levels that are summed without a search, and leaves, are not counted. The plans of both rows "
    "differ, and from statistics fewer of the hard ones are counted."
)
Asked = tuple[str, gquery.Graph, str]
"""The group of a query, its graph and its text."""


def asked(suite: str, data: Path, every: int) -> Iterator[Asked]:
    """The queries of a suite, or of LSQB at scale factor 0.1."""
    if suite == "lsqb":
        folder = ROOT / "build" / "lsqb" / "sf0_1"
        if not folder.exists():
            generate(folder, 0.1)
        graph = gquery.load(folder, super_labels={"Message": ["Post", "Comment"]}).with_settings(threads=2)
        yield from (("LSQB 0.1", graph, text) for text in CYPHER.values())
        return
    for case in list(cases(suite, data))[::every]:
        yield case.graph, loaded(case.data, SUITES[suite].threads), case.text


def ratios(graph: gquery.Graph, text: str, timeout: float) -> list[float] | None:
    """Estimate over truth, by level; None when the query is not over in time."""
    query = Prepared(graph.snapshot, text, {}, graph.settings)
    measured = [Measured() for _ in query.plan.steps]
    try:
        for _ in query.run(Control(timeout), measured):
            pass
    except GQueryError:
        return None
    found: list[float] = []
    for step in measured:
        for plan, searched in zip(step.matchings, step.profile.enumerations, strict=False):
            if plan.strategy == "push":  # whose levels are others
                continue
            true = searched.found.tolist()
            found += [
                each.rows / truth for each, truth in zip(plan.steps, true, strict=True) if truth and not each.folded
            ]
    return found


def row(group: str, name: str, found: list[list[float] | None]) -> list[str]:
    counted = [each for each in found if each is not None]
    logs = np.log10([max(ratio, 1e-12) for each in counted for ratio in each] or [0.0])
    shares = [f"{np.mean(np.abs(logs) <= np.log10(factor * 1.0001)):.0%}" for factor in (2, 10, 100)]
    quantiles = [f"{10**value:.2g}" for value in np.quantile(logs, _QUANTILES)]
    return [group, name, f"{len(counted)} of {len(found)}", f"{sum(map(len, counted)):,}", *shares, *quantiles]


def table(queries: list[Asked], timeout: float) -> str:
    found: dict[tuple[str, str], list[list[float] | None]] = {}
    for group, graph, text in track(queries, console=Console(stderr=True)):
        found.setdefault((group, "walks"), []).append(ratios(graph, text, timeout))
        with mock.patch.object(CpuCandidates, "sampler", None):
            found.setdefault((group, "statistics"), []).append(ratios(graph, text, timeout))
    lines = [[*_HEAD, *(f"{quantile:.0%}" for quantile in _QUANTILES)]]
    lines += [["---"] * 2 + ["---:"] * (len(lines[0]) - 2)]
    lines += [row(*key, each) for key, each in found.items()]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the published graphs and queries")
    names = ["labelled", "research", "github16", "lsqb"]
    parser.add_argument("--suite", nargs="+", default=names, choices=names)
    parser.add_argument("--every", type=int, default=1, help="only every so manieth query")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds for each count")
    chosen = parser.parse_args()
    queries = (each for suite in chosen.suite for each in asked(suite, chosen.data, chosen.every))
    text = table(queries, chosen.timeout)
    print(text)
    results = ROOT / "benchmarks" / "results" / "estimates.md"
    some = f" One query in {chosen.every}." if chosen.every > 1 else ""
    results.write_text(f"# Estimates beside the truth\n\n{_NOTE}{some}\n\n{text}\n")


if __name__ == "__main__":
    main()
