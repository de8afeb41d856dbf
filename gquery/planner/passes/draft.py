"""A query on its way to a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gquery.planner.ir.expr import Expression
from gquery.planner.ir.filters import EdgesFilter, Filter
from gquery.planner.ir.problem import Comparison, Constraints, Problem
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.segments import Match
from gquery.planner.search.context import Context
from gquery.records import record, replace


@record(frozen=True, slots=True)
class Wanted:
    """What the segments after a segment of MATCH clauses ask of its rows.

    variables: those that they speak of. counted: only how many rows there are. weighed: a row may come once, with the
    number of times. existence: that number does not matter. limit: so many rows are enough. ordered: the order in which
    they come may be seen.
    """

    variables: frozenset[str]
    counted: bool
    weighed: bool
    existence: bool
    limit: int | None
    ordered: bool = True


@record(frozen=True, slots=True)
class Draft:
    """What the passes have made of a segment of MATCH clauses so far; the fields are those of `QueryPlan`.

    problem: the query graph, which the passes make simpler, with the tests that they have found. spoken_of: the
    elements that the answer or a residual predicate speaks of; none when the answer only counts. values: the vertices
    that stand for values, with the comparisons in whose place they are. edges: where those start that stand for edges.
    """

    segment: Match
    wanted: Wanted
    problem: Problem
    residual: tuple[Expression, ...] = ()
    counting: bool = False
    spoken_of: frozenset[str] = frozenset()
    kept: frozenset[int] = frozenset()
    weighted: bool = False
    existence: bool = False
    filters: tuple[Filter, ...] = ()
    implied: int = 0
    costly: int = 0
    values: tuple[tuple[int, Comparison], ...] = ()
    edges: tuple[EdgesFilter, ...] = ()
    cases: tuple[Problem, ...] = ()

    @property
    def limit(self) -> int | None:
        return self.wanted.limit

    @property
    def graph(self) -> QueryGraph:
        return self.problem.graph

    @property
    def listed(self) -> Problem:
        """The problem whose matches are looked for, but for special cases."""
        return self.cases[0] if self.cases else self.problem

    def with_problem(self, graph: QueryGraph, constraints: Constraints, comparisons: tuple[Comparison, ...]) -> Draft:
        """With another query graph, or other tests on its matches."""
        return replace(self, problem=problem_of(graph, constraints, comparisons))


Pass: TypeAlias = Callable[[Draft, Context], Draft]
"""A step of planning, which looks at no data."""


def problem_of(
    graph: QueryGraph, constraints: Constraints | None = None, comparisons: tuple[Comparison, ...] = ()
) -> Problem:
    """A query's own problem."""
    return Problem(
        graph,
        constraints or Constraints(),
        comparisons,
        tuple((vertex.index,) for vertex in graph.vertices),
        tuple(edge.index for edge in graph.edges),
    )
