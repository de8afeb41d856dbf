"""Queries that need every operation of a card between them, so few that the tools end which watch all of its memory
(`make sanitize`). A count that is not the CPU's, or an operation that no query has needed, ends it with 1.

python -m tests.sanitized [BLOCKS]: with so few blocks of threads. A tool that watches what threads of a block share
sees as much, and takes a fraction of the time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from random import Random
from typing import NamedTuple

import pytest

import gquery
from gquery.executor import matching
from gquery.executor.backend import Backend
from gquery.executor.devices import BACKENDS
from gquery.executor.gpu.device import _BLOCK, _WARP, card
from gquery.executor.gpu.engine import GpuBackend
from gquery.executor.gpu.several import SharingBackend
from gquery.executor.gpu.tape import _NAMES, Run, Tape
from gquery.executor.progress import Control
from gquery.planner.search import costs, orders
from gquery.settings import Settings
from tests.differential import test_counting, test_neighbourhoods
from tests.executor.test_gpu_common import TEXTS, graph_of
from tests.executor.test_gpu_neighbourhoods import PATTERNS, hub_graph
from tests.executor.test_gpu_orders import CLIQUES, PUSHED, TWO_KINDS, skewed, written

WAYS = test_counting.WAYS | test_neighbourhoods.WAYS
_HOUSE = "MATCH (a:A)--(b:B)--(c:A)--(d:B)--(a), (b)--(e:A)--(f:B) RETURN count(*)"
_FORCED = "pushed", "inside", "one by one", "candidate graph"
_DEALT = "dealt out"  # inside, as if there were other cards
WAYS[_DEALT] = WAYS["inside"]
_ADAPTIVE = "an order for each partial match"
WAYS[_ADAPTIVE] = [
    *WAYS["candidate graph"],
    test_counting.costs({"trusted": 1}),
    (matching, "_ALONE", -1),
    (orders.Orders, "easy", lambda _: None),
]


class Asked(NamedTuple):
    """way: which sums are forced on it, of `WAYS`."""

    graph: Callable[[], gquery.Graph]
    text: str
    way: str = "as planned"


@cache
def even() -> gquery.Graph:
    return skewed(Random(3))


@cache
def labelled() -> gquery.Graph:
    """Two labels, numbers to compare, and a hub."""
    return graph_of(Random(5), 350)


@cache
def sparse() -> gquery.Graph:
    """The same with a small hub: there are few matches to remember."""
    return graph_of(Random(5), 5)


@cache
def hub() -> gquery.Graph:
    """Rows that are a block's, and neighbourhoods of more words than a warp has at hand."""
    return hub_graph(4_300, 6_000, seed=5)


@cache
def several() -> gquery.Graph:
    """Loops, and several edges of two types between two vertices."""
    random = Random(7)
    people = {"id": list(range(40)), "x": [random.randrange(5) for _ in range(40)]}
    ends = {name: [[random.randrange(40) for _ in range(150)] for _ in range(2)] for name in ("E", "F")}
    edges = {("V", name, "V"): {"source": one, "target": other} for name, (one, other) in ends.items()}
    return gquery.from_arrow(vertices={"V": people}, edges=edges)


@cache
def two_types() -> gquery.Graph:
    """One edge of each type between two vertices at most, and most with both."""
    random = Random(9)
    pairs = random.sample([(one, other) for one in range(60) for other in range(60) if one != other], 900)
    ends = {name: random.sample(pairs, 700) for name in ("E", "F")}
    edges = {
        ("V", name, "V"): {"source": [one for one, _ in found], "target": [other for _, other in found]}
        for name, found in ends.items()
    }
    return gquery.from_arrow(vertices={"V": {"id": list(range(60))}}, edges=edges)


