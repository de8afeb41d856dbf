"""Network motifs beside the times of other tools: `python -m benchmarks.motifs` prints the table of
`results/motifs.md`.

With `sets` or `queries` behind it, one of the tables of larger networks; with `trees`, random graphs along a tree; with
`card` or `card-sets`, on the GPU: `card-sets HS 1000` takes one set, with so many random graphs.

A census is timed from arcs to counts by class, on one thread: building the rows, counting, canonical forms. Times are
CPU time of the process, the least of several runs; those of other tools are of the reference in `../shared/data/motif`
(one core of a machine of the same kind, the tool's own figure for its census). Every count is compared with the
reference. With random graphs, all threads together.
"""

from __future__ import annotations

import csv
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import gquery
from gquery.executor.census.graph import Arcs, Coloured
from gquery.executor.census.layout import layout_of
from gquery.executor.census.null import Null
from gquery.executor.cpu.census.counting import Crew, census
from gquery.executor.progress import Control
from gquery.motif.matrices import matrix_of
from gquery.motif.on_card import counted_on_card
from gquery.motif.queries import counted_by_queries
from gquery.motif.question import read_question
from gquery.motif.simple import simplified
from gquery.settings import Settings

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "data" / "motif" / "reference"
ENOUGH, MOST = 0.5, 50  # seconds that a census is repeated for, and how often
RANDOM = ((3, 1000), (4, 1000), (5, 1000))  # size, random graphs: of the yeast network
THREADS = 2
SETS = {"YP": (2361, 6646), "MM": (4293, 7987), "HS": (1509, 5598)}  # vertices and edges
QUARTERS, FEW, MANY = (0.45, 0.22, 0.22, 0.11), 3, 100  # of R-MAT; random graphs
TREES = (
    ("social", 5), ("social", 6), ("social", 7), ("elec", 5), ("elec", 6), ("elec", 7), ("ecoli", 6), ("yeast", 5),
    ("celegans", 5),
)  # fmt: skip
SKIPPED, MEASURED = 1, 5  # random graphs: the first has most of the codes that are new
LARGE = ("facebook_combined", "ca-AstroPh", "email-Enron")


