"""Estimates: sizes of candidate sets and relations before anything ran, and of partial matches along an order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from gquery.planner.ir.expr import Attribute, Call, Column, Expression
from gquery.planner.ir.match_plan import Cardinalities, Counted
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.planner.ir.relations import Binding, End, Relation, Types, Valued
from gquery.planner.search.costs import GUESSES, CostModel
from gquery.storage.schema import TURNED, Direction
from gquery.storage.statistics import Statistics


def estimate(graph: QueryGraph, statistics: Statistics, counted: Counted | None = None) -> Cardinalities:
    """Cardinalities from the graph's statistics: alone, which is what EXPLAIN shows, or with what a run has counted."""
    everything = [max(1.0, statistics.vertex_count(vertex.tables)) for vertex in graph.vertices]
    if counted is not None:
        sizes = [max(1e-9, float(size)) for size in counted.vertices]
    else:
        sizes = estimated_sizes(graph, statistics)
    own = counted.shares if counted else {}
    passed = _passed(own)
    edges, degrees, having = [], [], []
    for edge in graph.edges:
        if isinstance(edge.relation, Binding):
            seeds, bound = sizes[edge.source], sizes[edge.target]
            edges.append(seeds if edge.relation.functional else max(seeds, bound))
            degrees.append((edges[-1] / seeds, edges[-1] / bound))
            having.append((1.0, 1.0))
            continue
        if isinstance(edge.relation, Valued):
            values, equal = sizes[edge.source], sizes[edge.target]
            edges.append(equal)
            degrees.append((equal / values, 1.0))
            having.append((1.0, 1.0))
            continue
        if isinstance(edge.relation, End):
            there = sizes[edge.source] * min(1.0, sizes[edge.target] / everything[edge.target])
            edges.append(there)
            degrees.append((1.0, sizes[edge.source] / everything[edge.target]))
            having.append((1.0, 1.0))
            continue
        source, target = graph.vertices[edge.source], graph.vertices[edge.target]
        total = edges_between(edge, source.tables, target.tables, statistics)
        kept = total * kept_share(edge.predicates, total)
        known = counted.edges.get(edge.index) if counted else None
        ends = (edge.source, edge.target)
        having.append((own.get((ends[0], edge.index), 1.0), own.get((ends[1], edge.index), 1.0)))
        shares, rows = [], []
        for end, each in zip(ends, having[-1], strict=True):
            crowd, longer = _crowding(graph, edge, end, passed, statistics) if end in passed else (1.0, 1.0)
            shares.append(min(1.0, sizes[end] / everything[end] / max(1e-9, each) * crowd))
            rows.append(kept / everything[end] * longer)
        edges.append(kept * shares[0] * shares[1] if known is None else float(known))
        degrees.append((rows[0], rows[1]))
    vain = counted.vain if counted else frozenset()
    return Cardinalities(tuple(sizes), tuple(edges), tuple(degrees), tuple(having), vain)


def _passed(shares: Mapping[tuple[int, int], float]) -> dict[int, dict[int, float]]:
    """By vertex and edge the shares that filters left, where they took any away."""
    found: dict[int, dict[int, float]] = {}
    for (vertex, edge), share in shares.items():
        if share < 1.0:
            found.setdefault(vertex, {})[edge] = share
    return found


def _crowding(
    graph: QueryGraph, edge: QueryEdge, vertex: int, passed: Mapping[int, Mapping[int, float]], statistics: Statistics
) -> tuple[float, float]:
    """How many times as many candidate edges as their share of the vertices those have that filters have left, and how
    many times as long their rows are. Who has a neighbour of one kind has many of every kind: of degrees with Pareto's
    tail the share s of the vertices, those that have most, has s ** (1 - 1 / a) of all edges. Neither is more than what
    an edge tells of the vertex that it leads to."""
    if not edge.relation.of_data_edges:
        return 1.0, 1.0
    skew = statistics.degree(edge.types, edge.direction(vertex), graph.vertices[vertex].tables).skew
    if skew <= 1.0:
        return 1.0, 1.0
    shares = passed[vertex]
    own = shares.get(edge.index, 1.0)
    others = math.prod({share for share in shares.values() if share != own})  # alike edges have one
    tail = 1.0 + math.sqrt(skew / (skew - 1.0))  # the a with which degrees are that skewed
    crowd = max(others, 1e-9) ** (-1.0 / tail)
    return min(skew, crowd), min(skew, crowd / max(own, 1e-9))