SELECTION = [
    *(
        Asked(two_types, f"MATCH DIFFERENT NODES {links} RETURN count(*)", _ADAPTIVE)
        for links in (
            "(a)-[:E]->(b)-[:E]->(c)-[:E]->(d), (a)-[:F]->(b), (b)-[:F]->(d)",
            "(a)-[:E]->(b)<-[:E]-(c)-[:F]->(d)<-[:E]-(a), (c)-[:E]->(e), (d)-[:F]->(f)",
        )
    ),
    *(Asked(even, written(links), way) for way in _FORCED for links in (CLIQUES | PUSHED).values()),
    *(Asked(even, written(links), "pushed, modulo primes") for links in PUSHED.values()),
    Asked(even, TWO_KINDS, "pushed"),
    *(Asked(labelled, _HOUSE, way) for way in ("candidate graph", "everything folded")),
    Asked(sparse, _HOUSE, "everything remembered"),
    Asked(even, written("0-1 1-2 2-3 3-4 2-5"), "everything remembered"),
    *(Asked(labelled, text) for text in TEXTS.values()),
    *(
        Asked(hub, f"MATCH DIFFERENT NODES {PATTERNS[name]} RETURN count(*)", "inside")
        for name in ("cliques", "wheels")
    ),
    Asked(hub, written("0-1 1-2 2-3 3-0")),
    *(Asked(each, f"MATCH DIFFERENT NODES {PATTERNS['cliques']} RETURN count(*)", _DEALT) for each in (even, hub)),
    Asked(labelled, "MATCH DIFFERENT NODES (a:A {x: 3})-->(b)-->(c:B) RETURN id(a), id(b), c.x"),
    Asked(labelled, "MATCH (a:A) RETURN id(a)"),
    Asked(labelled, "MATCH (a:A)-->(b)<--(c:B) WHERE a.x <= c.x RETURN count(*)", "one by one"),
    Asked(several, "MATCH (a)-[e]->(b)-[f]->(c)-[g]->(a) RETURN count(*)"),
    Asked(several, "MATCH (a)-[:E]->(a)-[:F]-(b)-[:E]-(c) RETURN count(*)"),
    Asked(several, "MATCH (a)-[e:E|F]-(b)-[f:E]-(c) RETURN a.x AS x, count(*) AS n ORDER BY x"),
]


@contextmanager
def noting() -> Iterator[set[str]]:
    """The operations on tapes that are started within."""
    names, seen, started = {number: name for name, number in _NAMES.items()}, set[str](), Tape.start

    def start(self: Tape, control: Control, modulus: int = 0) -> Run:
        at = 0
        while at < self.here:
            seen.add(names[self._code[at]])
            at += self._code[at + 2]
        return started(self, control, modulus)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Tape, "start", start)
        yield seen


def differing() -> Iterator[str]:
    """What of the selection a card answers in another way than the CPU, and which operations it does without."""
    with noting() as seen:
        for graph, text, way in SELECTION:
            expected = sorted(map(tuple, graph().query(text, device="cpu")))
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(costs, "CARD", costs.CardCosts(patience=1.0, excluding=1.0, filters=0.0))
                for patch in WAYS[way]:
                    patched.setattr(*patch)
                if way == _DEALT:
                    patched.setitem(BACKENDS, "gpu", partial(shared, BACKENDS["gpu"]))
                found = sorted(map(tuple, graph().query(f"{text} // {way}", device="gpu")))
            if found != expected:
                yield f"{text}, {way}: {found[:3]}, not {expected[:3]}"
    if missing := _NAMES.keys() - seen:
        yield f"no query needs {', '.join(sorted(missing))}"


def shared(alone: Callable[[Settings], Backend], settings: Settings) -> SharingBackend:
    """The first card as one of several that share whatever they can."""
    backend = alone(settings)
    first = backend.first if isinstance(backend, SharingBackend) else backend
    assert isinstance(first, GpuBackend)
    return SharingBackend(first.device, (), worth=-1.0, after=0.0)


def with_blocks(count: int) -> None:
    """Launches have so many blocks from now on."""
    first = card()
    first.blocks, first.threads = count, count * _BLOCK
    first._blocks = dict.fromkeys(first._blocks, count)
    first.warps_apart = dict.fromkeys(first.warps_apart, first.threads // _WARP)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with_blocks(int(sys.argv[1]))
    wrong = list(differing())
    sys.exit("\n".join(wrong) or 0)
