"""The first half of a plan: what is decided before the data is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from gquery.planner.ir.expr import Expression, is_aggregated, variables
from gquery.planner.ir.filters import Filter, LookupFilter, PredicateFilter
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.segments import Apply, Exists, Match, NotExists, OptionalMatch, Paths, Project
from gquery.planner.ir.updates import Update
from gquery.records import record


@record(frozen=True, slots=True)
class QueryPlan:
    """The first half, of a segment of MATCH clauses. Nothing but data: what planning remembers of it is kept beside it
    (`memo`).

    rows: the variables that go out, of those that come in and of its own.
    limit: so many matches are enough, None when all are asked for. filters: in the order in which they run. implied,
    costly: how many neighbour counts are left out because every vertex passes, because they cost more than they save.
    kept: the query vertices that are listed, none when the answer only counts; the others are summed out. weighted:
    what is listed comes with the number of matches that it stands for. existence: that number does not matter. weighed:
    rows that are alike may go out as one, with their number. residual: predicates that the relational tail checks.
    number: the segment's, among all of the query. cases: problems whose matches are listed in place of the problem's,
    which are the same altogether; none where those are. holds: the numbers of matches of all vertices may be held until
    all are known.
    """

    segment: Match
    rows: tuple[str, ...]
    limit: int | None
    filters: tuple[Filter, ...]
    problem: Problem
    kept: frozenset[int]
    weighted: bool
    existence: bool
    weighed: bool
    residual: tuple[Expression, ...]
    implied: int = 0
    costly: int = 0
    number: int = 0
    cases: tuple[Problem, ...] = ()
    holds: bool = False

    @property
    def graph(self) -> QueryGraph:
        return self.problem.graph

    @property
    def listed(self) -> Problem:
        """The problem whose matches are looked for, but for special cases."""
        return self.cases[0] if self.cases else self.problem

    @property
    def counting(self) -> bool:
        """Whether only the number of matches is wanted."""
        return bool(self.graph.vertices) and not self.kept

    @property
    def is_sum(self) -> bool:
        """Whether it is asked how many matches there are, altogether or for each match of one vertex: then these may be
        those of several problems, added and subtracted."""
        each = len(self.kept) == 1 and self.weighted and not self.existence and self.limit is None
        edges = any(choice.listed for choice in self.problem.constraints.choices)  # self-loops of that vertex
        return self.counting or (each and not edges and not self.segment.input and not self.graph.parts)

    @property
    def looks_up(self) -> bool:
        """Whether there is nothing to match: all vertices are listed, each is looked up by itself, and nothing joins
        them but that some differ."""
        looked_up = {each.vertex for each in self.filters if isinstance(each, LookupFilter)}
        alone = all(isinstance(each, LookupFilter | PredicateFilter) for each in self.filters)
        tests = self.problem.constraints
        joined = self.graph.edges or any(self.problem.checks()) or tests.different_pairs or tests.loopless
        return (
            alone and not joined and self.limit is None and looked_up == self.kept == {*range(len(self.problem.merged))}
        )

    @property
    def merging(self) -> bool:
        """Whether rows before that bind the same are alike for it, and may go on as one with their number."""
        told = set(self.rows).union(*map(variables, (*self.segment.predicates, *self.residual)))
        used = told.intersection(variable.name for variable in self.segment.input)
        keeps = self.weighed and not isinstance(self.segment, Exists | NotExists)
        return keeps and used <= set(self.segment.bound)


@record(frozen=True, slots=True)
class PathsPlan:
    """The plan of a relationship of variable length. rows: the variables that go out. way: `list` goes hop by hop from
    each vertex and lists every path; `shortest` goes breadth first and lists the shortest; `count` only counts them
    for each pair; `sweep` goes breadth first and tells only where paths lead, each end once for each vertex that they
    begin at, or `together` once wherever they begin. measured: of a path only its length goes out. begins: looks up the
    vertices that paths begin and end at, where there is nothing else before and no row to be joined with."""

    segment: Paths
    rows: tuple[str, ...]
    way: Literal["list", "shortest", "count", "sweep"]
    together: bool = False
    measured: bool = False
    begins: QueryPlan | None = None
    residual: ClassVar[tuple[Expression, ...]] = ()
    counting: ClassVar[bool] = False
    merging: ClassVar[bool] = False

    @property
    def weighted(self) -> bool:
        """Whether a row stands for several paths."""
        return self.way == "count"

    @property
    def joined(self) -> bool:
        """Whether what is found is joined to the rows before."""
        return not self.together and self.begins is None

    @property
    def graph(self) -> QueryGraph:
        return self.segment.graph


@record(frozen=True, slots=True)
class ApplyPlan:
    """The plan of a subquery. rows: the variables that go out. branches: those of the segment, or its sweep."""

    segment: Apply
    branches: tuple[ChainPlan, ...]
    rows: tuple[str, ...]


Step = QueryPlan | PathsPlan | Project | ApplyPlan | Update


@record(frozen=True, slots=True)
class ChainPlan:
    """The plan of a query: a step for each segment, in order. A projection is its own plan, without the columns that
    nothing after it speaks of, and so is an update."""

    steps: tuple[Step, ...]

    @property
    def matches(self) -> tuple[QueryPlan, ...]:
        """Those of subqueries among them."""
        return tuple(_matches(self))

    @property
    def counting(self) -> bool:
        """Whether the answer is one row of counts of the matches."""
        return len(self.steps) == 2 and self.counts(1)

    def counts(self, number: int) -> bool:
        """Whether a projection is asked for nothing but how many matches the step before it has, or all branches of
        that."""
        if number != 1 or number >= len(self.steps) or not _only_counts(self.steps[0]):
            return False
        here = self.steps[number]
        return isinstance(here, Project) and any(is_aggregated(item.expression) for item in here.projection.items)


def _only_counts(step: Step) -> bool:
    """Whether a step that begins a chain has nothing but a number of matches."""
    if isinstance(step, ApplyPlan):
        apply = step.segment
        alone = apply.asked == "rows" and not (apply.input or apply.row or apply.optional)
        return alone and all(len(each.steps) == 1 and _only_counts(each.steps[0]) for each in step.branches)
    if not isinstance(step, QueryPlan) or isinstance(step.segment, OptionalMatch):
        return False
    return step.counting and not step.segment.input


def _matches(plan: ChainPlan) -> Iterator[QueryPlan]:
    for step in plan.steps:
        if isinstance(step, QueryPlan):
            yield step
        for branch in step.branches if isinstance(step, ApplyPlan) else ():
            yield from _matches(branch)
