"""Data edges that are compared with other elements are matched as vertices.

`MATCH (a)-[k]->(b)-[l]->(c) WHERE k.time < l.time` asks of data edges what matching compares of vertices. The edge k
becomes a vertex, with an edge to its source a and one to its target b, so that partial matches end where the comparison
fails, and sums go on; a and c, of which nobody asks anything, are left out. Where neighbours decide before edges are
looked at, as in triangles, the comparison is left to the tail: what both ways cost is estimated.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from gquery.planner.ir.expr import Expression, is_volatile, variables
from gquery.planner.ir.filters import EdgesFilter
from gquery.planner.ir.problem import Comparison, Pair, ascending, compared
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph, QueryVertex
from gquery.planner.ir.relations import End, Types
from gquery.planner.ir.rename import unnamed
from gquery.planner.passes.draft import Draft
from gquery.planner.passes.rewriting.ordered import Orders
from gquery.planner.search.cardinality import estimate, kept_share
from gquery.planner.search.context import Context
from gquery.planner.search.costs import GUESSES
from gquery.planner.search.solving import Solver
from gquery.planner.search.sums.factorise import Tree
from gquery.records import record, replace
from gquery.storage.invariants import Invariants
from gquery.storage.schema import Direction

_MOST = 2**31 - 1  # edges that have numbers of 32 bits
_OF_VERTICES = ("different nodes", "induced")  # modes that ask something of vertices without edges between them, too

Told = tuple[Expression, Comparison]
"""A condition, and the comparison that it is once edges are vertices, numbered behind the query's vertices."""


def match_compared_edges(draft: Draft, context: Context) -> Draft:
    """The graph with a vertex for each edge that is compared, if that pays. With a LIMIT a few matches are found before
    the ends of all edges would be listed."""
    if not draft.residual or draft.limit is not None or draft.segment.lead or not context.costs.effort.edges:
        return draft
    told = tuple(_told(draft))
    chosen = _with_those_told_apart(draft.graph, {edge for each in told for edge in _edges_of(draft.graph, each[1])})
    if not chosen or context.statistics.edges(tuple(context.invariants.types)) > _MOST:
        return draft
    rewritten = _Rewriting(draft, told, tuple(sorted(chosen)), context).draft()
    return rewritten if _pays(draft, rewritten, context) else draft


def _told(draft: Draft) -> Iterator[Told]:
    """The conditions that compare an edge with another element."""
    graph = draft.graph
    index = {vertex.variable: vertex.index for vertex in graph.vertices}
    index |= {edge.variable: len(graph.vertices) + edge.index for edge in graph.edges}
    for predicate in draft.residual:
        comparison = compared(predicate, index)
        if comparison is None or is_volatile(predicate):
            continue
        edges = _edges_of(graph, comparison)
        required = all(graph.part_of(end) is None for end in (comparison.left, comparison.right))
        if edges and required and all(_can_be_vertex(graph, graph.edges[edge]) for edge in edges):
            yield predicate, comparison


def _edges_of(graph: QueryGraph, comparison: Comparison) -> list[int]:
    first = len(graph.vertices)
    return [end - first for end in (comparison.left, comparison.right) if end >= first]


def _can_be_vertex(graph: QueryGraph, edge: QueryEdge) -> bool:
    plain = edge.directed and isinstance(edge.relation, Types) and edge.relation == Types(edge.types)
    induced = any(edge.index in scope.edges for scope in graph.scopes if scope.mode == "induced")
    return plain and not induced and not any(edge.index in part.edges for part in graph.parts)


def _with_those_told_apart(graph: QueryGraph, edges: set[int]) -> set[int]:
    """With all that have to be other data edges than one of them; none, where one of these can be no vertex."""
    found, pending = set(edges), sorted(edges)
    while pending:
        near = set(_told_apart(graph, pending.pop())) - found
        if not all(_can_be_vertex(graph, graph.edges[other]) for other in near):
            return set()
        found |= near
        pending += sorted(near)
    return found


def _told_apart(graph: QueryGraph, edge: int) -> Iterator[int]:
    own = set(graph.edges[edge].types)
    for scope in graph.scopes:
        if scope.mode == "different edges" and edge in scope.edges:
            yield from (each for each in scope.edges if each != edge and own.intersection(graph.edges[each].types))


@record(frozen=True, slots=True)
class _Numbers:
    """What elements of the query become. vertices, edges: those that stay; stands: the vertex of an edge."""

    vertices: dict[int, int]
    edges: dict[int, int]
    stands: dict[int, int]

    def left(self, vertices: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.vertices[each] for each in vertices if each in self.vertices)

    def left_of_edges(self, edges: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.edges[each] for each in edges if each in self.edges)


