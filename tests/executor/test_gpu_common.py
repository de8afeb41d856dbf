"""The last two levels of a triangle, which a card goes through at once."""

from __future__ import annotations

from random import Random

import pytest

import gquery
from gquery.executor.devices import BACKENDS
from gquery.executor.gpu.program.table import Table
from gquery.planner.search import costs
from tests.emulated.device import COMPILER, emulated

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")

TEXTS = {
    "any": "MATCH DIFFERENT NODES (a)--(b)--(c)--(a) RETURN count(*)",
    "labelled": "MATCH DIFFERENT NODES (a:A)--(b:B)--(c:A), (a)--(c) RETURN count(*)",
    "directed": "MATCH DIFFERENT NODES (a:A)-->(b), (b)-->(c:B), (a)-->(c) RETURN count(*)",
    "a hub's": "MATCH DIFFERENT NODES (b:B)-->(a:A)-->(c:A), (b)-->(c) RETURN count(*)",
    "diamonds": "MATCH DIFFERENT NODES (a)--(b)--(c)--(a), (a)--(d)--(b) RETURN count(*)",
    "at least one": "MATCH (a:A)--(b) OPTIONAL MATCH (b)--(c)--(a) RETURN count(*)",
    "conditions": "MATCH DIFFERENT NODES (a)--(b)--(c)--(a) WHERE a.x < b.x AND b.x > 3 RETURN count(*)",
    "by vertex": "MATCH DIFFERENT NODES (a)-->(b)-->(c), (a)-->(c) RETURN a.x AS x, count(*) AS n ORDER BY x",
}


def graph_of(random: Random, hub: int) -> gquery.Graph:
    """Two labels; the first vertex has edges to so many of 400."""
    count = 400
    pairs = {(random.randrange(40), random.randrange(count)) for _ in range(1500)}
    pairs |= {(0, each) for each in random.sample(range(count), hub)}
    pairs = {pair for pair in pairs if pair[0] < pair[1] or (pair[0] > pair[1] and pair[::-1] not in pairs)}
    names = {each: "A" if each % 3 else "B" for each in range(count)}
    vertices = {
        name: {"id": ids, "x": [random.randrange(9) for _ in ids]}
        for name in "AB"
        for ids in [[each for each in range(count) if names[each] == name]]
    }
    edges = {}
    for one, other in ("AA", "AB", "BA", "BB"):
        own = sorted(pair for pair in pairs if (names[pair[0]], names[pair[1]]) == (one, other))
        edges[one, "E", other] = {"source": [pair[0] for pair in own], "target": [pair[1] for pair in own]}
    return gquery.from_arrow(vertices=vertices, edges=edges)


@pytest.mark.parametrize("hub", [5, 350], ids=["even", "a hub"])
@pytest.mark.parametrize("name", TEXTS)
def test_triangles(name: str, hub: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []
    asked = Table.common_leaves

    def common_leaves(self: Table, level: int) -> list[int]:
        seen.append(asked(self, level))
        return seen[-1]

    monkeypatch.setattr(Table, "common_leaves", common_leaves)
    monkeypatch.setattr(
        costs, "CARD", costs.CardCosts(patience=1.0, excluding=1.0)
    )  # for large graphs it would plan like this
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    for seed in range(3):
        graph = graph_of(Random(f"triangles {seed}"), hub)
        expected = graph.query(TEXTS[name], device="cpu").rows()
        found = gquery.Graph(graph.snapshot).query(TEXTS[name], device="gpu").rows()
        assert found == expected, f"seed {seed}"
    assert name not in ("any", "labelled", "directed", "a hub's", "diamonds") or any(seen)


def test_everybody_knows_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    count = 120
    pairs = [(one, other) for one in range(count) for other in range(one + 1)]  # themselves, too
    ends = {"source": [one for one, _ in pairs], "target": [other for _, other in pairs]}
    graph = gquery.from_arrow(vertices={"V": {"id": list(range(count))}}, edges={("V", "E", "V"): ends})
    found = graph.query(TEXTS["any"], device="gpu").scalar()
    assert found == count * (count - 1) * (count - 2)
