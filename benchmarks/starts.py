"""The time before the first answer: after installation, in a later process, after `open`, and what loading takes.

    python -m benchmarks.starts [--runs 5] [--edges 5000000] [--venv build/starts] [--out benchmarks/results]

A virtual environment is made anew and this checkout installed there by pip, without any extras; every line is a process
of its own, from its start to its end. Times are medians of some runs; beside the wall stands the CPU time of a process
and its children, which is what to compare where others use the machine too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

ROOT = Path(__file__).resolve().parents[1]
_SEED = 7
_KERNELS = "NUMBA_CACHE_DIR"  # the variable that says where kernels are kept

_QUESTIONS = {
    "count": "MATCH (a)-[:KNOWS]->(b)-[:KNOWS]->(c) RETURN count(*) AS n",
    "list": "MATCH (a:Person)-[k:KNOWS]->(b) WHERE a.age < 3 RETURN a.id, k.since, b.age LIMIT 10",
    "anchored": "MATCH (a:Person)-[:KNOWS]->(b) WHERE a.id = 7 RETURN b.id, b.age",
    "triangles": "MATCH (a)-[:KNOWS]->(b)-[:KNOWS]->(c)-[:KNOWS]->(a) RETURN count(*) AS n",
}
_ASK = "import sys, gquery; gquery.open(sys.argv[1]).query(sys.argv[2]).to_arrow()"
_ANSWER = f"import os; {_ASK}; os._exit(0)"  # Python goes through all objects for garbage before it ends
_LOAD = "import sys, gquery; gquery.load(sys.argv[1])"
_SAVE = "import sys, gquery; gquery.load(sys.argv[1]).save(sys.argv[2])"
_DUCKDB = """
import sys, duckdb
vertices, edges = (f"SELECT * FROM read_csv('{sys.argv[1]}/{name}.csv')" for name in ("Person", "Person_knows_Person"))
connection = duckdb.connect()
connection.execute(f"CREATE TABLE vertices AS {vertices}; CREATE TABLE edges AS {edges}")
for ends in sys.argv[2:]:
    connection.execute(f"CREATE TABLE by_{ends} AS FROM edges ORDER BY {ends}")
"""


@dataclass(slots=True)
class Line:
    """A row of a table: seconds of each run."""

    what: str
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        medians = f"{statistics.median(self.wall):.2f} | {statistics.median(self.cpu):.2f}"
        return f"| {self.what} | {medians} | {min(self.wall):.2f} | {min(self.cpu):.2f} |"


def timed(line: Line, command: Sequence[str | Path], **variables: str) -> None:
    """Runs a process to its end. SystemExit with what it says where it fails."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [str(part) for part in command], cwd=ROOT.anchor, env={**_environment(), **variables},
            stdout=subprocess.DEVNULL, stderr=said,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        line.wall.append(time.perf_counter() - began)
        line.cpu.append(usage.ru_utime + usage.ru_stime)
        if process.returncode:
            said.seek(0)
            raise SystemExit(f"{line.what}: {said.read().decode()}")


