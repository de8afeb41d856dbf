"""Picks the neighbour-label counts that narrow the candidate sets: those that pay, cheapest first.

They only save work: the enumeration would find out by itself that a vertex lacks an edge, one visit at a time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from gquery.planner.ir.filters import BindingFilter, EndsFilter, NeighbourFilter, ReachedFilter
from gquery.planner.ir.match_plan import Counted
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.planner.passes.draft import Draft
from gquery.planner.search.cardinality import edges_between, estimate, estimated_sizes, kept_share
from gquery.planner.search.context import Context
from gquery.planner.search.costs import GUESSES
from gquery.planner.search.matching import estimated_tree, is_doubted, led_by
from gquery.planner.search.sums.factorise import Tree, folds_whole
from gquery.records import replace
from gquery.storage.invariants import Invariants


def paying_filters(draft: Draft, context: Context) -> Draft:
    """The neighbour-label counts that save more work than they cost; how many others every vertex passes; and how many
    do not pay.

    Before the candidate graph is built, all pay that are not passed by all and that look at some vertices: it takes
    several sweeps over what they leave.
    """
    graph, statistics, costs = draft.graph, context.statistics, context.costs
    sizes = estimated_sizes(graph, statistics)
    counts = _neighbour_counts(draft)
    if costs.filters_begin == math.inf:
        return replace(draft, costly=len(counts))
    worth = counts
    if draft.limit is None and is_doubted(draft.problem, costs):
        worth = [each for each in counts if not _is_swept(graph, each, sizes[each.vertex], context)]
    possible = [(filter_, *_passing(graph, filter_, context)) for filter_ in worth]
    everywhere = {(f.vertex, edge): share for f, share, _ in possible for edge in f.alike}
    for reached in (each for each in draft.filters if isinstance(each, EndsFilter | ReachedFilter)):
        share = reached.rows / sizes[reached.vertex]
        if share < 1.0:
            sizes[reached.vertex] = reached.rows
            everywhere[reached.vertex, reached.edge] = share
    left = list(sizes)
    for filter_, share, _ in possible:
        left[filter_.vertex] *= share
    chosen: list[tuple[float, NeighbourFilter]] = []
    implied, together = 0, 0.0
    for filter_, share, looks in possible:
        if share >= 1.0:
            implied += 1
        else:
            signature = _signature(graph, filter_, context.invariants)
            cost = costs.filtering(sizes[filter_.vertex], looks if signature is None else None)
            together += cost + (costs.filter_test * sizes[filter_.vertex] if looks and signature is None else 0.0)
            chosen.append((cost, replace(filter_, share=share, signature=signature)))
    # Who lists both ends of one edge alone finds out by the first look at either, or goes through the edges.
    paying = [] if len(graph.edges) == 1 and len(draft.kept) == 2 else chosen
    few = any(isinstance(each, EndsFilter) for each in draft.filters)  # where matching may begin, and be done at once
    if paying and (few or together > costs.filters_weighed):
        vain: Mapping[tuple[int, int], float] | None = {}  # what is folded is not visited in vain
        if not (folds_whole(draft.problem, draft.kept) or _folds_in_terms(draft)):
            cardinalities = estimate(graph, statistics, Counted(tuple(left), {}, everywhere))
            lead = led_by(graph, draft.segment.lead)
            tree = estimated_tree(draft.listed, draft.kept, draft.limit, cardinalities, context, lead)
            vain = None if tree is None else _vain_visits(graph, tree)
        # What is reached from a few vertices is estimated too low where these have more edges than others.
        reaching = not few and any(isinstance(each, ReachedFilter) for each in draft.filters)
        begin = 0.0 if reaching else costs.filter_begin
        if vain is not None:
            saved = [(_spared(each, vain) * costs.vain - cost - begin, cost, each) for cost, each in chosen]
            paying = [(cost, each) for saving, cost, each in saved if saving >= 0]
            if sum(saving for saving, _, _ in saved if saving > 0) < costs.filters_begin:
                paying = []
    ordered = tuple(each for _, each in sorted(paying, key=lambda pair: pair[0] / (1 - pair[1].share)))
    costly = len(chosen) - len(paying) + len(counts) - len(worth)
    return replace(draft, filters=(*draft.filters, *ordered), implied=implied, costly=costly)


def _folds_in_terms(draft: Draft) -> bool:
    """Whether all that is tested in a tree that is counted is that two edges are not one: this is left out, and the
    matches where they are one, which are a smaller tree's, are subtracted."""
    problem = draft.problem
    collisions = sum(len(choice.collides) for choice in problem.constraints.choices) // 2
    alone = collisions == problem.constraints.tests == 1 and len(set(problem.tests())) == 1
    return draft.counting and alone and not problem.graph.parts and problem.graph.is_tree()


def _is_swept(graph: QueryGraph, filter_: NeighbourFilter, size: float, context: Context) -> bool:
    """Whether a sweep over candidates, which looks for one neighbour along every edge anyway, has done so before the
    filter alone has begun."""
    edge, vertex = graph.edges[filter_.edge], graph.vertices[filter_.vertex]
    if filter_.required > 1:
        return False
    degree = context.statistics.degree(edge.types, edge.direction(vertex.index), vertex.tables)
    return size * degree.mean * context.costs.filter_look < context.costs.filter_begin


