"""Random programs that write: the state after them, the rows and the counts are those of the evaluator."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.executor.updates.counting import Changes
from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable
from tests.evaluator.updates import State
from tests.evaluator.values import Failure, Graph
from tests.soak.writes import random_graph, random_program, text_of

CHUNKS = 4
PROGRAMS = 20 * (10 if os.environ.get("GQUERY_SLOW") else 1)  # a chunk, of three statements each


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_programs_that_write_do_what_the_evaluator_does(chunk: int) -> None:
    for seed in range(chunk * PROGRAMS, (chunk + 1) * PROGRAMS):
        check(seed)


def check(seed: int) -> None:
    """Three programs one after the other on one store."""
    random = Random(seed)
    graph = random_graph(random)
    store, state = gquery.Store(to_gquery(graph)), State.of(graph)
    for _ in range(3):
        program = random_program(random)
        text = text_of(program)
        told = f"seed {seed}:\n{text}"
        before = {
            id(each): (getattr(each, "labels", None), dict(each.properties)) for each in (*state.vertices, *state.edges)
        }
        olds = State(list(state.vertices), list(state.edges))
        try:
            rows = state.run(program)
        except Failure:
            kept = store.graph
            with pytest.raises(gquery.ExecutionError):
                store.execute(text, strict=False)
            assert store.graph is kept, told
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gquery.QueryWarning)
            result = store.execute(text, strict=False)
        names = [alias for _, alias in program[-1].items]  # type: ignore[union-attr]
        assert Counter(map(tuple, result.rows())) == Counter(tuple(row[name] for name in names) for row in rows), told
        assert seen(store.graph) == expected(state.graph), told
        assert result.changes == changes(olds, before, state), told


def to_gquery(graph: Graph) -> gquery.Graph:
    """Every vertex in a table of its own, with others of its labels where it comes to that."""
    numbers = {id(vertex): place for place, vertex in enumerate(graph.vertices)}
    vertices = [
        VertexTable.from_arrow(
            tuple(sorted(each.labels)), pa.chunked_array([[each.id]], pa.int64()), _row(each.properties), None
        )
        for each in graph.vertices
    ]
    edges = []
    for each in graph.edges:
        source, target = (np.array([numbers[id(end)]], np.int32) for end in (each.source, each.target))
        edges.append(EdgeTable.from_arrow(each.type, source, target, _row(each.properties)))
    return gquery.Graph(Snapshot(vertices, edges))


def _row(properties: dict[str, object]) -> pa.Table:
    return pa.table({key: [value] for key, value in properties.items()})


def seen(graph: gquery.Graph) -> tuple[Counter[object], Counter[object]]:
    nodes = [_alike(node.labels, node.properties) for (node,) in graph.query("MATCH (n) RETURN n")]
    links = Counter(
        _link(link.type, _alike(a.labels, a.properties), _alike(b.labels, b.properties), link.properties)
        for a, link, b in graph.query("MATCH (a)-[r]->(b) RETURN a, r, b")
    )
    return Counter(nodes), links


def expected(graph: Graph) -> tuple[Counter[object], Counter[object]]:
    nodes = Counter(_alike(each.labels, each.properties) for each in graph.vertices)
    ends = {id(each): _alike(each.labels, each.properties) for each in graph.vertices}
    links = (_link(each.type, ends[id(each.source)], ends[id(each.target)], each.properties) for each in graph.edges)
    return nodes, Counter(links)


def _alike(labels: object, properties: object) -> str:
    return f"{sorted(labels)} {_present(properties)}"  # type: ignore[call-overload]


def _link(type_: str, source: str, target: str, properties: object) -> tuple[object, ...]:
    ends = sorted((source, target)) if type_ == "U" else (source, target)
    return type_, *ends, str(_present(properties))


def _present(properties: object) -> list[tuple[str, object]]:
    held = properties or {}
    return sorted((key, value) for key, value in held.items() if value is not None)  # type: ignore[attr-defined]


def changes(old: State, held: dict[int, tuple[object, dict[str, object]]], new: State) -> Changes:
    """What is there only after, and only before."""

    def properties(state: State, now: bool) -> Counter[object]:
        return Counter(
            (id(each), key, value)
            for each in (*state.vertices, *state.edges)
            for key, value in (each.properties if now else held[id(each)][1]).items()
        )

    before, after = properties(old, False), properties(new, True)
    labels_before = {label for each in old.vertices for label in held[id(each)][0]}  # type: ignore[attr-defined]
    labels_after = {label for each in new.vertices for label in each.labels}
    nodes = [{id(each) for each in state.vertices} for state in (old, new)]
    links = [{id(each) for each in state.edges} for state in (old, new)]
    return Changes(
        len(nodes[1] - nodes[0]),
        len(nodes[0] - nodes[1]),
        len(links[1] - links[0]),
        len(links[0] - links[1]),
        (after - before).total(),
        (before - after).total(),
        len(labels_after - labels_before),
        len(labels_before - labels_after),
    )