def _environment() -> dict[str, str]:
    """Without what would lead to another gquery, or to its kernels."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", _KERNELS)}


def install(venv: Path) -> Path:
    """The folder of the programs of a new virtual environment that has gquery."""
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    subprocess.run([str(venv / "bin" / "pip"), "install", "-q", str(ROOT)], check=True)
    return venv / "bin"


def write_tables(folder: Path, edges: int) -> Path:
    """People who know each other, ten times as many edges as vertices, as CSV files."""
    folder.mkdir(parents=True)
    random, vertices = np.random.default_rng(_SEED), max(10, edges // 10)
    source = (vertices * random.random(edges) ** 1.5).astype(np.int64)
    target, since = random.integers(0, vertices, edges), random.integers(1990, 2026, edges)
    people = pa.table({"id": np.arange(vertices), "age": random.integers(0, 80, vertices)})
    csv.write_csv(people, folder / "Person.csv")
    csv.write_csv(pa.table({"source": source, "target": target, "since": since}), folder / "Person_knows_Person.csv")
    return folder


def first_queries(python: Path, gquery: Path, small: Path, runs: int) -> Iterator[Line]:
    """The first answer over a graph of a few thousand edges, which itself takes no time."""
    for name, text in _QUESTIONS.items():
        line = Line(f"`{name}` right after installation: no kernel is compiled")
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as kernels:
                timed(line, [python, "-c", _ASK, small, text], **{_KERNELS: kernels})
        yield line
    line = Line("`gquery warm` right after installation")
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as kernels:
            timed(line, [gquery, "warm"], **{_KERNELS: kernels})
    yield line
    for text in _QUESTIONS.values():
        timed(Line("compiling"), [python, "-c", _ASK, small, text])
    for name, text in _QUESTIONS.items():
        later = f"`{name}` in a later process"
        yield _repeated(later, [python, "-c", _ASK, small, text], runs)
        yield _repeated(f"{later}, until it is answered", [python, "-c", _ANSWER, small, text], runs)
    yield _repeated("`gquery run` of `count` in a later process", [gquery, "run", small, _QUESTIONS["count"]], runs)
    yield _repeated("`import gquery` alone", [python, "-c", "import gquery"], runs)
    yield _repeated("Python alone", [python, "-c", "pass"], runs)


def large_graphs(python: Path, tables: Path, saved: Path, runs: int) -> Iterator[Line]:
    """Loading, beside DuckDB reading the same files, and the first answer after opening what was saved."""
    yield _repeated("DuckDB: `read_csv` into tables", [python, "-c", _DUCKDB, tables], runs)
    either = [python, "-c", _DUCKDB, tables, "source", "target"]
    yield _repeated("DuckDB: the same, and the edges sorted by either end", either, runs)
    yield _repeated("`gquery.load`", [python, "-c", _LOAD, tables], runs)
    yield _repeated("`gquery.load` and `save`", [python, "-c", _SAVE, tables, saved], runs)
    time.sleep(3)  # what was written a moment ago is verified by every process
    for name, text in _QUESTIONS.items():
        if name != "triangles":
            ask = [python, "-c", _ASK, saved, text]
            with tempfile.TemporaryDirectory() as cache:
                yield _repeated(f"`open` and `{name}`, never verified", ask, 1, XDG_CACHE_HOME=cache)
            yield _repeated(f"`open` and `{name}`", ask, runs)


def _repeated(what: str, command: Sequence[str | Path], runs: int, **variables: str) -> Line:
    line = Line(what)
    for _ in range(runs):
        timed(line, command, **variables)
    return line


def report(chosen: argparse.Namespace, told: Callable[[str], None]) -> None:
    """Tells the lines of the page one after the other."""
    python = install(chosen.venv) / "python"
    gquery = python.with_name("gquery")
    with tempfile.TemporaryDirectory() as made:
        small, large = (write_tables(Path(made, name), edges) for name, edges in (("s", 5_000), ("l", chosen.edges)))
        timed(Line("save"), [python, "-c", _SAVE, small, f"{small}.gq"])
        told(f"{os.cpu_count()} cores, a load of {os.getloadavg()[0]:.1f} at the beginning; medians of {chosen.runs}.")
        heading = "| process | wall s | CPU s | least wall | least CPU |\n| --- |" + " ---: |" * 4
        told(f"\n## The first answer\n\n{heading}")
        for line in first_queries(python, gquery, Path(f"{small}.gq"), chosen.runs):
            told(str(line))
        told(f"\n## {chosen.edges:,} edges with a property, {chosen.edges // 10:,} vertices\n\n{heading}")
        for line in large_graphs(python, large, Path(f"{large}.gq"), chosen.runs):
            told(str(line))
        told(f"\nThe load at the end was {os.getloadavg()[0]:.1f}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--venv", type=Path, default=ROOT / "build" / "starts", help="removed, and made anew")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results", help="folder for the table")
    chosen = parser.parse_args()
    lines = ["# The time before the first answer", "", (__doc__ or "").split("\n\n")[2].strip(), ""]

    def tell(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    chosen.out.mkdir(parents=True, exist_ok=True)
    report(chosen, tell)
    (chosen.out / "starts.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
