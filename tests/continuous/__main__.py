"""python -m tests.continuous [--batches 10000] [--first 0] [--processes 1] [--device cpu]: queries that stand.

Random batches come one after the other on one random graph after the other, in all modes; some queries stand on each
graph, and are asked anew for each batch.

What is wrong is printed with the number of its graph: `--first NUMBER --batches 1` is that graph again. The exit status
says whether anything was.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from tests.conftest import SUITE
from tests.continuous.following import BATCHES, STANDING, begin, follow

TOLD = 50  # graphs between two lines that say how far it is


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.continuous", description=__doc__)
    options.add_argument("--batches", type=int, default=10_000)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--processes", type=int, default=1)
    options.add_argument("--device", choices=SUITE, default="cpu")
    given = options.parse_args()
    graphs = range(given.first, given.first - -given.batches // BATCHES)
    print(f"graphs {graphs.start} to {graphs.stop - 1}, {BATCHES} batches each, {given.device}", flush=True)
    began, wrong = time.perf_counter(), 0
    spawned = get_context("spawn")  # a card is no child's of a fork
    with ProcessPoolExecutor(given.processes, spawned, begin, (given.device,)) as pool:
        for done, told in enumerate(pool.map(partial(follow, device=given.device), graphs), 1):
            for problem in told:
                print(f"graph {graphs[done - 1]}: {problem}", flush=True)
            wrong += len(told)
            if done % TOLD == 0:
                print(f"{BATCHES * done:,} batches in {time.perf_counter() - began:,.0f} s", flush=True)
    print(f"{BATCHES * len(graphs):,} batches, {STANDING} queries on each: {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