def _signature(graph: QueryGraph, filter_: NeighbourFilter, invariants: Invariants) -> int | None:
    """The bits that tell as much as the rows, when any neighbour with the labels will do."""
    vertex, edge = graph.vertices[filter_.vertex], graph.edges[filter_.edge]
    other = graph.vertices[edge.other(vertex.index)]
    if filter_.required > 1 or edge.predicates or other.predicates:
        return None
    return invariants.signature(edge.types, edge.direction(vertex.index), other.tables)


def _spared(filter_: NeighbourFilter, vain: Mapping[tuple[int, int], float]) -> float:
    """How many visits a filter saves: the vain ones are counted of those that pass."""
    visits = max(vain.get((filter_.vertex, edge), 0.0) for edge in filter_.alike)
    return (1 / filter_.share - 1) * visits


def _vain_visits(graph: QueryGraph, tree: Tree) -> dict[tuple[int, int], float]:
    """For (vertex, query edge) how often the vertex is matched before anything looks at the edge."""
    level = {each.vertex: number for number, each in enumerate(tree.levels)}
    visits = {}
    for edge in graph.edges:
        first, last = sorted((edge.source, edge.target), key=lambda vertex: level[vertex])
        if not tree.levels[level[last]].folded:
            visits[first, edge.index] = tree.levels[level[first]].rows
    return visits


def _passing(graph: QueryGraph, filter_: NeighbourFilter, context: Context) -> tuple[float, float]:
    """(about which share of the vertices passes, 1.0 only when all do; how many entries are tested for each)."""
    vertex, edge = graph.vertices[filter_.vertex], graph.edges[filter_.edge]
    other = graph.vertices[edge.other(vertex.index)]
    invariants, statistics, direction = context.invariants, context.statistics, edge.direction(vertex.index)
    certain = invariants.leads_only_to(edge.types, direction, vertex.tables, other.tables)
    certain = certain and not other.predicates and not edge.predicates
    if certain and filter_.required == 1 and invariants.everybody_has(edge.types, direction, vertex.tables):
        return 1.0, 0.0
    count = statistics.vertex_count(vertex.tables)
    degree = statistics.degree(edge.types, direction, vertex.tables)
    if count == 0 or degree.with_any == 0:
        return GUESSES.least, 0.0
    mean = degree.mean * count / degree.with_any  # of those that have any
    source, target = (vertex, other) if edge.source == vertex.index else (other, vertex)
    leads = edges_between(edge, source.tables, target.tables, statistics) / (degree.mean * count)
    leads *= kept_share(other.predicates, count) * kept_share(edge.predicates, count)
    any_leads = 1.0 if certain else 1 - (1 - min(leads, 1.0)) ** mean
    # Degrees fall off geometrically: of the vertices with k entries, 1 - 1/mean have one more.
    enough = (1 - 1 / max(mean, 1.0)) ** (filter_.required - 1)
    share = degree.with_any / count * any_leads * enough
    return min(max(share, GUESSES.least), GUESSES.most), 0.0 if certain else min(
        mean, filter_.required / max(leads, 1e-9)
    )


def _neighbour_counts(draft: Draft) -> list[NeighbourFilter]:
    """For each vertex and each class of alike query edges at it: how many of them there must be room for."""
    graph = draft.graph
    narrowed = (filter_ for filter_ in draft.filters if isinstance(filter_, BindingFilter | EndsFilter | ReachedFilter))
    apart = {filter_.vertex for filter_ in narrowed}
    found: dict[tuple[int, object], NeighbourFilter] = {}
    incident = graph.incident
    for scope in graph.scopes:
        own = set(scope.edges)
        for vertex in scope.vertices:
            at_vertex = [edge for edge in incident[vertex] if edge.index in own]
            links = [edge for edge in at_vertex if edge.source != edge.target and graph.binds(edge.index, vertex)]
            for alike, edges in _classes(graph, vertex, links, apart).items():
                distinct = edges if scope.mode == "different edges" else {edge.other(vertex) for edge in edges}
                required = 1 if scope.mode == "repeatable elements" else len(distinct)
                filter_ = NeighbourFilter(vertex, edges[0].index, required, tuple(edge.index for edge in edges))
                key = (vertex, alike)
                if key not in found or found[key].required < required:
                    found[key] = filter_
    told = {(each.vertex, each.edge) for each in draft.filters if isinstance(each, EndsFilter)}
    return [each for each in found.values() if each.required > 1 or (each.vertex, each.edge) not in told]


def _classes(graph: QueryGraph, vertex: int, edges: list[QueryEdge], apart: set[int]) -> dict[object, list[QueryEdge]]:
    """The edges at a vertex by what they ask of a data edge and its other end; what is in `apart`, narrowed
    by more than its labels and predicates, is like no other."""
    classes: dict[object, list[QueryEdge]] = {}
    for edge in edges:
        other = graph.vertices[edge.other(vertex)]
        outgoing = edge.directed and edge.source == vertex
        own = other.index if other.index in apart else None
        alike = (edge.relation, outgoing, edge.directed, edge.predicates, other.tables, other.predicates, own)
        classes.setdefault(alike, []).append(edge)
    return classes
