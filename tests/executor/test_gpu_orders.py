"""Orders of vertices by numbers of neighbours, in which a card counts symmetric matches."""

from __future__ import annotations

from random import Random

import pytest

import gquery
from gquery.executor.devices import BACKENDS
from gquery.executor.gpu import resident
from gquery.executor.gpu.program import table
from gquery.planner.search import costs
from tests.differential.test_neighbourhoods import WAYS
from tests.emulated.device import COMPILER, emulated

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")

CLIQUES = {
    "triangles": "0-1 1-2 2-0",
    "4-cliques": "0-1 1-2 2-0 0-3 1-3 2-3",
    "5-cliques": "0-1 1-2 2-0 0-3 1-3 2-3 4-0 4-1 4-2 4-3",
}
PUSHED = {
    "squares": "0-1 1-2 2-3 3-0",
    "three ways": "0-1 1-2 0-3 3-2 0-4 4-2",
    "houses": "0-1 0-2 1-3 2-4 3-4 3-2 1-4",
}


def skewed(random: Random) -> gquery.Graph:
    """Some have many neighbours, whatever their ids. Two labels."""
    people, ends = 60, set[tuple[int, int]]()
    names = random.sample(range(people), people)
    while len(ends) < 260:
        one, other = (names[int(people * random.random() ** 2)] for _ in range(2))
        ends |= {(min(one, other), max(one, other))} if one != other else set()
    labels = {name: [each for each in range(people) if (each < 45) == (name == "A")] for name in "AB"}
    edges = {}
    for one, other in ("AA", "AB", "BB"):
        pairs = [pair for pair in sorted(ends) if pair[0] in labels[one] and pair[1] in labels[other]]
        edges[one, "E", other] = {"source": [pair[0] for pair in pairs], "target": [pair[1] for pair in pairs]}
    return gquery.from_arrow(vertices={name: {"id": ids} for name, ids in labels.items()}, edges=edges)


def written(links: str, label: str = "", mode: str = "DIFFERENT NODES") -> str:
    edges = ("(u{0}{2})--(u{1}{2})".format(*link.split("-"), label) for link in links.split())
    return f"MATCH {mode} {', '.join(edges)} RETURN count(*)"


TWO_KINDS = written("0-2 0-3 1-2 1-3 2-3 0-4 0-5 1-4 1-5 4-5", mode="REPEATABLE ELEMENTS").replace("u4)", "u4:A)")
"""Where vertices may be the same the two ways from 0 to 1 have counters each, and both note what they reach."""


@pytest.mark.parametrize("label", ["", ":A"])
@pytest.mark.parametrize("pattern", [*CLIQUES, *PUSHED])
def test_orders_do_not_matter(pattern: str, label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = written({**CLIQUES, **PUSHED}[pattern], label)
    seen: set[str] = set()  # what is ranked
    made = table.Table._sets

    def sets(self: table.Table) -> object:
        if self.ranked:
            assert self.ranked.rows.bits.hubs
            assert self.ranked.rows.oriented == self.oriented
            seen.add("cliques" if self.oriented else self.program.strategy)
        return made(self)

    monkeypatch.setattr(table.Table, "_sets", sets)
    monkeypatch.setattr(
        costs, "CARD", costs.CardCosts(patience=1.0, excluding=1.0)
    )  # for large graphs it would plan like this
    for way in ("pushed", "inside", "as planned"):
        for seed in range(3):
            graph = skewed(Random(f"orders {seed}"))
            expected = graph.query(text, device="cpu").scalar()
            with monkeypatch.context() as patched:
                for owner, name, value in WAYS[way]:
                    patched.setattr(owner, name, value)
                patched.setitem(BACKENDS, "gpu", emulated)
                found = gquery.Graph(graph.snapshot).query(text, device="gpu").scalar()
            assert found == expected, f"{way}, seed {seed}: {text}"
    assert seen <= ({"push", "inside"} if pattern in PUSHED else {"cliques"})
    assert label or seen


@pytest.mark.parametrize("pattern", [*CLIQUES, *PUSHED])
def test_without_room_for_bits(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A card that has some for the rows alone counts all the same."""
    monkeypatch.setattr(resident, "_SPREAD", 1 << 60)
    monkeypatch.setattr(costs, "CARD", costs.CardCosts(patience=1.0, excluding=1.0))
    text, graph = written({**CLIQUES, **PUSHED}[pattern]), skewed(Random("no bits"))
    expected = graph.query(text, device="cpu").scalar()
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    for way in ("pushed", "inside", "as planned"):
        with monkeypatch.context() as patched:
            for owner, name, value in WAYS[way]:
                patched.setattr(owner, name, value)
            assert gquery.Graph(graph.snapshot).query(text, device="gpu").scalar() == expected, way


@pytest.mark.parametrize("pattern", ["4-cliques", "squares"])
def test_rows_are_ranked_piece_by_piece(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "_PIECE", 7)
    monkeypatch.setattr(costs, "CARD", costs.CardCosts(patience=1.0, excluding=1.0))
    text, graph = written({**CLIQUES, **PUSHED}[pattern]), skewed(Random("pieces"))
    expected = graph.query(text, device="cpu").scalar()
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    assert gquery.Graph(graph.snapshot).query(text, device="gpu").scalar() == expected
