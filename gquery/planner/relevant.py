"""Of which elements a condition is asked where it fails for some: `10 / b.x > 1`, and some x is 0.

A condition on one element is asked of all elements of its kind, long before it is known which of them a match has.
Where it fails for some it is asked again, of those alone that matches have in which all is true that cannot fail or
comes before: what fails then is an error of the query's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from gquery.errors import Span
from gquery.planner.ir.expr import (
    INTEGER,
    NODE,
    PATH,
    RELATIONSHIP,
    Attribute,
    Call,
    Column,
    Constant,
    Expression,
    variables,
)
from gquery.planner.ir.functions.failing import may_fail
from gquery.planner.ir.query_graph import Part, QueryEdge, QueryGraph, QueryVertex
from gquery.planner.ir.rename import copied, renamed, unnamed
from gquery.planner.ir.segments import BoundQuery, Match, Paths, Project, Projection, ProjectionItem, Variable
from gquery.records import record, replace

_NOWHERE = Span(0, 0)
_FEW = Constant(INTEGER, _NOWHERE, 1000)  # matches; where much fails it fails for one of these

_Element = TypeVar("_Element", QueryVertex, QueryEdge)


@record(frozen=True, slots=True)
class Among:
    """A query for all elements that a condition is asked of, in the matches which begin with the vertices of rows:
    these are in their columns, or the ends of them, where edges are asked (of a self-loop in one column). either:
    whether an edge may be turned."""

    query: BoundQuery
    columns: tuple[str, ...]
    are_edges: bool
    either: bool


@record(frozen=True, slots=True)
class Relevant:
    """Queries for the elements that a condition is asked of: for those of a few matches, for all, and, of a match that
    begins with no rows, for those among some."""

    few: tuple[BoundQuery, ...]
    all: tuple[BoundQuery, ...]
    among: tuple[Among, ...]


def relevant_elements(match: Match, failing: Expression, begins: Sequence[str] | None) -> Relevant | None:
    """For a condition of a match, or a side of a comparison that is one; None for anything else. begins: the columns of
    the rows that the match and the queries begin with, None where they begin with none. Where the same is asked of
    several query vertices or edges these are alike for all that comes later, so that it is asked of what matters for
    any of them."""
    failing = _of_originals(match.graph, failing)
    asked = tuple(dict.fromkeys(_asked_alike(match.graph, failing)))
    edges = {each.variable for each in match.graph.edges}
    if not asked or (isinstance(match, Paths) and variables(failing) & edges):  # of paths, some of whose edges fail
        return None
    match = replace(match, input=tuple(variable for variable in match.input if variable.name in (begins or ())))
    if begins is None and (match.bound or match.lookups or match.predicates):
        return None
    found = [_matches(match, each, part) for each, part in asked]
    among = () if begins is not None or isinstance(match, Paths) else (_among(match, *each) for each in asked)
    return Relevant(tuple(few for few, _ in found), tuple(every for _, every in found), tuple(among))


def _among(match: Match, failing: Expression, part: int | None) -> Among:
    """The query for all elements that an expression is asked of in a part of the query graph, of some matches."""
    (name,) = variables(failing)
    edge = next((each for each in match.graph.edges if each.variable == name), None)
    ends = (name,) if edge is None else (match.graph.vertices[end].variable for end in (edge.source, edge.target))
    columns = tuple(dict.fromkeys(ends))
    begun = replace(match, bound=columns, input=tuple(Variable(column, NODE) for column in columns))
    every = _matches(begun, failing, part)[1]
    return Among(every, columns, edge is not None, edge is not None and not edge.directed)


def _matches(match: Match, failing: Expression, part: int | None) -> tuple[BoundQuery, BoundQuery]:
    """The elements that an expression is asked of in a part of the query graph, of a few matches and of all."""
    without = _Without(match.graph, failing, part)
    graph, (name,) = without.graph(), variables(failing)
    before = {variable.name for variable in match.input}
    vertices = (Variable(each.variable, NODE) for each in graph.vertices if each.variable not in before)
    edges = (Variable(each.variable, RELATIONSHIP) for each in graph.edges)
    paths = (Variable(each.name, PATH) for each in graph.paths)
    output = (*match.input, *vertices, *edges, *paths)
    predicates = without.others((*match.predicates, *(lookup.condition for lookup in match.lookups)))
    found = Match(graph, match.bound, predicates, match.input, output)
    if isinstance(match, Paths):
        found = replace(match, graph=graph, predicates=predicates, output=output, lookups=())
    (variable,) = (each for each in output if each.name == name)
    element = Column(variable.type, _NOWHERE, name, Attribute.ELEMENT)
    few = Projection((ProjectionItem(name, element),), False, (), None, _FEW)
    every = replace(few, distinct=True, limit=None)
    one, other = (BoundQuery((found, Project(each, (), output, (variable,)))) for each in (few, every))
    return one, other


@record(frozen=True, slots=True)
class _Without:
    """The query graph of matches that need not fulfil a condition, nor those behind it that may fail. part: where it is
    asked, if it is not of all matches."""

    whole: QueryGraph
    expression: Expression
    part: int | None

    def graph(self) -> QueryGraph:
        whole = self.whole
        graph = replace(
            whole,
            vertices=tuple(map(self._element, whole.vertices)),
            edges=tuple(map(self._element, whole.edges)),
            predicates=self.others(whole.predicates),
            parts=tuple(map(self._part, whole.parts)),
        )
        return self._required(graph)

    def _is_meant(self, predicate: Expression) -> bool:
        return any(unnamed(each) == unnamed(self.expression) for each in _asked(predicate))

    def _is_behind(self, predicate: Expression) -> bool:
        return predicate.span.start > self.expression.span.start and may_fail(predicate)

    def others(self, predicates: tuple[Expression, ...]) -> tuple[Expression, ...]:
        return tuple(each for each in predicates if not (self._is_meant(each) or self._is_behind(each)))

    def _element(self, element: _Element) -> _Element:
        return replace(element, predicates=self.others(element.predicates))

    def _part(self, part: Part) -> Part:
        """What is not there in a match of which less is asked may be there in the query's: it is not asked for."""
        own = (*(self.whole.vertices[each].predicates for each in part.vertices),
               *(self.whole.edges[each].predicates for each in part.edges), part.predicates)  # fmt: skip
        left = replace(part, predicates=self.others(part.predicates))
        return left if all(self.others(each) == each for each in own) else replace(left, kind="optional")

    def _required(self, graph: QueryGraph) -> QueryGraph:
        """The graph with the part, and all that this hangs on, as patterns that have to be there."""
        hangs_on, number = set(), self.part
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
            predicates=(*graph.predicates, *conditions),
            parts=tuple(replace(graph.parts[old], within=renumbered(graph.parts[old].within)) for old in left),
        )


