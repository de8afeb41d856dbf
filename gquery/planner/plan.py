"""The passes from a bound query to a plan, in order.

Planning has two halves. `plan_chain` decides what does not depend on the data: what each segment has to give to the
next, which filters narrow the candidates, which predicates the enumeration checks, whether counting is enough. The
other half (`search/matching.py`) picks order, tree and space from cardinalities: estimated ones for EXPLAIN, those that
the filters left for a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gquery.planner.ir.query_plan import ApplyPlan, ChainPlan, PathsPlan, QueryPlan, Step
from gquery.planner.ir.segments import Apply, BoundQuery, Match, OptionalMatch, Paths, Project, Segment
from gquery.planner.ir.updates import Update
from gquery.planner.passes.candidates import paying_filters
from gquery.planner.passes.comparisons import split_predicates
from gquery.planner.passes.constraints import constrain
from gquery.planner.passes.demand import (
    demand,
    for_each_row,
    rows_out,
    wanted_before,
    wanted_by,
    wanted_inside,
    wanted_of,
    wanted_of_answer,
    wanted_outside,
    without_unseen_order,
    without_unwanted,
)
from gquery.planner.passes.draft import Draft, Pass, Wanted, problem_of
from gquery.planner.passes.filters import required_filters
from gquery.planner.passes.listing import keep_what_is_listed
from gquery.planner.passes.lookups import with_lookups
from gquery.planner.passes.rewriting.compared_edges import match_compared_edges
from gquery.planner.passes.rewriting.compose_functional_edges import compose
from gquery.planner.passes.rewriting.equal_values import meet_at_values
from gquery.planner.passes.rewriting.parts import plain_parts
from gquery.planner.passes.rewriting.seeds import with_seeds
from gquery.planner.passes.steps.measuring import measured
from gquery.planner.passes.steps.splicing import spliced
from gquery.planner.search.context import Context
from gquery.records import record, replace

PASSES: tuple[Pass, ...] = (
    plain_parts,  # OPTIONAL MATCH and patterns as conditions: two plain shapes
    split_predicates,  # what matching compares, and what is left to the tail
    match_compared_edges,  # edges that are compared with others, as vertices
    demand,  # what the answer speaks of
    constrain,  # what the match modes ask for, as tests
    compose,  # several functional edges as one
    meet_at_values,  # what is compared for being equal, as edges
    keep_what_is_listed,  # the other vertices are summed out
    required_filters,
    paying_filters,
)


def plan_chain(bound: BoundQuery, limits: Sequence[int | None], contexts: Sequence[Context]) -> ChainPlan:
    """Everything that can be decided before the data is looked at. limits: for each of all segments, how many of the
    rows before it are enough. contexts: for each of them its own."""
    numbers = {id(segment): number for number, segment in enumerate(bound.all_segments)}
    planning = _Planning(numbers, limits, contexts)
    return planning.chain(bound.segments, wanted_of_answer(bound.segments[-1]), True)


@record(frozen=True, slots=True)
class _Planning:
    """numbers: the place of a segment, by identity, in limits and contexts."""

    numbers: Mapping[int, int]
    limits: Sequence[int | None]
    contexts: Sequence[Context]

    def chain(self, segments: tuple[Segment, ...], wanted: Wanted, whole: bool = False) -> ChainPlan:
        """From the last segment to the first: each is told what those after it ask of its rows. whole: they are a
        query, and no branch of another's."""
        steps: list[Step] = []
        for place, segment in reversed(list(enumerate(segments))):
            number = self.numbers[id(segment)]
            if isinstance(segment, Match | Apply):
                wanted = for_each_row(segment, wanted)
            if isinstance(segment, Project):
                project = without_unseen_order(without_unwanted(segment, wanted.variables), wanted)
                wanted = wanted_by(project, wanted, self.limits[number])
                steps.append(project)
            elif isinstance(segment, Update):
                steps.append(segment)
            elif isinstance(segment, Apply):
                steps.append(ApplyPlan(segment, self._branches(segment, wanted), rows_out(segment, wanted)))
                wanted = wanted_outside(segment, wanted)
            elif isinstance(segment, Paths):
                steps.append(plan_paths(segment, wanted))
                wanted = wanted_before(segment, wanted)
            else:
                starts = place == 0 and not segment.input
                plan = plan_match(segment, wanted, self.contexts[number], starts)
                steps.append(replace(plan, number=number))
                wanted = wanted_before(segment, wanted)
        return ChainPlan(measured(spliced(tuple(reversed(steps)), whole)))

    def _branches(self, apply: Apply, wanted: Wanted) -> tuple[ChainPlan, ...]:
        """Those of a subquery; a sweep, where that gives all that is asked."""
        inside = wanted_inside(apply, wanted)
        if apply.swept and wanted.existence:
            swept = self.chain(apply.swept, inside)
            if any(isinstance(step, PathsPlan) and step.way == "sweep" for step in swept.steps):
                return (swept,)
        return tuple(self.chain(branch, inside) for branch in apply.branches)


def plan_paths(segment: Paths, wanted: Wanted) -> PathsPlan:
    """Paths are listed where somebody asks for them, or for how many there are. Where there is a walk between two
    vertices there is a path whose edges differ; whether it is a walk of two edges at least, a sweep cannot tell."""
    rows = rows_out(segment, wanted)
    told = segment.way in rows or segment.mode != "any" or segment.least > 1 or segment.following or segment.of_source
    if not told and (segment.shortest == 1 or wanted.existence):
        return PathsPlan(segment, rows, "sweep", wanted.existence and _begins_anywhere(segment, rows))
    if segment.shortest == "all" and wanted.weighed and _is_counted(segment, rows):
        return PathsPlan(segment, rows, "count")
    return PathsPlan(segment, rows, "list" if segment.shortest is None else "shortest")


def _is_counted(segment: Paths, rows: tuple[str, ...]) -> bool:
    """Whether shortest paths between vertices that are known need not be listed."""
    target = segment.graph.vertices[segment.target].variable
    return segment.way not in rows and segment.least <= 1 and target in segment.bound


def _begins_anywhere(segment: Paths, rows: tuple[str, ...]) -> bool:
    """Whether nobody asks where a path begins, nor which end it may lead to."""
    free = segment.graph.vertices[segment.target].variable not in segment.bound
    return free and all(variable.name not in rows for variable in segment.input)


def plan_match(segment: Match, wanted: Wanted, context: Context, starts: bool = True) -> QueryPlan:
    """The plan of one segment. `starts`: it is the first of the chain, and there are no rows before it."""
    segment = with_lookups(segment, context)
    own = wanted_of(segment, wanted, starts and not isinstance(segment, OptionalMatch))
    draft = Draft(segment, own, problem_of(with_seeds(segment.graph, segment.bound, segment.lookups)))
    for step in PASSES:
        context.check()
        draft = step(draft, context)
    return QueryPlan(
        segment,
        rows_out(segment, wanted),
        draft.limit,
        draft.filters,
        draft.problem,
        draft.kept,
        draft.weighted,
        draft.existence,
        draft.wanted.weighed,
        draft.residual,
        draft.implied,
        draft.costly,
        cases=draft.cases,
        holds=context.costs.effort.of_each,
    )
