"""How long planning takes: patterns of many vertices in every match mode, small queries, long texts.

    python -m benchmarks.planning [part of a name ...]

Nothing is matched. For each pattern the best of a few rounds in milliseconds of processor time: `prepare` is from the
text to a plan with nothing remembered (parsing, binding, the first half of planning); `match` is the second half, which
a run makes from true cardinalities (space, orders and trees, without packing them). Where all are asked, the table in
benchmarks/results is written anew.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import gquery
from gquery.session import Prepared
from gquery.stopping import unchecked
from tests.planner.shapes import MODES, pattern, shape

ROUNDS = 30
RESULTS = Path(__file__).resolve().parent / "results"
_NOTE = (
    "`python -m benchmarks.planning`, milliseconds of processor time, best of up to 30 rounds, on one core. Nothing is "
    "matched. Large patterns: the slowest of four kinds (labelled or not, directed or not, simple or parallel edges), "
    "from the text to the plan."
)


def graph() -> gquery.Graph:
    """2,000 vertices, half of them A, half B; X is simple, Y has parallel edges and self-loops."""
    random = np.random.default_rng(3)
    ends = {}
    for source in "AB":
        for target in "AB":
            pairs = np.unique(random.integers(0, 1000, (4000, 2)), axis=0)
            pairs = pairs[pairs[:, 0] != pairs[:, 1]]
            many = random.integers(0, 60, (2000, 2))
            ends[source, "X", target] = {"source": pairs[:, 0], "target": pairs[:, 1]}
            ends[source, "Y", target] = {"source": many[:, 0], "target": many[:, 1]}
    vertices = {label: {"id": np.arange(1000), "n": np.arange(1000) % 50} for label in "AB"}
    return gquery.from_arrow(vertices=vertices, edges=ends)


LARGE = [
    ("path", 200), ("star", 64), ("clique", 12), ("cycle", 200), ("grid", 10), ("tree", 127), ("caterpillar", 60),
    ("barbell", 8), ("parallel", 64), ("pieces", 50),
]  # fmt: skip


def large() -> Iterator[tuple[str, str]]:
    for name, size in LARGE:
        for mode in MODES:
            for label, edge, arrow in ((":A", ":X", ">"), ("", ":X", ""), ("", "", ">"), (":A", ":Y", "")):
                text = pattern(shape(name, size)[1], label, edge, arrow)
                kind = f"{label or 'any'} {edge or 'any'}{arrow}"
                yield f"{name} {size} {mode} {kind}", f"MATCH {mode} {text} RETURN count(*)"
        text = pattern(shape(name, size)[1], ":A", ":X", ">")
        yield f"{name} {size} listed", f"MATCH {text} RETURN v0, v1"


MANY = range(10_000)
LONG = {
    "1,000 patterns": "MATCH " + ", ".join(f"(v{n}:A)" for n in range(1_000)) + " RETURN count(*)",
    "10,000 OR": "MATCH (a:A) WHERE " + " OR ".join(f"a.n = {n}" for n in MANY) + " RETURN count(*)",
    "10,000 AND": "MATCH (a:A) WHERE " + " AND ".join(f"a.n <> {n}" for n in MANY) + " RETURN count(*)",
    "10,000 columns": "MATCH (a:A) RETURN " + ", ".join(f"a.n + {n}" for n in MANY),
    "10,000 groups": "MATCH (a:A) RETURN " + ", ".join(f"a.n + {n}" for n in MANY) + ", count(*)",
    "10,000 IN": f"MATCH (a:A) WHERE a.n IN [{', '.join(map(str, MANY))}] RETURN count(*)",
    "10,000 CASE": f"MATCH (a:A) RETURN CASE a.n {' '.join(f'WHEN {n} THEN {n}' for n in MANY)} END",
    "10,000 labels": f"MATCH (a:{'|'.join(['A', 'B'] * 5_000)}) RETURN count(*)",
    "10,000 entries": f"RETURN {{{', '.join(f'k{n}: {n}' for n in MANY)}}} AS m",
    "path of 190 with predicates": "MATCH "
    f"{'-[:X]->'.join(f'(v{n} {{n: {n % 50}}})' for n in range(190))} RETURN count(*)",
    "20 EXISTS": f"MATCH (a:A) WHERE {' AND '.join(f'(a)-[:X]->(:A)-[:X]->(:B {{n: {n}}})' for n in range(20))} "
    "RETURN count(*)",
    "20 OPTIONAL": f"MATCH (a:A) {' '.join(f'OPTIONAL MATCH (a)-[:X]->(b{n})-[:X]->()' for n in range(20))} "
    "RETURN count(*)",
}


SMALL = {
    "vertex": "MATCH (a:A {n: 3}) RETURN a.n",
    "edge": "MATCH (a:A)-[:X]->(b:B) RETURN a.n, b.n",
    "triangle": "MATCH (a:A)-[:X]->(b:A)-[:X]->(c:A)<-[:X]-(a) RETURN count(*)",
    "square": "MATCH DIFFERENT NODES (a)-[:X]-(b)-[:X]-(c)-[:X]-(d)-[:X]-(a) RETURN count(*)",
    "clique of 5": "MATCH (a)-[:X]-(b)-[:X]-(c)-[:X]-(d)-[:X]-(e)-[:X]-(a)-[:X]-(c)-[:X]-(e)-[:X]-(b)-[:X]-(d)-[:X]-(a)"
    " RETURN count(*)",
    "star of 4": "MATCH INDUCED (a:A)-[:X]->(b), (a)-[:X]->(c), (a)-[:X]->(d), (a)-[:X]->(e) RETURN count(*)",
    "path of 6": "MATCH (a)-[:X]->(b)-[:X]->(c)-[:X]->(d)-[:X]->(e)-[:X]->(f) WHERE a.n < f.n RETURN count(*)",
    "grouped": "MATCH (a:A)-[:X]->(b:B)<-[:Y]-(c:A) WHERE c.n > 7 RETURN b.n, count(*) ORDER BY count(*) DESC LIMIT 5",
    "parts": "MATCH (a:A)-[:X]->(b) WHERE NOT (a)-[:Y]->(b) OPTIONAL MATCH (b)-[:Y]->(c) RETURN count(*)",
}


def times(asked: gquery.Graph, text: str) -> tuple[float, float]:
    """Milliseconds of the two halves."""
    best = [float("inf"), float("inf")]
    begun = time.process_time()
    for _ in range(ROUNDS):
        start = time.process_time()
        query = Prepared(asked.snapshot, text, {}, asked.settings)
        middle = time.process_time()
        for second_half in query.matchings.values():
            second_half.estimated(unchecked)
        best = [min(best[0], middle - start), min(best[1], time.process_time() - middle)]
        if time.process_time() - begun > 0.5:
            break
    return best[0] * 1e3, best[1] * 1e3


def table(found: dict[str, tuple[float, float]]) -> str:
    """The slowest of each kind of large pattern by match mode, and small ones as they are."""
    lines = ["# Planning", "", _NOTE, "", f"| pattern | {' | '.join(MODES)} |", "| --- |" + " ---: |" * len(MODES)]
    for name, size in LARGE:
        slowest = [max(sum(found[key]) for key in found if key.startswith(f"{name} {size} {mode}")) for mode in MODES]
        lines.append(f"| {name} {size} | {' | '.join(f'{each:.0f}' for each in slowest)} |")
    lines += ["", "Small patterns: parsing, binding and the first half of planning; orders and trees.", ""]
    lines += ["| query | prepare | match |", "| --- | ---: | ---: |"]
    lines += [f"| {name} | {found[name][0]:.2f} | {found[name][1]:.2f} |" for name in SMALL]
    return "\n".join(lines) + "\n"


def main() -> None:
    asked = graph()
    times(asked, SMALL["triangle"])
    wanted, found = sys.argv[1:], {}
    print(f"{'':48} {'prepare':>9} {'match':>9} {'sum':>9}  ms")
    for name, text in (*SMALL.items(), *large(), *LONG.items()):
        if not wanted or any(part in name for part in wanted):
            try:
                found[name] = first, second = times(asked, text)
                print(f"{name:48} {first:9.2f} {second:9.2f} {first + second:9.2f}", flush=True)
            except Exception as error:
                print(f"{name:48} {type(error).__name__}: {str(error).splitlines()[0][:80]}", flush=True)
    if not wanted:
        (RESULTS / "planning.md").write_text(table(found))


if __name__ == "__main__":
    main()