def network(name: str, size: int, directed: bool) -> Coloured:
    """One of the reference, its vertices numbered by falling degree."""
    ids: dict[str, int] = {}
    with (REFERENCE / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        ends = [[ids.setdefault(end, len(ids)) for end in row] for row in list(csv.reader(lines))[1:]]
    return numbered(np.array(ends), size, directed)


def numbered(pairs: NDArray[np.int64], size: int, directed: bool) -> Coloured:
    """A graph of arcs, int[m, 2], its vertices numbered by falling degree."""
    vertices, ends = np.unique(pairs, return_inverse=True)
    pairs = np.argsort(np.argsort(-np.bincount(ends.ravel()), kind="stable"))[ends.reshape(-1, 2)]
    if not directed:
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    tails, heads = (np.ascontiguousarray(side, np.int32) for side in pairs.T)
    arcs = Arcs(tails, heads, np.zeros(len(tails), np.int32))
    return Coloured(arcs, np.zeros(len(vertices), np.int32), layout_of(size, 1, 1, directed))


def counted(graph: Coloured) -> dict[str, int]:
    codes, counts = Crew(graph, 1, Control()).of_graph()
    return {
        matrix_of(graph.layout, code).text: number
        for code, number in zip(codes.tolist(), counts.tolist(), strict=True)
        if number
    }


def seconds(graph: Coloured) -> float:
    """The least CPU time of some runs."""
    taken: list[float] = []
    while len(taken) < 3 or (sum(taken) < ENOUGH and len(taken) < MOST):
        began = time.process_time()
        Crew(graph, 1, Control()).of_graph()
        taken.append(time.process_time() - began)
    return min(taken)


def tools() -> dict[tuple[str, str, int], dict[str, float]]:
    """Times of the reference: by network, directions and size, each tool's best."""
    found: dict[tuple[str, str, int], dict[str, float]] = defaultdict(dict)
    with (REFERENCE / "times.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["random_graphs"] == "0" and row["tool_s"] and float(row["tool_s"]) > 0:
                times = found[row["network"], row["directed"], int(row["k"])]
                times[row["tool"]] = min(times.get(row["tool"], math.inf), float(row["tool_s"]))
    return found


def reference() -> dict[tuple[str, str, int], dict[str, int]]:
    found: dict[tuple[str, str, int], dict[str, int]] = defaultdict(dict)
    with (REFERENCE / "census.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            found[row["network"], row["directed"], int(row["k"])][row["class"]] = int(row["count"])
    return found


def print_censuses() -> None:
    names = ("gtrieScanner", "Kavosh", "FANMOD", "python-igraph 1.0.0")
    print(f"| network | directed | k | subgraphs | gquery, ms | {', ms | '.join(names)}, ms | best of them / gquery |")
    print("|" + "---|" * (6 + len(names)))
    known, ratios = tools(), []
    for key, classes in reference().items():
        name, directed, size = key
        graph = network(name, size, directed == "yes")
        assert counted(graph) == classes, key
        own, others = seconds(graph), known[key]
        cells = [f"{1000 * others[tool]:,.1f}" if tool in others else "" for tool in names]
        ratio = min(others.values()) / own if others else math.nan
        if "gtrieScanner" in others:
            ratios.append(others["gtrieScanner"] / own)
        text = f"{ratio:.1f}" if others else ""
        row = [name, directed, str(size), f"{sum(classes.values()):,}", f"{1000 * own:,.2f}", *cells, text]
        print(f"| {' | '.join(row)} |", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"\ngtrieScanner's best mode takes {mean:.1f} times as long on the geometric mean of {len(ratios)}; "
          f"the smallest of its ratios is {min(ratios):.2f}.\n")  # fmt: skip


def print_random_graphs() -> None:
    print(f"| yeast, k | random graphs | CPU time, s | wall, s, {THREADS} threads |")
    print("|---|---|---|---|")
    for size, graphs in RANDOM:
        graph, null = network("yeast", size, True), Null("degrees", 10, 7)
        census(graph, null, 2, THREADS, Control())  # kernels are there
        began, cpu = time.perf_counter(), time.process_time()
        census(graph, null, graphs, THREADS, Control())
        print(
            f"| {size} | {graphs:,} | {time.process_time() - cpu:.2f} | {time.perf_counter() - began:.2f} |", flush=True
        )


def made(vertices: int, edges: int) -> Coloured:
    """A directed graph of six-vertex motifs, as R-MAT makes it (Chakrabarti, Zhan and Faloutsos, SDM 2004)."""
    random, bits = np.random.default_rng(1), (vertices - 1).bit_length()
    pairs = np.zeros((0, 2), np.int64)
    while len(pairs) < edges:
        quarters = random.choice(4, p=QUARTERS, size=(2 * edges, bits))
        drawn = np.stack([(quarters >> side & 1) @ (1 << np.arange(bits)) for side in (1, 0)], axis=1)
        kept = drawn[(drawn[:, 0] != drawn[:, 1]) & (drawn < vertices).all(axis=1)]
        pairs = np.unique(np.concatenate([pairs, kept]), axis=0)
    return numbered(pairs[random.permutation(len(pairs))[:edges]], 6, True)


def print_sets() -> None:
    """Sets of the size of those in NEMO (Lin and others, IEEE TKDE 29(3), 2017), six vertices."""
    print("| set | vertices | edges | subgraphs | classes | the graph, s | a random graph, s | memory, MB |")
    print("|" + "---|" * 8)
    for name, (vertices, edges) in SETS.items():
        graph, control = made(vertices, edges), Control()
        times = []
        for graphs in (0, FEW):
            began = time.process_time()
            found = census(graph, Null("degrees", 10, 7), graphs, 1, control)
            times.append(time.process_time() - began)
        numbers = f"{vertices:,} | {edges:,} | {found.counts.sum():,} | {len(found.codes):,} | {times[0]:,.1f}"
        each = (times[1] - times[0]) / FEW
        print(f"| {name} | {numbers} | {each:,.1f} | {control.memory.peak / 1e6:,.0f} |", flush=True)


def print_card() -> None:
    """Random graphs of yeast on the GPU and on all cores of the CPU: the second of two runs."""
    print("| yeast, k | random graphs | the card, wall, s | the CPU, wall, s |")
    print("|---|---|---|---|")
    null, threads = Null("degrees", 10, 7), Settings().threads
    for size, graphs in ((3, 1000), (4, 1000), (5, 1000), (6, 100), (6, 1000)):
        graph, taken, found = network("yeast", size, True), [], []
        for count in (counted_on_card, census):
            for repeat in (2, graphs):
                began = time.perf_counter()
                counts = count(graph, null, repeat, threads, Control())
            taken.append(time.perf_counter() - began)
            found.append(counts)
        assert np.array_equal(found[0].counts, found[1].counts), size
        assert np.array_equal(found[0].random.counts, found[1].random.counts), size
        print(f"| {size} | {graphs:,} | {taken[0]:.2f} | {taken[1]:.2f} |", flush=True)


def print_card_sets(*asked: str) -> None:
    """The same sets on the GPU, or those that are asked for, with as many random graphs."""
    names = [name for name in asked if name in SETS] or ("MM", "YP", "HS")
    graphs = next((int(word) for word in asked if word.isdigit()), MANY)
    print("| set | subgraphs | classes | random graphs | wall, s | memory of the host, MB |")
    print("|---|---|---|---|---|---|")
    for name in names:
        graph, control = made(*SETS[name]), Control()
        began = time.perf_counter()
        found = counted_on_card(graph, Null("degrees", 10, 7), graphs, Settings().threads, control)
        numbers = f"{found.counts.sum():,} | {len(found.codes):,} | {graphs:,} | {time.perf_counter() - began:.1f}"
        print(f"| {name} | {numbers} | {control.memory.peak / 1e6:,.0f} |", flush=True)


def print_trees() -> None:
    """Random graphs by sets of vertices, and along a tree of the classes of the graph itself."""
    print("| network | k | classes | nodes of the tree | made in, ms | by sets, ms | by tree, ms | tree / sets |")
    print("|" + "---|" * 8)
    for name, size in TREES:
        graph, control = network(name, size, True), Control()
        crew = Crew(graph, 1, control)
        shown = np.flatnonzero(crew.of_graph()[1])
        crew.tree(shown[:1])  # kernels are there
        began = time.process_time()
        tree = crew.tree(shown)
        made_in = time.process_time() - began
        matcher, shuffler, taken = crew.matcher(tree), crew.shuffler(Null("degrees", 10, 7)), np.zeros(2)
        with crew.one() as worker:
            for number in range(SKIPPED + MEASURED):
                pairs = worker.read(shuffler.make(number, control.check))
                times = [time.process_time()]
                by_sets = worker.by_class(pairs, shown)
                times.append(time.process_time())
                along = matcher.count(pairs)
                times.append(time.process_time())
                assert np.array_equal(by_sets[0], along[0]), name
                assert by_sets[1] == along[1], name
                taken += np.diff(times) * (1000 / MEASURED) * (number >= SKIPPED)
        numbers = f"{len(shown):,} | {len(tree.classes):,} | {1000 * made_in:.0f} | {taken[0]:,.1f} | {taken[1]:,.1f}"
        print(f"| {name} | {size} | {numbers} | {taken[1] / taken[0]:.2f} |", flush=True)


def print_queries() -> None:
    """Undirected motifs of four vertices in large networks: by sets of vertices, and by queries."""
    print("| network | edges | subgraphs | by sets, s | by queries, s |")
    print("|---|---|---|---|---|")
    for name in LARGE:
        loaded = gquery.load(REFERENCE.parents[1] / "snap" / f"{name}.txt.gz", undirected=True)
        graph = simplified(loaded.snapshot, read_question(4, {"directed": False})).graph
        null, one = Null("degrees", 10, 7), Settings(threads=1)
        counted_by_queries(graph, null, 0, one, Control())  # kernels are there
        began = time.process_time()
        found = counted_by_queries(graph, null, 0, one, Control())
        queried = time.process_time() - began
        assert np.array_equal(found.counts, census(graph, null, 0, 1, Control()).counts), name
        times = f"{time.process_time() - began - queried:.2f} | {queried:.2f}"
        print(f"| {name} | {len(graph.arcs.tails):,} | {found.counts.sum():,} | {times} |", flush=True)


TABLES: dict[str, tuple[Callable[..., None], ...]] = {
    "sets": (print_sets,),
    "queries": (print_queries,),
    "trees": (print_trees,),
    "card": (print_card,),
    "card-sets": (print_card_sets,),
    "": (print_censuses, print_random_graphs),
}

if __name__ == "__main__":
    table, *words = sys.argv[1:] or [""]
    for print_table in TABLES[table]:
        print_table(*words)
