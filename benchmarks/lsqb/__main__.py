"""The Labelled Subgraph Query Benchmark on generated networks: gquery, Ladybug and DuckDB side by side.

    python -m benchmarks.lsqb --scale 0.1 0.3 1 [--memory 4GB] [--timeout 60] [--runs 5] [--seed 42] [--skew 1]

The engines take turns, each in its own process with two threads. Every answer is checked against the others. Times are
from text to count with the network loaded; the median of the runs is shown. `gquery` plans every run from scratch,
`gquery again` keeps the plans of texts that it knows, as it does for its users. Writes a table and a picture to
benchmarks/results.
"""

from __future__ import annotations

import argparse
import math
import statistics
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.lsqb.engines import ENGINES, PEERS, Answer, Worker
from benchmarks.lsqb.generate import SEED, SIZES, generate
from benchmarks.lsqb.picture import bars
from benchmarks.lsqb.statements import QUERIES

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"


@dataclass(frozen=True)
class Row:
    """What the engines needed for one query at one scale; None where one could not answer."""

    scale: float
    query: str
    count: int
    seconds: dict[str, float | None]
    memory: dict[str, int]
    own: int
    notes: dict[str, str]

    def lead(self, engine: str = "gquery") -> float | None:
        """How many times faster gquery is than the next best."""
        mine = self.seconds[engine]
        others = [seconds for name in PEERS if (seconds := self.seconds[name]) is not None]
        return min(others) / mine if mine and others else None


@dataclass(frozen=True)
class Network:
    """What a network is drawn from."""

    scale: float
    seed: int = SEED
    skew: float = 1.0

    @property
    def folder(self) -> Path:
        """Where its files are, which are made where there are none."""
        told = "" if (self.seed, self.skew) == (SEED, 1.0) else f"_seed{self.seed}_skew{self.skew:g}"
        folder = ROOT / "build" / "lsqb" / f"sf{self.scale}{told}".replace(".", "_")
        if not folder.exists():
            generate(folder, self.scale, self.seed, self.skew)
        return folder


def measure(network: Network, memory: str, timeout: float, runs: int) -> list[Row]:
    scale, folder = network.scale, network.folder
    workers = {name: Worker(name, folder, memory) for name in ENGINES}
    rows = []
    for query in track(QUERIES, description=f"scale factor {scale:g}", console=Console(stderr=True)):
        answers: dict[str, list[Answer]] = {name: [] for name in workers}
        for run in range(runs + 1):
            for name, worker in workers.items():
                if run and answers[name][-1].count is None:
                    continue
                answers[name].append(worker.ask(query, run, timeout))
        rows.append(_row(scale, query, answers))
    for worker in workers.values():
        worker.close()
    return rows


def _row(scale: float, query: str, answers: dict[str, list[Answer]]) -> Row:
    counts = {answer.count for given in answers.values() for answer in given if answer.count is not None}
    if len(counts) != 1:
        raise SystemExit(f"{query} at scale factor {scale:g}: the engines disagree: {answers}")
    warm = {name: given[1:] or given for name, given in answers.items()}
    return Row(
        scale,
        query,
        counts.pop(),
        {
            name: statistics.median(answer.seconds for answer in given) if given[-1].count is not None else None
            for name, given in warm.items()
        },
        {name: max(answer.memory for answer in given) for name, given in warm.items()},
        max(answer.own for answer in answers["gquery"]),
        {name: given[-1].note for name, given in warm.items() if given[-1].note},
    )


def table(rows: list[Row]) -> str:
    """The rows as Markdown: medians in ms, peak memory in MB."""
    names = list(ENGINES)
    head = ["scale", "query", "count", *(f"{name} ms" for name in names), "lead", *(f"{name} MB" for name in names),
            "accounted MB"]  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|" + " ---: |" * len(head)]
    for row in rows:
        lead = "" if (times_faster := row.lead()) is None else f"{times_faster:.1f}x"
        times = [_milliseconds(row.seconds[name], row.notes.get(name, "")) for name in names]
        sizes = [f"{row.memory[name] / 1e6:.0f}" for name in names]
        cells = [f"{row.scale:g}", row.query, f"{row.count:,}", *times, lead, *sizes, f"{row.own / 1e6:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    for scale in dict.fromkeys(row.scale for row in rows):
        here = [row for row in rows if row.scale == scale]
        lines.append(f"\nScale factor {scale:g}, as many times as fast as the next best, on the geometric mean and at "
                     f"least: {_leads(here, 'gquery')}; texts asked again {_leads(here, 'gquery again')}.")  # fmt: skip
    return "\n".join(lines)


def _leads(rows: list[Row], engine: str) -> str:
    leads = [lead for row in rows if (lead := row.lead(engine)) is not None]
    return f"{math.exp(statistics.fmean(map(math.log, leads))):.1f} and {min(leads):.1f}"


def _milliseconds(seconds: float | None, note: str) -> str:
    return note.split(":")[0] if seconds is None else f"{seconds * 1000:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, nargs="+", default=[0.1, 0.3, 1.0], choices=list(SIZES))
    parser.add_argument("--memory", default="4GB", help="limit of every engine, such as 64MB")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for one answer")
    parser.add_argument("--runs", type=int, default=5, help="runs after the first, which is not timed")
    parser.add_argument("--seed", type=int, default=SEED, help="of what is drawn")
    parser.add_argument("--skew", type=float, default=1.0, help="how much further from even than LDBC's networks")
    parser.add_argument("--out", type=Path, default=RESULTS / "lsqb.md")
    chosen = parser.parse_args()
    networks = [Network(scale, chosen.seed, chosen.skew) for scale in chosen.scale]
    rows = [row for each in networks for row in measure(each, chosen.memory, chosen.timeout, chosen.runs)]
    text = table(rows)
    Console(width=200).print(text, highlight=False)
    title = f"# LSQB\n\n{chosen.runs} runs, {chosen.memory} for every engine, two threads.\n\n"
    chosen.out.write_text(f"{title}{text}\n\n![LSQB]({chosen.out.stem}.svg)\n")
    groups = [(f"{row.query} {row.scale:g}", row.seconds) for row in rows]
    chosen.out.with_suffix(".svg").write_text(bars("LSQB, milliseconds (log scale)", groups))


if __name__ == "__main__":
    main()
