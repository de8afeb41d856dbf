"""The passes from a bound query to a plan, in order.

Planning has two halves. `plan_chain` decides what does not depend on the data: what each segment has to give to the
next, which filters narrow the candidates, which predicates the enumeration checks, whether counting is enough. The
other half (`search/matching.py`) picks order, tree and space from cardinalities: estimated ones for EXPLAIN, those that
the filters left for a run.
"""

from __future__ import annotations

from collections.abc import Sequence

from gquery.planner.ir.query_plan import ChainPlan, QueryPlan
from gquery.planner.ir.segments import BoundQuery, Match, OptionalMatch, Project
from gquery.planner.passes.candidates import paying_filters
from gquery.planner.passes.comparisons import split_predicates
from gquery.planner.passes.compose_functional_edges import compose
from gquery.planner.passes.constraints import constrain
from gquery.planner.passes.demand import demand, wanted_before, wanted_by, wanted_of, wanted_of_answer, without_unwanted
from gquery.planner.passes.draft import Draft, Pass, Wanted, problem_of
from gquery.planner.passes.filters import required_filters
from gquery.planner.passes.listing import keep_what_is_listed
from gquery.planner.passes.parts import plain_parts
from gquery.planner.passes.seeds import with_seeds
from gquery.planner.search.context import Context

PASSES: tuple[Pass, ...] = (
    plain_parts,  # OPTIONAL MATCH and patterns as conditions: two plain shapes
    split_predicates,  # what matching compares, and what is left to the tail
    demand,  # what the answer speaks of
    constrain,  # what the match modes ask for, as tests
    compose,  # several functional edges as one
    keep_what_is_listed,  # the other vertices are summed out
    required_filters,
    paying_filters,
)


def plan_chain(bound: BoundQuery, limits: Sequence[int | None], contexts: Sequence[Context]) -> ChainPlan:
    """Everything that can be decided before the data is looked at, from the last segment to the first: each is told
    what those after it ask of its rows. limits: for each segment, how many of the rows before it are enough. contexts:
    for each segment its own."""
    steps: list[QueryPlan | Project] = []
    wanted = wanted_of_answer(bound.segments[-1])
    for number, segment in reversed(list(enumerate(bound.segments))):
        if isinstance(segment, Project):
            project = without_unwanted(segment, wanted.variables)
            wanted = wanted_by(project, wanted, limits[number])
            steps.append(project)
        else:
            steps.append(plan_match(segment, wanted, contexts[number], starts=number == 0))
            wanted = wanted_before(segment, wanted)
    return ChainPlan(tuple(reversed(steps)))


def plan_match(segment: Match, wanted: Wanted, context: Context, starts: bool = True) -> QueryPlan:
    """The plan of one segment. `starts`: it is the first of the chain."""
    own = wanted_of(segment, wanted, starts and not isinstance(segment, OptionalMatch))
    draft = Draft(segment, own, problem_of(with_seeds(segment.graph, segment.bound)))
    for step in PASSES:
        context.check()
        draft = step(draft, context)
    return QueryPlan(
        segment,
        tuple(variable.name for variable in segment.output if variable.name in wanted.variables),
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
    )
