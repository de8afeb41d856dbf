"""Of which elements a condition is asked where it fails for some: `10 / b.x > 1`, and some x is 0.

A condition on one element is asked of all elements of its kind, long before it is known which of them a match has.
Where it fails for some it is asked again, of those alone that matches have in which all is true that cannot fail or
comes before: what fails then is an error of the query's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from gquery.errors import Span
from gquery.planner.ir.expr import INTEGER, NODE, RELATIONSHIP, Attribute, Call, Column, Constant, Expression, variables
from gquery.planner.ir.functions.failing import may_fail
from gquery.planner.ir.query_graph import Part, QueryEdge, QueryGraph, QueryVertex
from gquery.planner.ir.rename import copied, renamed, unnamed
from gquery.planner.ir.segments import BoundQuery, Match, Paths, Project, Projection, ProjectionItem, Variable
from gquery.records import record, replace

_NOWHERE = Span(0, 0)
_FEW = Constant(INTEGER, _NOWHERE, 1000)  # matches; where much fails it fails for one of these

_Element = TypeVar("_Element", QueryVertex, QueryEdge)


@record(frozen=True, slots=True)
class Relevant:
    """Queries for the elements that a condition is asked of: for those of a few matches, and for all."""

    few: tuple[BoundQuery, ...]
    all: tuple[BoundQuery, ...]


def relevant_elements(match: Match, failing: Expression) -> Relevant | None:
    """For a condition of a match, or a side of a comparison that is one; None for anything else. What begins with rows
    begins with some here that have the vertices which these bind. Where the same is asked of several query vertices or
    edges these are alike for all that comes later, so that it is asked of what matters for any of them."""
    failing = _of_originals(match.graph, failing)
    alike = tuple(_alike(match.graph, failing))
    edges = {each.variable for each in match.graph.edges}
    if not alike or (
        isinstance(match, Paths) and variables(failing) & edges
    ):  # of the edges of paths it is asked apart
        return None
    found = [_matches(match, each) for each in alike]
    return Relevant(tuple(few for few, _ in found), tuple(every for _, every in found))


def _matches(match: Match, failing: Expression) -> tuple[BoundQuery, BoundQuery]:
    """The elements that an expression is asked of, of a few matches and of all."""
    without = _Without(match.graph, failing)
    graph, (name,) = without.graph(), variables(failing)
    begins = tuple(Variable(each, NODE) for each in match.seeded)
    own = (Variable(vertex.variable, NODE) for vertex in graph.vertices if vertex.variable not in match.seeded)
    output = (*begins, *own, *(Variable(each.variable, RELATIONSHIP) for each in graph.edges))
    there = {variable.name: variable for variable in output}
    predicates = without.others(tuple(each for each in match.predicates if variables(each) <= there.keys()))
    found = Match(graph, match.seeded, predicates, begins, output)
    if isinstance(match, Paths):
        found = replace(match, graph=graph, bound=match.seeded, predicates=predicates, input=begins, output=output)
    element = Column(there[name].type, _NOWHERE, name, Attribute.ELEMENT)
    few = Projection((ProjectionItem(name, element),), False, (), None, _FEW)
    every = replace(few, distinct=True, limit=None)
    one, other = (BoundQuery((found, Project(each, (), output, (there[name],)))) for each in (few, every))
    return one, other


@record(frozen=True, slots=True)
class _Without:
    """The query graph of matches that need not fulfil a condition, nor those behind it that may fail."""

    whole: QueryGraph
    expression: Expression

    def graph(self) -> QueryGraph:
        whole, (name,) = self.whole, variables(self.expression)
        graph = replace(
            whole,
            vertices=tuple(map(self._element, whole.vertices)),
            edges=tuple(map(self._element, whole.edges)),
            predicates=self.others(whole.predicates),
        )
        numbers = (number for number, part in enumerate(graph.parts)
                   if any(map(self._is_meant, part.predicates)) or _has(graph, part, name))  # fmt: skip
        return self._required(graph, next(numbers, None))

    def _is_meant(self, predicate: Expression) -> bool:
        return self.expression in _asked(predicate)

    def _element(self, element: _Element) -> _Element:
        return replace(element, predicates=self.others(element.predicates))

    def others(self, predicates: tuple[Expression, ...]) -> tuple[Expression, ...]:
        return tuple(each for each in predicates if not (self._is_meant(each) or self._is_behind(each)))

    def _is_behind(self, predicate: Expression) -> bool:
        return predicate.span.start > self.expression.span.start and may_fail(predicate)

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
            predicates=(*graph.predicates, *self.others(tuple(conditions))),
            parts=tuple(replace(graph.parts[old], within=renumbered(graph.parts[old].within)) for old in left),
        )


def _of_originals(graph: QueryGraph, expression: Expression) -> Expression:
    """The expression as it was before parts had copies of what they hang on (`passes/rewriting/parts.py`)."""
    own = [vertex.variable for vertex in graph.vertices]
    names = {copied(name, number): name for number in range(len(graph.parts)) for name in own}
    return renamed(expression, lambda name: names.get(name, name))


def _alike(graph: QueryGraph, expression: Expression) -> Iterator[Expression]:
    """The same of all query vertices and edges that it is asked of."""
    wanted = unnamed(expression)
    asked = dict.fromkeys(each for predicate in _conditions(graph) for each in _asked(predicate))
    yield from (each for each in asked if len(variables(each)) == 1 and unnamed(each) == wanted)


def _asked(predicate: Expression) -> tuple[Expression, ...]:
    """A condition, and the sides of one that compares."""
    return (predicate, *predicate.arguments) if isinstance(predicate, Call) else (predicate,)


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
