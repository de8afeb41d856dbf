"""The seam between the engine and its backends: what a backend sees, what it may lack, where it may start."""

from __future__ import annotations

import ast
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

import gquery
from gquery.executor.backend import Ranks, Slices
from gquery.executor.devices import BACKENDS, backend_of
from gquery.executor.lowering.lower import lower
from gquery.executor.lowering.program import Program
from gquery.executor.lowering.ranks import ranks_of
from gquery.executor.lowering.reading import Reading
from gquery.executor.matcher import Matcher
from gquery.executor.progress import Control
from gquery.planner.ir.match_plan import MatchPlan, Space
from gquery.planner.ir.query_plan import QueryPlan
from gquery.session import Prepared
from gquery.settings import Settings
from gquery.stopping import unchecked
from tests.differential.build import to_gquery
from tests.differential.generate import random_graph, random_query
from tests.differential.judged import written
from tests.reference.backend import ReferenceBackend

TOLD = ("executor.backend", "executor.lowering", "executor.progress", "planner.ir", "settings", "storage")
SPACES = pytest.mark.parametrize("space", ["vertices", "candidates"])


def test_what_the_reference_backend_sees() -> None:
    """The protocol, the program and the graph: whatever else a backend needed would be missing here."""
    tree = ast.parse((Path(__file__).parent / "backend.py").read_text(encoding="utf-8"))
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    seen = {name.removeprefix("gquery.") for name in modules if name.startswith("gquery")}
    assert seen
    assert all(name.startswith(TOLD) for name in seen), seen
    assert not {name for name in modules if "cpu" in name or "numba" in name}


def test_what_a_backend_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReferenceBackend, "lacks", frozenset({"choices of edges", "a sum by fold"}))
    monkeypatch.setitem(BACKENDS, "cpu", lambda settings: ReferenceBackend())
    graph = gquery.from_arrow({"V": {"id": [1, 2]}}, {("V", "E", "V"): {"source": [1, 1], "target": [2, 2]}})
    with pytest.raises(gquery.UnsupportedError, match="the reference backend cannot do a sum by fold"):
        graph.query("MATCH (a)-[:E]->(b) RETURN count(*)", device="cpu").scalar()
    with pytest.raises(gquery.UnsupportedError, match="cannot do choices of edges"):
        graph.query("MATCH (a)-[:E]->(b)<-[:E]-(a) RETURN id(b) AS b", device="cpu").rows()
    assert graph.query("MATCH (a) RETURN id(a) AS a", device="cpu").rows() == [(1,), (2,)]


@dataclass(frozen=True)
class Case:
    """A query that is planned and lowered, and not run."""

    told: str
    matcher: Matcher
    plan: MatchPlan
    program: Program
    ranks: tuple[Ranks, ...]

    def start(self, pool: NDArray[np.int32] | None = None) -> Slices:
        return self.matcher.candidates.start(self.program, self.ranks, pool)

    def rows(self, pool: NDArray[np.int32] | None = None) -> Counter[tuple[int, ...]]:
        """The listed vertices by level, as often as there are ways to finish them."""
        found: Counter[tuple[int, ...]] = Counter()
        for batch in self.start(pool).batches(lambda batch: [batch]):
            columns = batch.positions[:, : batch.count]
            if self.program.space == "candidates":
                vertices = [self.matcher.candidates.vertices(level.candidates) for level in self.program.levels]
                columns = np.array([every[column] for every, column in zip(vertices, columns, strict=False)])
            ways = [1] * batch.count if batch.sums is None else batch.sums.tolist()
            for row, number in zip(columns.T.tolist(), ways, strict=True):
                found[tuple(row)] += number
        return found


def cases(kind: str, space: Space, counting: bool) -> Iterator[Case]:
    """Random queries that count, or list some of their vertices."""
    for number in range(40):
        random = Random(f"{kind} {number}")
        data = random_graph(random, 8)
        renderer, body, mode = written(random_query(random, data), random)
        returned = "count(*)" if counting else renderer.returned()
        settings = Settings().changed(mode=mode or "different edges")
        query = Prepared(to_gquery(data).snapshot, f"{body} RETURN {returned}", renderer.parameters, settings)
        asked = query.plan.steps[0]
        if not isinstance(asked, QueryPlan) or asked.residual or asked.counting is not counting:
            continue
        reading = Reading(query.chain.engine.snapshot, renderer.parameters, Control())
        matcher = Matcher.filtering(backend_of(settings), asked.graph, asked.filters, reading)
        if space == "candidates":
            matcher.candidates.refine()
        half = query.matchings[0]
        plan, *_ = half.matchings(half.cardinalities(matcher.counted), space, "the test says so", unchecked)
        told = f"{kind} {number}: {body} {renderer.parameters} {mode}\n{data}"
        ranks = ranks_of(plan, matcher.candidates, matcher.masks.seeds, reading)
        yield Case(told, matcher, plan, lower(plan, unchecked), ranks)


@SPACES
def test_programs_are_data(space: Space) -> None:
    for case in cases("data", space, counting=True):
        assert pickle.loads(pickle.dumps(case.program)) == case.program, case.told
        assert "0x" not in repr(case.program), case.told


@SPACES
def test_a_count_may_start_from_any_pool(space: Space, device: str) -> None:
    """A vertex that is given twice counts twice, one that is no candidate not at all."""
    for case in cases("pool", space, counting=True):
        roots = case.matcher.candidates.vertices(case.program.levels[0].candidates).tolist()
        for modulus in (0, 97):
            each = {root: case.start(np.array([[root]], np.int32)).total(modulus)[0] for root in roots}
            whole, size = case.start().total(modulus)
            assert sum(each.values()) % (modulus or 2**64) == whole, case.told
            assert size == pytest.approx(case.start().total(0)[0]), case.told
            vertices = case.matcher.reading.snapshot.vertex_count
            given = Random(case.told).choices(range(vertices), k=5 if vertices else 0)
            total, _ = case.start(np.array([given], np.int32)).total(modulus)
            assert total == sum(each.get(vertex, 0) for vertex in given) % (modulus or 2**64), case.told


@SPACES
def test_a_list_may_start_from_partial_matches(space: Space, device: str) -> None:
    """Of any width: the rows that begin with them are found, as often as before. Those that are matched once for each
    data edge would have to be given as often."""
    widest = 0
    for case in cases("partial", space, counting=False):
        every = case.rows()
        repeats = [bool(case.plan.repeated.intersection(step.backward)) for step in case.plan.steps]
        for width in range(1, case.program.listed + 1):
            if any(repeats[:width]):
                continue
            pool = sorted({row[:width] for row in every if Random(str(row)).random() < 0.7})
            given = np.array(pool, np.int32).reshape(len(pool), width).T
            expected = Counter({row: number for row, number in every.items() if row[:width] in set(pool)})
            assert case.rows(given) == expected, f"{width} of {case.program.listed}: {case.told}"
            widest = max(widest, width if pool else 0)
    assert widest >= 3
