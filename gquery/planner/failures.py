"""What is asked when a condition fails for some elements, which may be in no match: `10 / b.x > 1`, and some x is 0.

A condition on one element is asked of all elements of its kind, long before it is known which of them a match has. An
error is one only if there is a match with such an element, for which everything else is true; or may be, where that
fails too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from gquery.errors import Span
from gquery.planner.ir.expr import INTEGER, NODE, RELATIONSHIP, Call, Constant, Expression, is_volatile, variables
from gquery.planner.ir.functions.failing import fails, may_fail, true_or_failing
from gquery.planner.ir.query_graph import Part, QueryEdge, QueryGraph, QueryVertex
from gquery.planner.ir.rename import copied, renamed
from gquery.planner.ir.segments import BoundQuery, Match, Paths, Project, Projection, ProjectionItem, Variable
from gquery.records import record, replace

_ONE = Constant(INTEGER, Span(0, 0), 1)

_Element = TypeVar("_Element", QueryVertex, QueryEdge)


@record(frozen=True, slots=True)
class Failing:
    """query: for one match, if there is any, in which an expression fails. begins: the vertices that its rows begin
    with: those that the match begins with, else the one that the expression fails for, or the ends of the edge."""

    query: BoundQuery
    begins: tuple[str, ...]
    edge: QueryEdge | None


def matches_that_fail(match: Match, failing: Expression) -> Failing | None:
    """failing: a condition of the match, or a side of a comparison that is one. None where it is none of these."""
    failing = _of_originals(match.graph, failing)
    graph = _Failing(match.graph, failing).graph()
    edge = next((each for each in match.graph.edges if each.variable in variables(failing)), None)
    if graph is None or (isinstance(match, Paths) and edge is not None):  # of a path some edges fail, others do not
        return None
    bound = match.seeded or tuple(dict.fromkeys(variables(failing) if edge is None else _ends(match.graph, edge)))
    begins = tuple(Variable(name, NODE) for name in bound)
    own = (Variable(vertex.variable, NODE) for vertex in graph.vertices if vertex.variable not in bound)
    edges = (Variable(each.variable, RELATIONSHIP) for each in graph.edges)
    output = (*begins, *own, *edges)
    found = Match(graph, bound, (), begins, output)
    if isinstance(match, Paths):
        found = replace(match, graph=graph, bound=bound, predicates=(), input=begins, output=output)
    first = Projection((ProjectionItem("found", _ONE),), False, (), None, _ONE)
    query = BoundQuery((found, Project(first, (), output, (Variable("found", INTEGER),))))
    return Failing(query, bound, edge)


@record(frozen=True, slots=True)
class _Failing:
    """The query graph of matches in which an expression fails."""

    whole: QueryGraph
    expression: Expression

    def graph(self) -> QueryGraph | None:
        """None where no condition is or compares the expression."""
        graph, names = self.whole, variables(self.expression)
        if len(names) != 1:
            return None
        (name,) = names
        vertices = tuple(self._element(vertex, name) for vertex in graph.vertices)
        edges = tuple(self._element(edge, name) for edge in graph.edges)
        if not any(map(self._is_meant, _conditions(graph))):
            return None
        graph = replace(graph, vertices=vertices, edges=edges, predicates=self._others(graph.predicates))
        numbers = (number for number, part in enumerate(graph.parts)
                   if any(map(self._is_meant, part.predicates)) or _has(graph, part, name))  # fmt: skip
        return self._required(graph, next(numbers, None))

    def _is_meant(self, predicate: Expression) -> bool:
        sides = predicate.arguments if isinstance(predicate, Call) else ()
        return self.expression == predicate or self.expression in sides

    def _element(self, element: _Element, name: str) -> _Element:
        predicates: tuple[Expression, ...] = self._others(element.predicates)
        if element.variable == name:
            predicates = (*predicates, fails(self.expression))
        return replace(element, predicates=predicates)

    def _required(self, graph: QueryGraph, number: int | None) -> QueryGraph:
        """The graph with a part, and all that this hangs on, as patterns that have to be there."""
        hangs_on = set()
        while number is not None:
            hangs_on.add(number)
            number = graph.parts[number].within
        left = [number for number in range(len(graph.parts)) if number not in hangs_on]
        numbers = {old: new for new, old in enumerate(left)}

        def renumbered(old: int | None) -> int | None:
            return None if old is None else numbers.get(old)

        conditions = (predicate for number in hangs_on for predicate in graph.parts[number].predicates)
        return replace(
            graph,
            scopes=tuple(replace(scope, part=renumbered(scope.part)) for scope in graph.scopes),
            predicates=(*graph.predicates, *self._others(tuple(conditions))),
            parts=tuple(replace(graph.parts[old], within=renumbered(graph.parts[old].within)) for old in left),
        )

    def _others(self, predicates: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """What else is asked: it may fail too."""
        others = (each for each in predicates if not self._is_meant(each))
        return tuple(true_or_failing(each) if may_fail(each) and not is_volatile(each) else each for each in others)


def _of_originals(graph: QueryGraph, expression: Expression) -> Expression:
    """The expression as it was before parts had copies of what they hang on (`passes/rewriting/parts.py`)."""
    own = [vertex.variable for vertex in graph.vertices]
    names = {copied(name, number): name for number in range(len(graph.parts)) for name in own}
    return renamed(expression, lambda name: names.get(name, name))


def _ends(graph: QueryGraph, edge: QueryEdge) -> tuple[str, str]:
    return graph.vertices[edge.source].variable, graph.vertices[edge.target].variable


def _conditions(graph: QueryGraph) -> Iterator[Expression]:
    for vertex in graph.vertices:
        yield from vertex.predicates
    for edge in graph.edges:
        yield from edge.predicates
    for part in graph.parts:
        yield from part.predicates
    yield from graph.predicates


def _has(graph: QueryGraph, part: Part, name: str) -> bool:
    vertices = (graph.vertices[vertex].variable for vertex in part.vertices)
    return name in vertices or name in (graph.edges[edge].variable for edge in part.edges)
