"""The first half of a plan: what is decided before the data is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from gquery.planner.ir.expr import Expression
from gquery.planner.ir.filters import Filter
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.segments import Match, Project


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The first half, of a segment of MATCH clauses. Nothing but data: what planning remembers of it is kept beside it
    (`memo`).

    rows: the variables that go out, of those that come in and of its own.
    limit: so many matches are enough, None when all are asked for. filters: in the order in which they run. implied,
    costly: how many neighbour counts are left out because every vertex passes, because they cost more than they save.
    kept: the query vertices that are listed, none when the answer only counts; the others are summed out. weighted:
    what is listed comes with the number of matches that it stands for. existence: that number does not matter.
    residual: predicates that the relational tail checks.
    """

    segment: Match
    rows: tuple[str, ...]
    limit: int | None
    filters: tuple[Filter, ...]
    problem: Problem
    kept: frozenset[int]
    weighted: bool
    existence: bool
    residual: tuple[Expression, ...]
    implied: int = 0
    costly: int = 0

    @property
    def graph(self) -> QueryGraph:
        return self.problem.graph

    @property
    def counting(self) -> bool:
        """Whether only the number of matches is wanted."""
        return bool(self.graph.vertices) and not self.kept


@dataclass(frozen=True, slots=True)
class ChainPlan:
    """The plan of a query: a step for each segment, in order. A projection is its own plan, without the columns that
    nothing after it speaks of."""

    steps: tuple[QueryPlan | Project, ...]

    @property
    def matches(self) -> tuple[QueryPlan, ...]:
        return tuple(step for step in self.steps if isinstance(step, QueryPlan))

    @property
    def counting(self) -> bool:
        """Whether the answer is one row of counts of the matches."""
        return len(self.steps) == 2 and isinstance(self.steps[0], QueryPlan) and self.steps[0].counting
