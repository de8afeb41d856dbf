"""Edges of one clause over parallel edges: the ways to tell them apart are a product where runs are nested, and are
enumerated where types only overlap."""

from __future__ import annotations

import math
from itertools import permutations
from random import Random

import pytest

import gquery


def _bundle(edges: dict[str, int], timeout: float = 20.0) -> gquery.Graph:
    """Two vertices with so many edges of each type between them."""
    return gquery.from_arrow(
        vertices={"V": {"id": [0, 1]}},
        edges={("V", type_, "V"): {"source": [0] * n, "target": [1] * n} for type_, n in edges.items()},
    ).with_settings(timeout=timeout)


def _pattern(arms: list[str]) -> str:
    return "MATCH " + ", ".join(f"(a)-[{types}]->(b)" for types in arms)


@pytest.mark.parametrize(("edges", "arms"), [(1, 2), (3, 3), (20, 10), (19, 20), (64, 30), (300, 12)])
def test_alike_edges_are_a_falling_factorial(edges: int, arms: int, device: str) -> None:
    graph, pattern = _bundle({"E": edges}), _pattern([""] * arms)
    assert graph.query(f"{pattern} RETURN count(*)", device=device).scalar() == math.perm(edges, arms)


def test_edges_without_a_common_vertex(device: str) -> None:
    pattern = "MATCH " + ", ".join(f"(a{arm})--(b{arm})" for arm in range(7))
    assert _bundle({"E": 300}).query(f"{pattern} RETURN count(*)", device=device).scalar() == math.perm(300, 7) * 2**7


def test_too_few_edges_are_told_at_once_in_a_list(device: str) -> None:
    named = ", ".join(f"(a)-[e{arm}]->(b)" for arm in range(20))
    assert _bundle({"E": 19}).query(f"MATCH {named} RETURN e0", device=device).rows() == []


@pytest.mark.parametrize("seed", range(40))
def test_nested_and_overlapping_types(seed: int, device: str) -> None:
    """All choices of different edges, tried one by one."""
    random = Random(f"parallel {seed}")
    sizes = {type_: random.randint(1, 3) for type_ in "ABC"}
    chosen = [random.sample("ABC", random.randint(1, 3)) for _ in range(random.randint(2, 4))]
    edges = [(type_, number) for type_, size in sizes.items() for number in range(size)]
    expected = sum(
        all(edge[0] in types for edge, types in zip(choice, chosen, strict=True))
        for choice in permutations(edges, len(chosen))
    )
    pattern = _pattern([":" + "|".join(types) for types in chosen])
    told = f"{sizes} {pattern}"
    graph = _bundle(sizes)
    assert graph.query(f"{pattern} RETURN count(*)", device=device).scalar() == expected, told
    assert len(graph.query(f"{pattern} RETURN 1 AS row", device=device).rows()) == expected, told
