"""python -m tests.soak --seconds 3600 --seed N: gquery against the evaluator for as long as wanted.

A failing case is made small, printed and written as a script into --failures, up to three of a kind. The exit status
says whether there were any, or too many refusals. Every graph is asked plain queries and chains of clauses. One graph
again: --graph N, the number between the slashes.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, count
from pathlib import Path

from tests.soak.queries import calling_chain, counting_chain, random_chain, random_lengths, random_query
from tests.soak.run import Outcome, reproduction, soaked

REFUSED = 0.15  # the greatest share
PRINTED = 3  # failures of a kind
MAKERS = (random_query, random_chain, counting_chain, random_lengths, calling_chain)
TOLD = 100  # graphs between two lines that say how far it is


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    options.add_argument("--seconds", type=float, default=3600)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--graph", type=int)
    options.add_argument("--failures", type=Path, default=Path("soak_failures"))
    given = options.parse_args()
    faulthandler.enable()
    print(f"seed {given.seed}, {given.seconds:g} seconds", flush=True)
    graphs = _graphs(given.seed, given.seconds) if given.graph is None else [given.graph]
    kinds, failures = _soak(graphs, given.failures)
    refused = kinds["refused"] / max(1, kinds.total())
    print(f"seed {given.seed}: {kinds.total():,} queries, {dict(kinds)}, {refused:.1%} refused")
    for summary, times in failures.most_common():
        print(f"{times:6} {summary}")
    return 1 if failures or refused > REFUSED else 0


def _graphs(seed: int, seconds: float) -> Iterator[int]:
    end = time.monotonic() + seconds
    for number in count(seed * 1_000_000):
        if time.monotonic() > end:
            break
        yield number


def _soak(graphs: Iterable[int], folder: Path) -> tuple[Counter[str], Counter[str]]:
    """How many cases came out in which way, and what was wrong how often."""
    kinds: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for done, graph in enumerate(graphs):
        if done % TOLD == 0:
            print(f"graph {graph}: {dict(kinds)}", flush=True)
        for outcome in chain.from_iterable(soaked(graph, make) for make in MAKERS):
            kinds[outcome.verdict.kind] += 1
            if outcome.verdict.bad:
                failures[outcome.verdict.summary] += 1
                if failures[outcome.verdict.summary] <= PRINTED:
                    _report(outcome, folder)
    return kinds, failures


def _report(outcome: Outcome, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    script = reproduction(outcome)
    (folder / f"{outcome.place.replace('/', '_')}.py").write_text(script)
    print(script, flush=True)


if __name__ == "__main__":
    sys.exit(main())