class _Rewriting:
    """told: the conditions that become comparisons; chosen: the edges that become vertices, ascending."""

    def __init__(self, draft: Draft, told: Sequence[Told], chosen: Sequence[int], context: Context) -> None:
        self._draft = draft
        self._graph = graph = draft.graph
        self._told = told
        self._chosen = chosen
        self._context = context
        spoken_of = _spoken_of(draft, told)
        ends = (tuple(self._unspoken_of(graph.edges[edge], spoken_of)) for edge in chosen)
        without = {each[0] for each in ends if each}  # of two one tells how many edges there are
        left = [vertex.index for vertex in graph.vertices if vertex.index not in without]
        others = [edge.index for edge in graph.edges if edge.index not in chosen]
        self._numbers = _Numbers(
            {vertex: place for place, vertex in enumerate(left)},
            {edge: place for place, edge in enumerate(others)},
            {edge: len(left) + place for place, edge in enumerate(chosen)},
        )

    def _unspoken_of(self, edge: QueryEdge, spoken_of: Collection[int]) -> Iterator[int]:
        """The ends of an edge of which nobody asks anything: every such data edge has one."""
        graph, invariants = self._graph, self._context.invariants
        ends: tuple[tuple[int, Direction], ...] = ((edge.source, "in"), (edge.target, "out"))
        for end, direction in ends:
            alone = graph.incident[end] == (edge,) and edge.source != edge.target
            asked = end in spoken_of or graph.vertices[end].predicates
            tables = graph.vertices[end].tables
            if alone and not asked and invariants.leads_only_to(edge.types, direction, invariants.tables, tables):
                yield end

    def draft(self) -> Draft:
        """With a vertex for each of the edges."""
        numbers, problem = self._numbers, self._draft.problem
        first = len(self._graph.vertices)
        places = numbers.vertices | {first + edge: vertex for edge, vertex in numbers.stands.items()}
        told = [comparison.renumbered(places) for _, comparison in self._told]
        told += Orders(told).implied()
        before = tuple(comparison.renumbered(places) for comparison in problem.comparisons)
        constraints = problem.constraints.renumbered(numbers.vertices, numbers.edges)
        assert constraints is not None  # no vertices became one
        apart = frozenset(self._told_apart(told))
        constraints = replace(constraints, different=constraints.different | apart)
        done = {id(predicate) for predicate, _ in self._told}
        return replace(
            self._draft.with_problem(self._rewritten(), constraints, (*before, *told)),
            residual=tuple(predicate for predicate in self._draft.residual if id(predicate) not in done),
            edges=tuple(self._filters(apart)),
        )

    def _rewritten(self) -> QueryGraph:
        graph, numbers = self._graph, self._numbers
        vertices = [replace(graph.vertices[vertex], index=place) for vertex, place in numbers.vertices.items()]
        for edge, vertex in numbers.stands.items():
            vertices.append(QueryVertex(vertex, graph.edges[edge].variable, (), (), graph.edges[edge].described))
        edges = []
        for edge, place in numbers.edges.items():
            source, target = (numbers.vertices[end] for end in (graph.edges[edge].source, graph.edges[edge].target))
            edges.append(replace(graph.edges[edge], index=place, source=source, target=target))
        for edge in self._chosen:
            edges += self._ends(graph.edges[edge], len(edges))
        return replace(
            graph,
            vertices=tuple(vertices),
            edges=tuple(edges),
            scopes=tuple(
                replace(each, vertices=numbers.left(each.vertices), edges=numbers.left_of_edges(each.edges))
                for each in graph.scopes
            ),
            parts=tuple(
                replace(each, vertices=numbers.left(each.vertices), edges=numbers.left_of_edges(each.edges))
                for each in graph.parts
            ),
        )

    def _ends(self, edge: QueryEdge, first: int) -> Iterator[QueryEdge]:
        """From the vertex that stands for an edge to its source and its target, as far as these stay."""
        total = float(self._context.statistics.edges(edge.types))
        count = max(1.0, total * kept_share(edge.predicates, total))
        ends = [
            each for each in (("source", edge.source), ("target", edge.target)) if each[1] in self._numbers.vertices
        ]
        for index, (name, end) in enumerate(ends, first):
            column, described = f" {name} of {edge.variable}", f"the {name} of {edge.described}"
            relation = End(column, edge.types, name == "source", count)
            stands, vertex = self._numbers.stands[edge.index], self._numbers.vertices[end]
            yield QueryEdge(index, column, stands, vertex, relation, True, (), described)

    def _filters(self, apart: Collection[Pair]) -> Iterator[EdgesFilter]:
        """Those that are told apart are numbered together, and all as they are met."""
        stands = self._numbers.stands
        groups = {vertex: vertex for vertex in stands.values()}
        for pair in apart:
            joined = {groups[each] for each in pair}
            groups = {vertex: min(joined) if group in joined else group for vertex, group in groups.items()}
        begun = (edge for edge in self._chosen if self._graph.edges[edge].source in self._numbers.vertices)
        by_source = {groups[stands[edge]] for edge in begun}
        for edge, vertex in stands.items():
            own, group = self._graph.edges[edge], groups[vertex]
            yield EdgesFilter(vertex, own.types, own.predicates, group, group in by_source)

    def _told_apart(self, comparisons: Sequence[Comparison]) -> Iterator[Pair]:
        """The pairs of edges that have to be told apart: not those that are in order anyway."""
        orders = Orders(comparisons)
        for one, other in combinations(self._chosen, 2):
            pair = ascending(self._numbers.stands[one], self._numbers.stands[other])
            if other not in _told_apart(self._graph, one) or orders.are_apart(pair):
                continue
            if not _never_one(self._graph.edges[one], self._graph.edges[other], self._context.invariants):
                yield pair


