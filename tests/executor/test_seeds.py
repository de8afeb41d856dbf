"""Matching that begins with bindings of earlier clauses: for each seed the matches that agree with it, no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from gquery.executor.devices import backend_of
from gquery.executor.expansion.expand import Matches
from gquery.executor.lowering.reading import Reading
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.matcher import Matcher
from gquery.executor.profile import Profile
from gquery.executor.progress import Control
from gquery.grammar.parser import parse
from gquery.planner.binding.clauses import bind
from gquery.planner.ir.match_plan import Space
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.relations import SEED
from gquery.planner.ir.segments import Match
from gquery.planner.memo.plan_memo import PlanMemo
from gquery.planner.memo.recent import Recent
from gquery.planner.passes.draft import Wanted
from gquery.planner.passes.rewriting.seeds import with_seeds
from gquery.planner.plan import plan_match
from gquery.planner.search.cardinality import estimate
from gquery.planner.search.context import Context
from gquery.planner.search.costs import CPU
from gquery.planner.search.matching import plan_matching
from gquery.planner.verify import verify
from gquery.settings import Settings
from gquery.storage.graph import Snapshot
from tests.differential.build import to_gquery
from tests.differential.generate import random_graph, random_query
from tests.differential.judged import written

Row = tuple[int, ...]


@pytest.mark.parametrize("space", ["vertices", "candidates"])
@pytest.mark.parametrize("chunk", range(2))
def test_matches_of_random_seeds(chunk: int, space: Space, device: str) -> None:
    for seed in range(20 * chunk, 20 * (chunk + 1)):
        random = Random(f"seeds {seed}")
        data = random_graph(random, 8)
        snapshot = to_gquery(data).snapshot
        renderer, body, mode = written(random_query(random, data), random)
        told = f"seed {seed}, {space}: {body} {renderer.parameters} {mode}\n{data}"
        bound = bind(parse(f"{body} RETURN count(*)"), snapshot.schema, renderer.parameters, mode)
        graph = bound.segments[0].graph
        names = [vertex.variable for vertex in graph.vertices if graph.part_of(vertex.index) is None]
        carried = random.sample(names, random.randint(1, min(3, len(names))))
        every = [
            dict(zip(names, row, strict=True))
            for row in _rows(snapshot, graph, names, renderer.parameters, None, space)
        ]
        tuples = {tuple(match[name] for name in carried) for match in every if random.random() < 0.5}
        tuples |= {tuple(random.randrange(max(1, snapshot.vertex_count)) for _ in carried) for _ in range(3)}
        chosen = sorted(tuples) if snapshot.vertex_count else []
        columns = {name: np.array([row[place] for row in chosen], np.int32) for place, name in enumerate(carried)}
        expected = Counter(
            (number, *match.values())
            for number, row in enumerate(chosen)
            for match in every
            if tuple(match[name] for name in carried) == row
        )
        seeded = with_seeds(graph, carried)
        given = Seeds(len(chosen), columns)
        found = Counter(_rows(snapshot, seeded, [SEED, *names], renderer.parameters, given, space))
        assert found == expected, told
        numbers = Counter(row for (row,) in _rows(snapshot, seeded, [SEED], renderer.parameters, given, space))
        assert numbers == Counter(number for number, *_ in expected.elements()), told


def _rows(
    snapshot: Snapshot,
    graph: QueryGraph,
    names: list[str],
    parameters: dict[str, object],
    seeds: Seeds | None,
    space: Space,
) -> Iterator[Row]:
    """The matches as rows of the named vertices, in no order, each as often as it is there."""
    statistics = snapshot.statistics
    context = Context(snapshot.invariants, statistics, CPU, PlanMemo(Recent(0)))
    wanted = Wanted(frozenset(names), False, False, False, None)
    plan = plan_match(Match(graph, (), (), (), ()), wanted, context)
    if plan.residual:
        return
    reading = Reading(snapshot, parameters, Control(), seeds)
    matcher = Matcher.filtering(backend_of(Settings()), plan.graph, plan.filters, reading)
    if space == "candidates":
        matcher.candidates.refine()
    counted = matcher.counted
    (matching,) = plan_matching(plan, estimate(plan.graph, statistics, counted), space, "", context)
    verify(plan, matching)
    place = {vertex.variable: vertex.index for vertex in graph.vertices}
    for batch in matcher.matches(matching, Profile(), lambda batch: (batch,)):
        yield from _listed(batch, [place[name] for name in names])


def _listed(batch: Matches, vertices: list[int]) -> Iterator[Row]:
    columns = [batch.vertices[vertex].tolist() for vertex in vertices]
    weights = [1] * batch.count if batch.weights is None else batch.weights.tolist()
    for row, weight in zip(zip(*columns, strict=True), weights, strict=True):
        yield from [row] * weight
