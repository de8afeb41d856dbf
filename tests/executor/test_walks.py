"""Walks through the candidate graph: what planning is told of the data is true, and nothing but plans depends on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

import gquery
from gquery.executor.cpu.engine import CpuBackend, CpuCandidates
from gquery.executor.cpu.search import sampling
from gquery.executor.lowering.reading import Reading
from gquery.executor.matcher import Matcher
from gquery.executor.progress import Control
from gquery.planner.ir.problem import Constraints, Pair, Problem
from gquery.planner.ir.walks import Walked, WalkLevel
from gquery.planner.search.sampling import Sampling
from gquery.planner.search.sums.merging import groups_of, merge
from gquery.session import Prepared

WIDE = 100_000
EDGES = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3), (3, 4), (4, 5), (3, 5), (5, 6), (6, 7), (5, 7)]
PATTERN = "MATCH DIFFERENT NODES " + ", ".join(f"(v{a})-[:X]-(v{b})" for a, b in EDGES) + " RETURN count(*)"


def ends(size: int, edges: int, seed: int) -> NDArray[np.int64]:
    """Pairs of vertices, few of which have most edges."""
    drawn = (size * np.random.default_rng(seed).random((edges, 2)) ** 3).astype(np.int64)
    return np.unique(np.sort(drawn[drawn[:, 0] != drawn[:, 1]], axis=1), axis=0)


def skewed(size: int, edges: int, seed: int) -> gquery.Graph:
    """A graph with these edges."""
    source, target = ends(size, edges, seed).T
    return gquery.from_arrow(
        {"A": {"id": np.arange(size)}}, {("A", "X", "A"): {"source": source.copy(), "target": target.copy()}}
    )


def refined(graph: gquery.Graph, text: str) -> tuple[Matcher, Prepared]:
    query = Prepared(graph.snapshot, text, {}, graph.settings)
    step = query.plan.matches[0]
    matcher = Matcher.filtering(
        CpuBackend(1), step.graph, step.filters, Reading(graph.snapshot, {}, Control(None), None)
    )
    matcher.candidates.refine()
    return matcher, query


def matches_of(levels: Sequence[WalkLevel], pairs: NDArray[np.int64], sets: list[list[int]], wanted: int) -> int:
    """Partial matches down to a level, by recursion."""
    near: dict[int, set[int]] = {}
    for source, target in pairs.tolist():
        near.setdefault(source, set()).add(target)
        near.setdefault(target, set()).add(source)
    way = []
    level = wanted
    while level >= 0:
        way.append(level)
        level = levels[level].parent
    way.reverse()
    joined = [{other for pair in EDGES for other in pair if v in pair and other != v} for v in range(8)]

    def count(place: int, matched: dict[int, int]) -> int:
        if place == len(way):
            return 1
        number, found = way[place], 0
        step = levels[number]
        for vertex in sets[step.vertex]:
            rows = (matched[up] for up in way[:place] if levels[up].vertex in joined[step.vertex])
            tests = [vertex in near[other] for other in rows] + [matched[up] != vertex for up in step.different]
            tests += [matched[up] < vertex for up in step.smaller] + [matched.get(step.same, vertex) == vertex]
            if all(tests):
                found += count(place + 1, {**matched, number: vertex})
        return found

    return count(0, {})


TREE = (
    WalkLevel(2, -1, -1, (), ()),
    WalkLevel(1, 0, -1, (), (0,)),
    WalkLevel(0, 1, -1, (), ()),
    WalkLevel(3, 1, -1, (), ()),
    WalkLevel(4, 3, -1, (0, 1), ()),
    WalkLevel(5, 4, -1, (1,), ()),
    WalkLevel(6, 5, -1, (), ()),
    WalkLevel(0, 3, -1, (), ()),
)
ONE = (
    WalkLevel(3, -1, -1, (), ()),
    WalkLevel(1, 0, -1, (), ()),
    WalkLevel(5, 1, 1, (), ()),
    WalkLevel(2, 2, -1, (), ()),
    WalkLevel(4, 2, -1, (0,), ()),
)
APART = (WalkLevel(0, -1, -1, (), ()), WalkLevel(7, 0, -1, (0,), ()), WalkLevel(6, 1, -1, (), ()))


@pytest.mark.parametrize("largest", [0, 80, 1 << 18], ids=["lists", "some bitsets", "bitsets"])
@pytest.mark.parametrize("levels", [TREE, ONE, APART], ids=["tree", "one", "apart"])
def test_wide_walks_count(levels: tuple[WalkLevel, ...], largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the sample holds all partial matches the numbers are those of a search."""
    monkeypatch.setattr(sampling, "_LARGEST", largest)
    matcher, _ = refined(skewed(24, 110, 1), PATTERN)
    sets = [matcher.candidates.vertices((vertex,)).tolist() for vertex in range(8)]
    assert max(map(len, sets)) <= 32, "rows of more are not gone through"
    walked = matcher.candidates.sampler.walk(levels, WIDE)
    own = [level for level in range(len(levels)) if all(each.same != level for each in levels)]
    expected = [matches_of(levels, ends(24, 110, 1), sets, level) for level in own]
    assert [walked.rows[level] for level in own] == expected


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("largest", [0, 1 << 18], ids=["lists", "bitsets"])
def test_neighbours_that_are_one_vertex(largest: int, root: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a self-loop, which is looked for when the first of them is matched: what memory held before was taken
    for its position, which ended the process."""
    monkeypatch.setattr(sampling, "_LARGEST", largest)
    pairs, loops = ends(24, 110, 1), np.array([2, 3, 5, 7, 11])
    source, target = np.concatenate([pairs, np.stack([loops, loops], axis=1)]).T
    graph = gquery.from_arrow(
        {"A": {"id": np.arange(24)}}, {("A", "X", "A"): {"source": source.copy(), "target": target.copy()}}
    )
    matcher, _ = refined(graph, "MATCH REPEATABLE ELEMENTS (v0)-[:X]-(v1)-[:X]-(v2) RETURN count(*)")
    one = 0 if root else 1
    levels = [WalkLevel(1, -1, -1, (), ())] if root else [WalkLevel(0, -1, -1, (), ()), WalkLevel(1, 0, -1, (), ())]
    levels += [WalkLevel(2, one, one, (), ()), WalkLevel(2, one + 1, one, (), ())]
    monkeypatch.setattr(np, "empty", lambda shape, dtype=float: np.ones(shape, dtype))
    walked = matcher.candidates.sampler.walk(levels, WIDE)
    degrees = np.bincount(pairs.ravel(), minlength=24)[loops] + 1
    assert walked.rows[-1] == walked.rows[-2] == (len(loops) if root else degrees.sum())


def test_walks_come_back_over_self_loops() -> None:
    """A cycle of eight edges of which only self-loops could be one: its problems merge neighbours, and are walked."""
    pairs = np.unique(np.sort(np.random.default_rng(1).integers(0, 500, (2, 4_000)), axis=0), axis=1)
    pairs = np.unique(np.concatenate([pairs, np.stack([np.arange(30)] * 2)], axis=1), axis=1)
    graph = gquery.from_arrow(
        {"A": {"id": np.arange(500)}}, {("A", "X", "A"): {"source": pairs[0], "target": pairs[1]}}
    )
    matcher, query = refined(graph, "MATCH (v0)--(v1)--(v2)--(v3)--(v4)--(v5)--(v6)--(v7)--(v0) RETURN count(*)")
    step = query.plan.matches[0]
    costs, sampler = query.matchings[0].planned.context.costs, matcher.candidates.sampler
    once = merged(step.problem, (6, 7))
    twice = merged(once, (5, 6))
    for problem, places in ((once, (6, 7)), (twice, (5, 6, 7))):
        assert all({6, 7} <= set(problem.merged[place]) for place in places)
        walks = Sampling(problem, step.graph, [500.0] * 8, sampler, costs)
        seen = walks.seen([(vertex, level - 1) for level, vertex in enumerate((*places, 0))], {}, 512)
        assert len({seen.walked.rows[level] for level in range(len(places))}) == 1


def merged(problem: Problem, pair: Pair) -> Problem:
    """The problem in which two vertices are one, without tests."""
    groups = groups_of(problem, pair)
    assert groups is not None
    found = merge(problem, Constraints(), groups)
    assert found is not None
    return found


@pytest.mark.parametrize("largest", [0, 1 << 18], ids=["lists", "bitsets"])
def test_narrow_walks_are_about_right_and_always_the_same(largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_LARGEST", largest)
    matcher, _ = refined(skewed(400, 4_000, 2), PATTERN)
    sampler = matcher.candidates.sampler
    wide, narrow = sampler.walk(TREE, WIDE), sampler.walk(TREE, 256)
    assert narrow == matcher.candidates.sampler.walk(TREE, 256)
    assert max(wide.rows) > 1e5
    for true, found in zip(wide.rows, narrow.rows, strict=True):
        assert 1 / 3 < found / true < 3


def test_what_very_few_of_a_long_row_lead_to_is_seen() -> None:
    """Each A and each C have one of their 90 B in common: rows as bitsets are looked through as a whole."""
    many, b = 90, np.arange(90 * 90)
    a, c = b // many, b % many
    graph = gquery.from_arrow(
        {"A": {"id": np.arange(many)}, "B": {"id": b}, "C": {"id": np.arange(many)}},
        {
            ("A", "X", "B"): {"source": a, "target": b},
            ("C", "X", "B"): {"source": c, "target": b},
            ("A", "Y", "C"): {"source": a, "target": c},
        },
    )
    matcher, _ = refined(graph, "MATCH (a:A)-[:X]->(b:B)<-[:X]-(c:C)<-[:Y]-(a) RETURN count(*)")
    levels = [WalkLevel(0, -1, -1, (), ()), WalkLevel(2, 0, -1, (), ()), WalkLevel(1, 1, -1, (), ())]
    assert matcher.candidates.sampler.walk(levels, WIDE).rows[-1] == len(b)


def test_samples_do_not_resonate() -> None:
    """Every A leads to the same twelve B, and the sample of their pairs has room for a twelfth of them: it must not be
    the same B of each."""
    many, rounds = 256, 12
    to_c = [0] * 11 + [1] * 100 + list(range(2, rounds))  # the second B has most of the C
    graph = gquery.from_arrow(
        {"A": {"id": np.arange(many)}, "B": {"id": np.arange(rounds)}, "C": {"id": np.arange(len(to_c))}},
        {
            ("A", "X", "B"): {"source": np.repeat(np.arange(many), rounds), "target": np.tile(np.arange(rounds), many)},
            ("B", "X", "C"): {"source": np.array(to_c), "target": np.arange(len(to_c))},
        },
    )
    matcher, _ = refined(graph, "MATCH (a:A)-[:X]->(b:B)-[:X]->(c:C) RETURN count(*)")
    levels = [WalkLevel(0, -1, -1, (), ()), WalkLevel(1, 0, -1, (), ()), WalkLevel(2, 1, -1, (), ())]
    *_, found = matcher.candidates.sampler.walk(levels, many).rows
    assert 0.5 < found / (many * len(to_c)) < 2


def test_nothing_to_walk() -> None:
    """No candidates, or one that has no way on."""
    graph = gquery.from_arrow(
        {"A": {"id": np.arange(8)}}, {("A", "X", "A"): {"source": np.arange(7), "target": np.arange(1, 8)}}
    )
    matcher, _ = refined(graph, PATTERN)
    walked = matcher.candidates.sampler.walk(TREE, 64)
    assert list(walked.rows) == [0.0] * len(TREE)


def test_contexts_are_numbers_of_matches() -> None:
    matcher, query = refined(skewed(24, 110, 3), PATTERN)
    step = query.plan.matches[0]
    sizes, costs = matcher.candidates.sizes, query.matchings[0].planned.context.costs
    sampling = Sampling(step.problem, step.graph, sizes, matcher.candidates.sampler, costs)
    assert sampling.number((0,), 1.0) == sizes[0]
    assert sampling.number((0, 7), 1.0) == sizes[0] * sizes[7], "in two pieces"
    assert 1 <= sampling.number((0, 1), 1.0) < sizes[0] * sizes[1]
    assert sampling.number((0, 2), 1e9) == sizes[0] * sizes[2], "of so many visits this is few enough"


class Wild:
    """Walks that see anything."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def walk(self, levels: Sequence[WalkLevel], width: int) -> Walked:
        def anything() -> list[float]:
            return [self.random.choice((0.0, 1.0, 10 ** self.random.uniform(-3, 15))) for _ in levels]

        return Walked(anything(), anything())


@pytest.mark.parametrize("seed", range(6))
def test_no_answer_depends_on_walks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever walks see, counts and rows stay the same."""
    graph = skewed(60, 150, seed)
    texts = [PATTERN, PATTERN.replace("count(*)", "id(v0), count(*) AS n ORDER BY id(v0)")]
    texts += [PATTERN.replace("RETURN count(*)", "RETURN DISTINCT id(v3), id(v5) ORDER BY id(v3), id(v5)")]
    with monkeypatch.context() as patch:
        patch.setattr(CpuCandidates, "sampler", None)
        expected = [graph.query(text).to_arrow() for text in texts]
    random = Random(f"walks {seed}")
    monkeypatch.setattr(CpuCandidates, "sampler", property(lambda _: Wild(random)))
    for text, rows in zip(texts, expected, strict=True):
        again = gquery.Graph(graph.snapshot)
        assert again.query(text).to_arrow() == rows, f"seed {seed}: {text}"


def test_a_tight_limit_is_not_spent_on_planning() -> None:
    """What only planning looks at is not built where there is little room."""
    graph = skewed(400, 4_000, 4)
    query = Prepared(graph.snapshot, PATTERN, {}, graph.settings)
    step = query.plan.matches[0]
    matcher = Matcher.filtering(
        CpuBackend(1), step.graph, step.filters, Reading(graph.snapshot, {}, Control(None, 400_000), None)
    )
    matcher.candidates.refine()
    assert matcher.candidates.sampler is None
    assert math.prod(matcher.candidates.sizes) > 0
