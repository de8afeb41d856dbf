"""What the answer asks of the matches: which variables it speaks of, and whether it minds how often a row comes."""

from __future__ import annotations

from collections.abc import Mapping

from gquery.errors import Span
from gquery.planner.ir.expr import (
    INTEGER,
    Aggregate,
    Column,
    Constant,
    Expression,
    Parameter,
    children,
    is_aggregated,
    is_volatile,
    variables,
)
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.relations import SEED
from gquery.planner.ir.segments import (
    Apply,
    Exists,
    Match,
    NotExists,
    OptionalMatch,
    Project,
    Projection,
    ProjectionItem,
    Segment,
    Unwind,
)
from gquery.planner.ir.updates import Update
from gquery.planner.passes.draft import Draft, Wanted
from gquery.planner.search.context import Context
from gquery.records import replace


def demand(draft: Draft, context: Context) -> Draft:
    """What is asked for: how many matches there are, or which, with what of them. What the rows before have is read
    there."""
    segment, wanted = draft.segment, draft.wanted
    counting = not draft.residual and wanted.counted
    asked = wanted.variables.union({SEED}, *map(variables, (*draft.residual, *segment.predicates)))
    own = asked.difference(variable.name for variable in segment.input)
    return replace(
        draft,
        counting=counting,
        spoken_of=frozenset() if counting else _with_paths(own, draft.graph),
        weighted=not counting and wanted.weighed,
        existence=not counting and wanted.existence,
    )


def _with_paths(spoken_of: frozenset[str], graph: QueryGraph) -> frozenset[str]:
    """With the elements that paths are made of."""
    paths = (path for path in graph.paths if path.name in spoken_of)
    return spoken_of.union(*((*path.vertices, *path.edges) for path in paths))


# --- between segments --------------------------------------------------------------------------------------------


def wanted_of_answer(answer: Segment) -> Wanted:
    """What is asked of the last segment, or of the rows that change the graph: everything."""
    rows = answer.input if isinstance(answer, Update) else answer.output
    return Wanted(frozenset(variable.name for variable in rows), False, False, False, None)


def wanted_by(project: Project, wanted: Wanted, limit: int | None) -> Wanted:
    """What a projection, and what comes after it, ask of the rows before it, of which `limit` are enough."""
    projection = project.projection
    through = _keeps_repeats(project)
    told = frozenset().union(*map(variables, (*projection.expressions, *project.where)))
    carries = through and wanted.counted and not told and not isinstance(project, Unwind)
    return Wanted(
        told,
        not project.where and (carries or _is_counted(projection)),
        wanted.weighed if through else projection.weighs_repeats,
        wanted.existence if through else projection.ignores_repeats,
        limit,
        wanted.ordered if through else not _is_total(project),
    )


def wanted_before(match: Match, wanted: Wanted) -> Wanted:
    """What a match, and what comes after it, ask of the rows before it."""
    told = wanted.variables.union(match.bound, *map(variables, match.predicates))
    return replace(
        wanted,
        variables=told.intersection(variable.name for variable in match.input),
        counted=False,
        limit=None,
    )


def wanted_outside(apply: Apply, wanted: Wanted) -> Wanted:
    """What a subquery, and what comes after it, ask of the rows before it."""
    told = wanted.variables.union(variable.name for variable in apply.imported)
    limit = None if apply.asked == "rows" and not apply.optional else wanted.limit
    variables = told.intersection(variable.name for variable in apply.input)
    return replace(wanted, variables=variables, counted=False, limit=limit)


def wanted_inside(apply: Apply, wanted: Wanted) -> Wanted:
    """What a subquery, and what comes after it, ask of the rows of its branches."""
    row = frozenset() if apply.row is None else frozenset({apply.row.name})
    match apply.asked:
        case "exists":
            return Wanted(row, False, True, True, None if row else 1)
        case "count":
            return Wanted(row, False, True, False, None)
        case "collect":
            values = frozenset(variable.name for variable in apply.branches[0][-1].output)
            return Wanted(values, False, False, False, None)
    new = wanted.variables.intersection(variable.name for variable in apply.new)
    alone = not row and not apply.optional  # so that its rows are those that go out
    limit = wanted.limit if alone else None
    return Wanted(new | row, alone and wanted.counted, wanted.weighed, wanted.existence, limit)


def for_each_row(segment: Match | Apply, wanted: Wanted) -> Wanted:
    """What is asked of a segment, and of the rows before it: what is random is another thing for each row, and for each
    match."""
    return replace(wanted, weighed=False, existence=False) if is_random(segment) else wanted


