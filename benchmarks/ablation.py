"""What each technique is worth: every one is switched off alone, and the same queries are counted with and without it.

    python -m benchmarks.ablation --data ../shared/data [--scale 0.3] [--timeout 5] [--sample 1]

The queries are those of the labelled suite, and P1 to P9 without labels, that are counted within the given share of the
timeout with everything on, the nine of LSQB, and those of `payments.py`. With and without take turns. Answers must stay
the same.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console
from rich.progress import track

import gquery
from benchmarks.counting.measure import measure
from benchmarks.counting.suites import SUITES, Case, Suite, cases
from benchmarks.lsqb.generate import SIZES, generate
from benchmarks.lsqb.statements import CYPHER
from benchmarks.payments import QUESTIONS, payments
from gquery import session
from gquery.executor.cpu.candidates import candidate_graph, ranked, sets
from gquery.executor.cpu.candidates import row_bitmaps as bitsets
from gquery.executor.cpu.engine import CpuCandidates
from gquery.executor.cpu.kernels.sums import branch
from gquery.executor.cpu.search import pack, run
from gquery.executor.cpu.search.frames import listing, summing
from gquery.executor.relational import computing
from gquery.executor.relational.database import running
from gquery.planner import plan
from gquery.planner.passes import candidates as filters
from gquery.planner.passes.rewriting.compose_functional_edges import compose
from gquery.planner.passes.rewriting.equal_values import meet_at_values
from gquery.planner.search import counting, matching, orders, second_half, solving
from gquery.planner.search.alike import symmetry
from gquery.planner.search.costs import CPU
from gquery.planner.search.sums import factorise, inclusion, strategy, ties
from gquery.storage.adjacency import Adjacency

ROOT = Path(__file__).resolve().parents[1]
RUNS = 5  # of a query of LSQB
QUICK = 0.1  # share of the timeout within which a query must be counted with everything on
LONGER = 6.0  # times the timeout, of P1 to P9


@dataclass(frozen=True)
class Technique:
    """`off`: (owner, name of the attribute, what replaces it)."""

    name: str
    off: tuple[tuple[Any, str, Any], ...]


def _never(*_: object, **__: object) -> bool:
    return False


def _none(*_: object) -> None:
    return None


def _no_vertex(*_: object) -> int:
    return 0


def _nothing(*_: object, **__: object) -> list[Any]:
    return []


def _where_pushed(*given: Any, pushed: bool = False, **named: Any) -> frozenset[int]:
    """Sums are pushed along all data edges or not at all."""
    pushed = given[3] if len(given) > 3 else pushed
    return _repeated(*given[:3], pushed, *given[4:], **named) if pushed else frozenset()


_repeated = strategy.repeated_edges


def _on_one_thread(*given: Any, **named: Any) -> Any:
    return _stream(*given, **{**named, "threads": 1})


_stream = running.stream


def _without(step: plan.Pass) -> tuple[Any, str, Any]:
    return plan, "PASSES", tuple(each for each in plan.PASSES if each is not step)


def _same(first: Any, *_: object) -> Any:
    return first


def _walked(self: bitsets.Bitsets, adjacency: Adjacency, begin: int, end: int, *_: object) -> bitsets.Columns:
    return self.walked(adjacency, begin, end)


_tree = factorise.Factoriser._parents


def _chain(
    self: factorise.Factoriser, order: tuple[int, ...], kept: int
) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
    """Every vertex below the one before it, and dependent on all of them; not where a part needs a sum of its own."""
    if self.parts:
        return _tree(self, order, kept)
    below = range(max(1, kept), len(order))
    parents = {order[level]: order[level - 1] for level in below}
    contexts = {order[level]: sum(1 << vertex for vertex in order[:level]) for level in below}
    return parents, contexts, dict.fromkeys(parents, 0)


def _costs(**changes: Any) -> tuple[Any, str, Any]:
    return session, "CPU", replace(CPU, **changes)


def _raw(*_: object, **__: object) -> tuple[str, str]:
    return "vertices", "the candidate graph is switched off"


TECHNIQUES = (
    Technique("neighbour-label counts", ((filters, "_neighbour_counts", _nothing),)),
    Technique("signatures", ((filters, "_signature", _none),)),
    Technique("leaving out filters that do not pay", (_costs(filters_weighed=math.inf),)),
    Technique("composed edges", (_without(compose),)),
    Technique("equal values met at", (_without(meet_at_values),)),
    Technique("values compared after all", ((counting, "compared", _none),)),
    Technique("candidate graph", ((matching, "pick_space", _raw), (second_half, "pick_space", _raw))),
    Technique("refinement sweeps", ((candidate_graph, "MAX_SWEEPS", 0),)),
    Technique("sums over a tree", ((factorise.Factoriser, "_parents", _chain),)),
    Technique("remembered sums", (_costs(reuse=math.inf),)),
    Technique("sums inside neighbourhoods", (_costs(inside_look=math.inf),)),
    Technique("leaves prepared inside neighbourhoods", ((pack, "prepared_levels", _nothing),)),
    Technique("an order by numbers of neighbours", ((ranked, "ranking_of", _none),)),
    Technique("pushed sums", (_costs(push=math.inf),)),
    Technique("certain collisions as constants", ((ties.Ties, "constants", _no_vertex),)),
    Technique("alike leaves looked at once", ((factorise.Factoriser, "_same", _never),)),
    Technique("blocks of partial matches", ((strategy, "can_chain", _never),)),
    Technique("matrices of bits", ((bitsets, "LARGEST", 0),)),
    Technique("signatures of rows", ((pack, "signatures", _nothing),)),
    Technique("matrices kept for other queries", ((sets.CandidateSets, "cache_of", _none),)),
    Technique("what filters leave kept for other queries", ((sets.CandidateSets, "_asked", _none),)),
    Technique("folded branches", (_costs(folds=-1.0),)),
    Technique("differences of a running sum", ((branch, "_SHORT", 0),)),
    Technique("inclusion and exclusion", ((counting._CountPlanner, "_ways", _nothing),)),
    Technique("equal edges by exclusion", ((inclusion, "_unlike", _nothing),)),
    Technique("far tests together", ((counting._CountPlanner, "_untied", _nothing),)),
    Technique("alike problems counted once", ((counting, "combined", _same),)),
    Technique("data edges by number", ((counting, "numbered", _nothing),)),
    Technique("no self-loops between different vertices", ((counting, "loop_free", _same),)),
    Technique("symmetry breaking", ((symmetry.Symmetry, "is_trivial", True),)),
    Technique("walks for estimates", ((CpuCandidates, "sampler", None),)),
    Technique("a second, larger sample", (_costs(effort=replace(CPU.effort, confirmed=CPU.effort.walked)),)),
    Technique("an order for each partial match", (_costs(tried=0.0),)),
    Technique("changes of orders", ((solving.Solver, "improved", solving.Solver.best),)),
    Technique("orders from several roots", (_costs(effort=replace(CPU.effort, roots=0)),)),
    Technique(
        "leaves by set size", ((pack._Packer, "_set_size", _never), (ties.Ties, "constants", _no_vertex))
    ),  # constants are of set sizes
    Technique("rows as bitsets while they stay", ((bitsets.Bitsets, "looked_into", _walked),)),
    Technique("rows cut to a label", ((pack._Packer, "_cut", _never),)),
    Technique("first orders of few candidates", ((orders.Orders, "easy", _none),)),
    Technique("leaving filters to sweeps", (_costs(filter_begin=0.0),)),
    Technique(
        "work below a vertex shared",
        ((summing, "half_of_tree", _none), (listing, "half_of_block", _none), (summing, "half_of_block", _none)),
    ),
    Technique("all workers at once", ((run, "_LASTING", math.inf),)),
    Technique(
        "along each data edge by itself",
        tuple((each, "repeated_edges", _where_pushed) for each in (matching, strategy)),
    ),
    Technique("pairs without what joins them", (_costs(effort=replace(CPU.effort, pairs=False)),)),
    Technique("edges as they are stored", ((matching, "_pays_to_scan", _never),)),
    Technique("values added up where rows are found", ((computing, "groups_of", _none),)),
    Technique("keys as codes", ((computing, "coded_keys", _nothing),)),
    Technique("statements on all threads", ((running, "stream", _on_one_thread),)),
)


@contextlib.contextmanager
def without(technique: Technique) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for owner, name, value in technique.off:
            patch = (
                mock.patch(f"{owner}.{name}", value)
                if isinstance(owner, str)
                else mock.patch.object(owner, name, value)
            )
            stack.enter_context(patch)
        yield


@dataclass(frozen=True)
class Effect:
    """ratios: time without a technique over time with it, query by query; lost: queries not counted in time without."""

    ratios: list[float]
    lost: int

    @property
    def cells(self) -> tuple[str, str, str]:
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in self.ratios)) if self.ratios else math.nan
        return f"{mean:.2f}", f"{max(self.ratios, default=math.nan):.1f}", str(self.lost)


def on_patterns(name: str, data: Path, timeout: float, sample: int) -> dict[str, Effect]:
    """Of a suite."""
    suite = replace(SUITES[name], timeout=timeout)
    effects = {technique.name: Effect([], 0) for technique in TECHNIQUES}
    for case in track(list(cases(name, data))[::sample], description=suite.title, console=Console(stderr=True)):
        measure(case, suite, None)
        full = measure(case, suite, None)
        if full.count is not None and full.seconds < QUICK * timeout:
            for technique in TECHNIQUES:
                effects[technique.name] = _compared(effects[technique.name], technique, case, suite)
    return effects


def _compared(effect: Effect, technique: Technique, case: Case, suite: Suite) -> Effect:
    full = measure(case, suite, None)
    with without(technique):
        less = measure(case, suite, None)
    if less.count is None:
        return replace(effect, lost=effect.lost + 1)
    _expect(full.count == less.count, technique, case.text)
    return replace(effect, ratios=[*effect.ratios, less.seconds / full.seconds])


def on_lsqb(scale: float, timeout: float) -> dict[str, Effect]:
    folder = ROOT / "build" / "lsqb" / f"sf{str(scale).replace('.', '_')}"
    if not folder.exists():
        generate(folder, scale)
    graph = gquery.load(folder, super_labels={"Message": ["Post", "Comment"]})
    return on_graph("LSQB", graph, CYPHER.values(), timeout)


def on_graph(name: str, graph: gquery.Graph, texts: Iterable[str], timeout: float) -> dict[str, Effect]:
    """Of questions to one graph."""
    effects = {}
    for technique in track(TECHNIQUES, description=name, console=Console(stderr=True)):
        ratios, lost = [], 0
        for text in texts:
            full, answer = _timed(graph, text, timeout)
            try:
                with without(technique):
                    less, same = _timed(graph, text, timeout)
            except gquery.GQueryError:
                lost += 1
                continue
            _expect(answer == same, technique, text)
            ratios.append(less / full)
        effects[technique.name] = Effect(ratios, lost)
    return effects


def _timed(graph: gquery.Graph, text: str, timeout: float) -> tuple[float, Any]:
    """Seconds, and the answer in short."""
    seconds, answer = [], None
    for _ in range(RUNS):
        began = time.perf_counter()
        found = gquery.Graph(graph.snapshot).query(text, timeout=timeout).to_arrow()  # with no plan remembered
        seconds.append(time.perf_counter() - began)
        answer = found.num_rows, found.slice(0, 1 if found.num_rows == 1 else 0).to_pylist()
    return statistics.median(seconds), answer


def _expect(same: bool, technique: Technique, text: str) -> None:
    if not same:
        raise SystemExit(f"without {technique.name} the count is another: {text}")


def table(effects: dict[str, dict[str, Effect]]) -> str:
    """Of groups of queries."""
    lines = [
        "| without | " + " | ".join(f"{name}: mean | most | lost" for name in effects) + " |",
        "| --- |" + " ---: |" * (3 * len(effects)),
    ]
    for technique in TECHNIQUES:
        cells = [cell for group in effects.values() for cell in group[technique.name].cells]
        lines.append("| " + " | ".join((technique.name, *cells)) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the published graphs and queries")
    parser.add_argument("--scale", type=float, default=0.3, choices=list(SIZES), help="scale factor of LSQB")
    parser.add_argument("--timeout", type=float, default=5.0, help="seconds for one count")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "ablation.md")
    parser.add_argument("--sample", type=int, default=1, help="take every so many of the labelled queries")
    chosen = parser.parse_args()
    text = table(
        {
            "patterns": on_patterns("labelled", chosen.data, chosen.timeout, chosen.sample),
            "P1 to P9": on_patterns("small", chosen.data, LONGER * chosen.timeout, 1),
            "LSQB": on_lsqb(chosen.scale, chosen.timeout),
            "payments": on_graph("payments", payments(), QUESTIONS.values(), chosen.timeout),
        }
    )
    Console(width=200).print(text, highlight=False)
    share = "all" if chosen.sample == 1 else f"one in {chosen.sample}"
    note = (
        "How many times longer a query takes when one technique is switched off: the geometric mean, the most, and the "
        f"queries that are not counted any more in {chosen.timeout:g} s. Planning is included. Patterns: "
        f"{share} of the labelled suite that are counted in {QUICK * chosen.timeout:g} s with everything on. P1 to P9 "
        f"without labels on Enron and slashdot have {LONGER:g} times as long. LSQB: "
        f"scale factor {chosen.scale:g}. Payments: `benchmarks/payments.py`.\n"
    )
    chosen.out.write_text(f"# What each technique is worth\n\n{note}\n{text}\n")


if __name__ == "__main__":
    main()