def _of_originals(graph: QueryGraph, expression: Expression) -> Expression:
    """The expression as it was before parts had copies of what they hang on (`passes/rewriting/parts.py`)."""
    own = [vertex.variable for vertex in graph.vertices]
    names = {copied(name, number): name for number in range(len(graph.parts)) for name in own}
    return renamed(expression, lambda name: names.get(name, name))


def _asked_alike(graph: QueryGraph, expression: Expression) -> Iterator[tuple[Expression, int | None]]:
    """The same of all query vertices and edges that it is asked of, with the part where it is."""
    wanted = unnamed(expression)
    for predicate, part in _conditions(graph):
        for each in _asked(predicate):
            if len(variables(each)) == 1 and unnamed(each) == wanted:
                yield each, part


def _asked(predicate: Expression) -> tuple[Expression, ...]:
    """A condition, and the sides of one that compares."""
    return (predicate, *predicate.arguments) if isinstance(predicate, Call) else (predicate,)


def _conditions(graph: QueryGraph) -> Iterator[tuple[Expression, int | None]]:
    """All of them, with the part where each is asked."""
    of_edges = {edge: number for number, part in enumerate(graph.parts) for edge in part.edges}
    for vertex in graph.vertices:
        yield from ((each, graph.part_of(vertex.index)) for each in vertex.predicates)
    for edge in graph.edges:
        yield from ((each, of_edges.get(edge.index)) for each in edge.predicates)
    for number, part in enumerate(graph.parts):
        yield from ((each, number) for each in part.predicates)
    yield from ((each, None) for each in graph.predicates)