def estimated_sizes(graph: QueryGraph, statistics: Statistics) -> list[float]:
    """Sizes of the candidate sets, before anything has run."""
    sizes = []
    for vertex in graph.vertices:
        total = max(1.0, statistics.vertex_count(vertex.tables))
        sizes.append(max(1.0, total * kept_share(vertex.predicates, total)))
    for edge in graph.bindings():
        sizes[edge.source] = GUESSES.seeds
        sizes[edge.target] = min(GUESSES.seeds, sizes[edge.target])
    for edge in graph.edges:
        if isinstance(edge.relation, End):
            sizes[edge.source] = edge.relation.count
        if isinstance(edge.relation, Valued):
            sizes[edge.source] = max(sizes[edge.source], GUESSES.values * sizes[edge.target])
    return sizes


def derived(problem: Problem, graph: QueryGraph, known: Cardinalities, statistics: Statistics) -> Cardinalities:
    """Cardinalities of a problem that was made from the query's, from those of the query and its graph."""
    vertices = problem.graph.vertices
    sizes = tuple(min(known.vertices[origin] for origin in group) for group in problem.merged)
    first = {origin: vertex for vertex, group in enumerate(problem.merged) for origin in group}
    edges, degrees, having = [], [], []
    for edge, origin in zip(problem.graph.edges, problem.edges, strict=True):
        share = None if origin is None else _share(edge.relation, graph.edges[origin].relation)
        if origin is None or share is None:
            ends = [vertices[end] for end in (edge.source, edge.target)]
            counts = [max(1, statistics.vertex_count(end.tables)) for end in ends]
            total = edges_between(edge, ends[0].tables, ends[1].tables, statistics)
            edges.append(total * sizes[edge.source] / counts[0] * sizes[edge.target] / counts[1])
            degrees.append((total / counts[0], total / counts[1]))
            having.append((1.0, 1.0))
        else:
            shrunk = 1.0
            for end in (graph.edges[origin].source, graph.edges[origin].target):
                shrunk *= sizes[first[end]] / max(1e-9, known.vertices[end])
            edges.append(known.edges[origin] * shrunk * share)
            degrees.append((known.degrees[origin][0] * share, known.degrees[origin][1] * share))
            having.append(known.having[origin])
    return Cardinalities(sizes, tuple(edges), tuple(degrees), tuple(having), known.vain)


def _share(relation: Relation, whole: Relation) -> float | None:
    """About how much of a relation another one is; None where it is none of its data edges, or other ones."""
    if relation == whole:
        return 1.0
    if isinstance(relation, Types) and isinstance(whole, Types) and relation.types == whole.types:
        return relation.share / whole.share
    return None


def edges_between(edge: QueryEdge, sources: tuple[int, ...], targets: tuple[int, ...], statistics: Statistics) -> float:
    """Entries that the edge's adjacency has from the source tables to the target tables, predicates aside."""
    return edge.relation.entries(statistics, edge.direction(edge.source), sources, targets)


def kept_share(predicates: tuple[Expression, ...], count: float) -> float:
    """The share of `count` elements that the predicates are thought to keep."""
    return math.prod(_selectivity(predicate, count) for predicate in predicates)


def _selectivity(predicate: Expression, count: float) -> float:
    if not isinstance(predicate, Call):
        return GUESSES.predicate
    if predicate.function == "=":
        by_id = any(isinstance(side, Column) and side.attribute is Attribute.ID for side in predicate.arguments)
        by_id = by_id or any(isinstance(side, Column) and side.key == "id" for side in predicate.arguments)
        return 1 / max(1.0, count) if by_id else GUESSES.equality
    bounded = predicate.function in ("<", "<=", ">", ">=", "starts with", "in")
    return GUESSES.range if bounded else GUESSES.predicate


ENDLESS = 1e100  # estimates end here, so that products of them are numbers


Crowd = tuple[int, float]
"""Other vertices that edges of a kind lead to a vertex from (bit masks), and by how many times its row is longer once
one of them is matched."""

Link = tuple[float, int, float, tuple[Crowd, ...]]
"""An edge from a vertex to another: selectivity, the other (a bit mask), its row, and who crowds around the other."""