def _spoken_of(draft: Draft, told: Sequence[Told]) -> frozenset[int]:
    """The vertices that the answer speaks of, or any condition or test of several elements."""
    graph, constraints = draft.graph, draft.problem.constraints
    done = {id(predicate) for predicate, _ in told}
    names = draft.wanted.variables.union(*map(variables, draft.segment.predicates))
    names = names.union(*(variables(each) for each in draft.residual if id(each) not in done))
    names = names.union(*(path.vertices for path in graph.paths if path.name in names))
    found = {vertex.index for vertex in graph.vertices if vertex.variable in names}
    found |= {end for each in draft.problem.comparisons for end in (each.left, each.right)}
    found |= {end for _, each in told for end in (each.left, each.right)}
    found |= {end for pair in constraints.different for end in pair}
    found |= {end for one, other, *_ in constraints.absent for end in (one, other)}
    found |= {vertex for scope in graph.scopes if scope.mode in _OF_VERTICES for vertex in scope.vertices}
    return frozenset(found.union(*(part.vertices for part in graph.parts)))


def _never_one(one: QueryEdge, other: QueryEdge, invariants: Invariants) -> bool:
    """Whether one data edge would be a self-loop, of which there are none."""
    common = set(one.types) & set(other.types)
    return (one.target == other.source or one.source == other.target) and not invariants.has_loop(common)


def _pays(draft: Draft, rewritten: Draft, context: Context) -> bool:
    """Whether matching edges as vertices takes less than listing all vertices, and comparing the edges then."""
    costs = context.costs
    tree = _tree(draft, _required(draft.graph), context)
    before = tree.cost + costs.compare_edges * tree.levels[-1].rows
    is_counted = draft.wanted.counted and not rewritten.residual
    other = _tree(rewritten, frozenset() if is_counted else _required(rewritten.graph), context)
    after = other.cost * _left(other, rewritten.problem.comparisons)
    ends = sum(edge.relation.count for edge in rewritten.graph.edges if isinstance(edge.relation, End))
    return after + costs.list_ends * ends < before


def _tree(draft: Draft, kept: frozenset[int], context: Context) -> Tree:
    known = estimate(draft.graph, context.statistics)
    return Solver(draft.problem, kept, known, "vertices", context).rough(draft.problem)


def _left(tree: Tree, comparisons: Sequence[Comparison]) -> float:
    """About which share of the partial matches of a tree comparisons leave: costs are those without any."""
    place = {level.vertex: number for number, level in enumerate(tree.levels)}
    checked = [max(place[each.left], place[each.right]) for each in comparisons]
    shares = [_share(each) for each in comparisons]
    found = left = 0.0
    for number, level in enumerate(tree.levels):
        rows = max(level.rows, tree.levels[level.parent].rows if number else 1.0)
        found += rows
        left += rows * math.prod(share for share, at in zip(shares, checked, strict=True) if at < number)
    return left / max(1.0, found)


def _share(comparison: Comparison) -> float:
    """About which share of the pairs of elements a comparison leaves."""
    if comparison.operator == "=":
        return GUESSES.equality
    if comparison.operator == "<>":
        return 1.0
    alike = unnamed(comparison.left_value) == unnamed(comparison.right_value)
    return GUESSES.predicate if alike else GUESSES.range


def _required(graph: QueryGraph) -> frozenset[int]:
    return frozenset(vertex.index for vertex in graph.vertices if graph.part_of(vertex.index) is None)
