"""Repeated patterns, `((a)-[r]->(b) WHERE ...){1,3}`, on random multigraphs with loops, against walks that are written
out step by step."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

import gquery
from gquery.planner.binding.lengths import alternatives

Edge = tuple[int, int, int]  # its ends, and its weight, which is its number
Walk = tuple[list[int], list[Edge]]


@pytest.mark.parametrize("way", ["alternatives", "searches"])
@pytest.mark.parametrize("seed", range(15))
def test_repeated_patterns(seed: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"repeated {seed}")
    count = random.randint(1, 5)
    edges = [(random.randrange(count), random.randrange(count), number) for number in range(random.randint(1, 7))]
    graph = gquery.from_arrow(
        vertices={"P": {"id": list(range(count))}},
        edges={("P", "K", "P"): dict(zip(("source", "target", "w"), map(list, zip(*edges, strict=True)), strict=True))},
    )
    if way == "searches":
        monkeypatch.setattr(alternatives, "MOST_ALTERNATIVES", 0)
    for _ in range(4):
        arrows = [
            random.choice(["out", "in", "both"]) for _ in range(1 if way == "searches" else random.choice([1, 2]))
        ]
        least = random.randint(0, 2)
        most = least + random.randint(0, 2)
        asked = random.choice(["", "r0.w % 2 = 0"] if way == "searches" else ["", "n0.id <= n1.id", "r0.w % 2 = 0"])
        text = _query(arrows, least, most, asked)
        found = sorted(tuple(row) for row in graph.query(text).rows())
        expected = sorted(_rows(_walks(edges, count, arrows, least, most, asked), len(arrows)))
        assert found == expected, f"seed {seed}: {edges}: {text}"


@pytest.mark.parametrize("seed", range(15))
def test_as_a_condition_and_in_a_comprehension(seed: int) -> None:
    random = Random(f"repeated conditions {seed}")
    count = random.randint(1, 5)
    edges = [(random.randrange(count), random.randrange(count), number) for number in range(random.randint(1, 7))]
    graph = gquery.from_arrow(
        vertices={"P": {"id": list(range(count))}},
        edges={("P", "K", "P"): dict(zip(("source", "target", "w"), map(list, zip(*edges, strict=True)), strict=True))},
    )
    arrows = [random.choice(["out", "in", "both"]) for _ in range(random.choice([1, 2]))]
    least = random.randint(0, 2)
    most = least + random.randint(0, 2)
    walks = [vertices for vertices, _ in _walks(edges, count, arrows, least, most, "")]
    ends = {(walk[0], walk[-1]) for walk in walks}
    inside = "()" + "".join({"out": "-->()", "in": "<--()", "both": "--()"}[each] for each in arrows)
    quantifier = f"{{{least},{most}}}"
    for negated in ("", "NOT "):
        found = graph.query(f"MATCH (x), (y) WHERE {negated}(x)({inside}){quantifier}(y) RETURN x.id, y.id").rows()
        pairs = {(x, y) for x in range(count) for y in range(count)}
        assert sorted(map(tuple, found)) == sorted(pairs - ends if negated else ends), edges
    found = graph.query(f"MATCH (y) WHERE y.id > 9 OR ({inside}){quantifier}(y) RETURN y.id").rows()
    assert sorted(y for (y,) in found) == sorted({y for _, y in ends}), edges
    found = graph.query(f"MATCH (x) RETURN x.id, [p = (x)({inside}){quantifier}(y) | y.id]").rows()
    expected = {x: sorted(walk[-1] for walk in walks if walk[0] == x) for x in range(count)}
    assert {x: sorted(listed) for x, listed in found} == expected, edges


def _query(arrows: list[str], least: int, most: int, asked: str) -> str:
    signs = {"out": ("-", "->"), "in": ("<-", "-"), "both": ("-", "-")}
    inside = "(n0)" + "".join(
        f"{left}[r{place}:K]{right}(n{place + 1})" for place, (left, right) in enumerate(signs[each] for each in arrows)
    )
    names = [*(f"n{place}" for place in range(len(arrows) + 1)), *(f"r{place}" for place in range(len(arrows)))]
    lists = ", ".join(f"[e IN {name} | {'e.id' if name[0] == 'n' else 'e.w'}]" for name in names)
    where = f" WHERE {asked}" if asked else ""
    return f"MATCH (x)({inside}{where}){{{least},{most}}}(y) RETURN x.id, y.id, {lists}"


def _walks(edges: list[Edge], count: int, arrows: list[str], least: int, most: int, asked: str) -> Iterator[Walk]:
    """Walks of different edges; each repetition fulfils what is asked."""
    pending: list[Walk] = [([vertex], []) for vertex in range(count)]
    while pending:
        vertices, gone = pending.pop()
        times, place = divmod(len(gone), len(arrows))
        if place == 0:
            if times and not _fits(vertices[-len(arrows) - 1 :], gone[-len(arrows) :], asked):
                continue
            if least <= times:
                yield vertices, gone
            if times == most:
                continue
        pending += (
            ([*vertices, end], [*gone, edge])
            for edge in edges
            if edge not in gone
            for end in _ends(edge, vertices[-1], arrows[place])
        )


def _ends(edge: Edge, begin: int, arrow: str) -> set[int]:
    """Where an edge leads to from a vertex; without directions, a loop leads there once."""
    source, target, _ = edge
    along = {target} if source == begin and arrow != "in" else set()
    against = {source} if target == begin and arrow != "out" else set()
    return along | against


def _fits(vertices: list[int], edges: list[Edge], asked: str) -> bool:
    return {"": True, "n0.id <= n1.id": vertices[0] <= vertices[1], "r0.w % 2 = 0": edges[0][2] % 2 == 0}[asked]


def _rows(walks: Iterator[Walk], size: int) -> Iterator[tuple[object, ...]]:
    for vertices, edges in walks:
        times = len(edges) // size
        nodes = ([vertices[repetition * size + place] for repetition in range(times)] for place in range(size + 1))
        weights = ([edges[repetition * size + place][2] for repetition in range(times)] for place in range(size))
        yield (vertices[0], vertices[-1], *nodes, *weights)