class PrefixModel:
    """Estimated partial matches and work along a matching order.

    The most selective backward edge of a vertex counts in full, each further one keeps at least a guessed share:
    neighbours of neighbours are neighbours far more often than by chance, and taking the edges as independent would
    estimate almost nothing for dense patterns, so that every order looked alike. For the same reason an estimate never
    falls below one match.

    On the raw adjacency a row is longer where another edge of the type leads to its vertex: who is a neighbour often
    has many, in both directions. Where rows meet, the shorter one decides, and the number of matches grows by the root
    of that only.
    """

    def __init__(
        self, graph: QueryGraph, cardinalities: Cardinalities, statistics: Statistics | None, costs: CostModel
    ) -> None:
        """statistics: of the raw adjacency, if that has the lists that are looked at, longer than the candidate
        edges."""
        self.costs = costs
        self.sizes = [max(size, 1e-9) for size in cardinalities.vertices]
        self.links: list[list[Link]] = [[] for _ in graph.vertices]
        self._values = [0] * len(graph.vertices)  # the values that lead to each vertex
        alike = _alike(graph) if statistics is not None else {}
        for edge in graph.edges:
            if edge.source == edge.target:
                continue
            count = max(cardinalities.edges[edge.index], 1e-9)
            selectivity = min(1.0, count / (self.sizes[edge.source] * self.sizes[edge.target]))
            for vertex, other, side in ((edge.source, edge.target, 1), (edge.target, edge.source, 0)):
                row, crowds = count / self.sizes[other], tuple[Crowd, ...]()
                if statistics is not None:
                    row = cardinalities.degrees[edge.index][side]
                    having = cardinalities.having[edge.index][side]
                    crowds = tuple(_crowds(graph, edge, other, vertex, having, alike, statistics))
                if isinstance(edge.relation, Valued):
                    self._values[vertex] |= 1 << other
                self.links[vertex].append((selectivity, 1 << other, row, crowds))
        for links in self.links:
            links.sort()
        self.neighbours = [{link[1].bit_length() - 1 for link in links} for links in self.links]
        self.near = [_union(link[1] for link in links) for links in self.links]
        crowded = [_union(crowd for link in links for crowd, _ in link[3]) for links in self.links]
        self._looked_at = [near | crowd for near, crowd in zip(self.near, crowded, strict=True)]
        self._extensions: list[dict[int, tuple[float, float, int]]] = [{} for _ in graph.vertices]

    def extension(self, vertex: int, matched: int) -> tuple[float, float, int]:
        """Extending a match of the set `matched` (a bit mask) by `vertex`: (factor of rows, neighbours looked at,
        backward edges)."""
        matched &= self._looked_at[vertex]
        known = self._extensions[vertex].get(matched)
        if known is None:
            known = self._extensions[vertex][matched] = self._extended(vertex, matched)
        return known

    def _extended(self, vertex: int, matched: int) -> tuple[float, float, int]:
        closing = [link for link in self.links[vertex] if matched & link[1]]
        if not closing:
            return self.sizes[vertex], self.sizes[vertex], 0
        selectivity, _, row, _ = closing[0]
        longer = _longer(closing[0], matched)
        factor = self.sizes[vertex] * selectivity
        if len(closing) == 1:
            return factor * longer, row * longer, 1
        for selectivity, *_ in closing[1:]:
            factor *= max(selectivity, GUESSES.closing)
        rows = [link[2] for link in closing]
        if matched & self._values[vertex]:  # the row of a value is as long as it is: the other one decides
            rows = [row * _longer(link, matched) for row, link in zip(rows, closing, strict=True)]
        looks = self.costs.intersection(rows)
        return factor * math.sqrt(longer), looks, len(closing)


def _longer(link: Link, matched: int) -> float:
    """How many times as long as it is on the mean the row of an edge is after a match of some vertices."""
    return max((skew for crowd, skew in link[3] if matched & crowd), default=1.0)


def _crowds(
    graph: QueryGraph,
    edge: QueryEdge,
    vertex: int,
    leaving: int,
    having: float,
    alike: Mapping[tuple[int, Relation, Direction], int],
    statistics: Statistics,
) -> Iterator[Crowd]:
    """Who makes the row of `vertex` along an edge longer, all but the one that the edge leads to. Those that a filter
    leaves out have few neighbours: the mean gets nearer to the degree of who has many. having: their share."""
    relation, direction, tables = edge.relation, edge.direction(vertex), graph.vertices[vertex].tables
    if not relation.of_data_edges:
        return
    if crowd := alike[vertex, relation, direction] & ~(1 << leaving):
        yield crowd, max(1.0, having * statistics.degree(edge.types, direction, tables).skew)
    if crowd := alike.get((vertex, relation, TURNED[direction]), 0) if edge.directed else 0:
        yield crowd & ~(1 << leaving), max(1.0, having * statistics.skew_across(edge.types, tables))


def _alike(graph: QueryGraph) -> dict[tuple[int, Relation, Direction], int]:
    """For each vertex the others that edges of one relation lead to in one direction, as bit masks."""
    found: dict[tuple[int, Relation, Direction], int] = {}
    for edge in graph.edges:
        for vertex, other in ((edge.source, edge.target), (edge.target, edge.source)):
            key = vertex, edge.relation, edge.direction(vertex)
            found[key] = found.get(key, 0) | 1 << other
    return found


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union