def is_random(segment: Segment) -> bool:
    """Whether what it makes of a row is another thing each time."""
    match segment:
        case Apply(branches=branches):
            return any(is_random(each) for branch in branches for each in branch)
        case Project(projection=projection, where=where):
            return any(map(is_volatile, (*projection.expressions, *where)))
        case Match(graph=graph, predicates=predicates):
            return any(map(is_volatile, (*graph.predicates, *predicates)))
    return False


def rows_out(segment: Match | Apply, wanted: Wanted) -> tuple[str, ...]:
    """The variables that are asked for, of those that go out."""
    return tuple(variable.name for variable in segment.output if variable.name in wanted.variables)


def wanted_of(match: Match, wanted: Wanted, starts: bool) -> Wanted:
    """What is asked of the matches themselves: of a condition one each, for every seed or altogether. Where there are
    rows before and nothing joins them with the matches, how many matches there are, or whether any; a limit holds where
    every match belongs to a row."""
    random = is_random(match)
    alone = not match.seeded and not match.predicates and not random
    if isinstance(match, Exists | NotExists):
        return Wanted(frozenset(), False, not random, not random, 1 if alone else None)
    if starts:
        return wanted
    alone = alone and wanted.weighed and wanted.variables.isdisjoint(new_names(match))
    plain = not match.predicates and not isinstance(match, OptionalMatch)
    limit = wanted.limit if plain else None
    return replace(wanted, counted=alone and not wanted.existence, limit=1 if alone and wanted.existence else limit)


def new_names(match: Match) -> set[str]:
    """What a match adds to the rows."""
    return {variable.name for variable in match.output}.difference(variable.name for variable in match.input)


def without_unwanted(project: Project, wanted: frozenset[str]) -> Project:
    """A WITH without the columns that nothing after it speaks of. Grouping keys stay: they make the groups, and so does
    the item of an UNWIND: it makes the rows."""
    projection = project.projection
    if projection.is_grouped:
        return project
    makes = projection.items[-1:] if isinstance(project, Unwind) else ()
    items = tuple(item for item in projection.items if item.name in wanted or item in makes)
    if not items:
        items = (ROW,)  # one row is one row
    names = {item.name for item in items}
    output = tuple(variable for variable in project.output if variable.name in names)
    return replace(project, projection=replace(projection, items=items), output=output)


def without_unseen_order(project: Project, wanted: Wanted) -> Project:
    """A WITH that does not sort where nobody sees in which order its rows come."""
    projection = project.projection
    if wanted.ordered or projection.skip is not None or projection.limit is not None:
        return project
    return replace(project, projection=replace(projection, order_by=()))


ROW = ProjectionItem(" row", Constant(INTEGER, Span(0, 0), 0))  # of a projection of which nobody speaks


def pushed_limit(segment: Segment, parameters: Mapping[str, object]) -> int | None:
    """How many rows are enough for a projection, when SKIP and LIMIT stand alone and are plain numbers."""
    if not isinstance(segment, Project) or segment.per is not None:
        return None
    projection = segment.projection
    if projection.limit is None or projection.order_by or projection.is_grouped:
        return None
    bounds = [_number(bound, parameters) for bound in (projection.skip, projection.limit) if bound is not None]
    return None if None in bounds else sum(bound for bound in bounds if bound is not None)


def _number(expression: Expression, parameters: Mapping[str, object]) -> int | None:
    value = expression.value if isinstance(expression, Constant) else None
    if isinstance(expression, Parameter):
        value = parameters.get(expression.name)  # type: ignore[assignment]
    return value if isinstance(value, int) and value >= 0 else None


# --- how often rows come -----------------------------------------------------------------------------------------


def _is_counted(projection: Projection) -> bool:
    """Whether every item is made of `count(*)` or of counts of elements, which are never null, and of constants."""
    plain = not projection.distinct and not projection.order_by and projection.skip is None and projection.limit is None
    counts = any(is_aggregated(item.expression) for item in projection.items)
    return plain and counts and all(_is_count(item.expression) for item in projection.items)


def _is_total(project: Project) -> bool:
    """Whether it gives one row, of aggregates that are the same in whatever order rows come. Several groups may be
    listed in the order in which they are met."""
    alone = all(is_aggregated(item.expression) for item in project.projection.items)
    return alone and all(each.function in _UNORDERED for each in project.aggregates)


_UNORDERED = ("count", "sum", "avg", "min", "max")


def _is_count(expression: Expression) -> bool:
    if isinstance(expression, Aggregate):
        return expression.argument is None
    if isinstance(expression, Column) or is_volatile(expression):
        return False
    return all(_is_count(child) for child in children(expression))


def _keeps_repeats(project: Project) -> bool:
    """Whether a row that comes with the number of times goes out as one with that number."""
    projection = project.projection
    cut = projection.skip is not None or projection.limit is not None
    return not projection.is_grouped and not cut and not is_random(project)
