"""The bound query: a chain of segments. Written by `bind`, read by the passes, the executor and the tail.

Rows travel from segment to segment. What a row holds under a name is a `Variable`: an internal id where the name stands
for a node or a relationship, ids of both for a path, else a value. Every segment says what comes in and what goes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from gquery.errors import Notice
from gquery.lasting.properties import cached_property
from gquery.planner.ir.expr import (
    Aggregate,
    Attribute,
    Column,
    Expression,
    Kind,
    Type,
    is_aggregated,
    is_volatile,
    walk,
)
from gquery.planner.ir.query_graph import QueryEdge, QueryGraph
from gquery.planner.ir.updates import Update
from gquery.records import record, replace
from gquery.settings import Device
from gquery.storage.schema import Direction

PathMode = Literal["any", "acyclic", "simple"]
ELEMENTS = frozenset({Kind.NODE, Kind.RELATIONSHIP, Kind.PATH})


@record(frozen=True, slots=True)
class Variable:
    """What the rows between two segments hold under a name. nullable: whether there may be nulls. constant: what it is
    in all rows, where that is a moment or a duration that is written."""

    name: str
    type: Type
    nullable: bool = False
    constant: Expression | None = None

    @property
    def attribute(self) -> Attribute:
        """What columns of expressions that speak of the variable itself hold."""
        return Attribute.ELEMENT if self.type.kind in ELEMENTS else Attribute.VALUE


@record(frozen=True, slots=True)
class Lookup:
    """A condition that tells for each row which vertices of the query graph's `vertex` (a variable) are looked at: its
    property or id `key` is equal to a value of the row. unique: hardly two vertices of a table have the same."""

    vertex: str
    key: Column
    value: Expression
    condition: Expression
    unique: bool


@record(frozen=True, slots=True)
class Match:
    """Consecutive MATCH clauses: every row that comes in goes out once for each match that it has.

    bound: the vertices of the query graph that the rows before bind; null matches nothing. predicates: the conditions
    that speak of earlier variables which are no vertices of the query graph too. lookups: those of them that the
    planner has found to be look-ups, one a vertex at most. lead: the vertices that the matching order is to begin
    with, as far as they are matched one by one.
    """

    graph: QueryGraph
    bound: tuple[str, ...]
    predicates: tuple[Expression, ...]
    input: tuple[Variable, ...]
    output: tuple[Variable, ...]
    lookups: tuple[Lookup, ...] = ()
    lead: tuple[str, ...] = ()

    @property
    def seeded(self) -> tuple[str, ...]:
        """The vertices that matching begins with, as the rows before tell: seeds have a column for each."""
        return (*self.bound, *(lookup.vertex for lookup in self.lookups))


@record(frozen=True, slots=True)
class OptionalMatch(Match):
    """An OPTIONAL MATCH: a row without any match goes out too, with nulls for what only the pattern binds."""


@record(frozen=True, slots=True)
class Exists(Match):
    """A pattern as a condition on rows: those that have a match go out, once."""


@record(frozen=True, slots=True)
class NotExists(Match):
    """A pattern as a condition on rows: those that have no match go out."""


@record(frozen=True, slots=True, kw_only=True)
class Paths(Match):
    """A relationship of variable length: every row goes out once for each path, from a vertex that it binds to one that
    it binds or to any.

    graph: the two vertices, or the one that is both ends, and the edge that every edge of a path has to fit; the path
    is found from `source` on, along edges of this direction. bound: the ends that the rows bind. least, most: of how
    many edges; most None: however many. mode: which vertices of a path have to differ; differ: whether its edges have
    to; apart: whether `target`, which the rows do not bind, has to be another vertex than `source`. shortest: how many
    paths of each pair of ends, the shortest ones first, or all of the smallest length; None: all paths. way: the
    variable of the path; backwards: which begins where it is found last. before: the variable of the edge that is found
    before another; following: conditions on both, where there is one; of_source: on each edge and the source. There are
    none of shortest paths; those that fail for some are asked of whole paths, too.
    """

    source: int
    target: int
    direction: Direction
    least: int
    most: int | None
    mode: PathMode
    differ: bool
    apart: bool
    shortest: int | Literal["all"] | None
    way: str
    backwards: bool
    before: str
    following: tuple[Expression, ...]
    of_source: tuple[Expression, ...]

    @property
    def edge(self) -> QueryEdge:
        return self.graph.edges[0]

    @property
    def returns_another_way(self) -> bool:
        """Whether a walk back to where it began may be no path: without directions it may go back by its own edges."""
        return self.least > 0 and self.direction == "both" and self.differ

    @property
    def depends_on_source(self) -> bool:
        """Whether where a walk has begun tells which of the vertices that it comes to are ends."""
        return self.apart or self.returns_another_way


@record(frozen=True, slots=True)
class ProjectionItem:
    """One column of the answer, or of the rows after a WITH."""

    name: str
    expression: Expression


@record(frozen=True, slots=True)
class SortItem:
    """Speaks of the variables before the projection: an alias was replaced by its expression, so it may equal an
    item's."""

    expression: Expression
    descending: bool


@record(frozen=True, slots=True)
class Projection:
    """RETURN or WITH: items, then DISTINCT, ORDER BY, SKIP and LIMIT.

    Items without an aggregate are the grouping keys as soon as one item has an aggregate (implicit grouping).
    `skip` and `limit` are constant expressions over parameters, or None.
    """

    items: tuple[ProjectionItem, ...]
    distinct: bool
    order_by: tuple[SortItem, ...]
    skip: Expression | None
    limit: Expression | None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Of the items and of what sorts them."""
        return (*(item.expression for item in self.items), *(item.expression for item in self.order_by))

    @property
    def is_grouped(self) -> bool:
        """Whether rows of the answer stand for groups of rows."""
        return self.distinct or any(is_aggregated(item.expression) for item in self.items)

    @property
    def weighs_repeats(self) -> bool:
        """Whether the answer is grouped, and can be computed from rows that come once with the number of times."""
        return self._is_grouped_by((*_WEIGHED, *_UNREPEATED))

    @property
    def ignores_repeats(self) -> bool:
        """Whether the answer is the same however often a row comes."""
        return self._is_grouped_by(_UNREPEATED)

    def _is_grouped_by(self, functions: tuple[str, ...]) -> bool:
        """Whether the answer is grouped, with aggregates of these functions or of distinct values, by what is the same
        for rows that are alike."""
        nodes = (node for expression in self.expressions for node in walk(expression))
        keys = (item.expression for item in self.items if not is_aggregated(item.expression))
        return (
            self.is_grouped
            and all(node.distinct or node.function in functions for node in nodes if isinstance(node, Aggregate))
            and not any(map(is_volatile, keys))
        )


_WEIGHED = ("count", "sum", "avg")  # aggregates that can be computed from distinct rows with their numbers
_UNREPEATED = ("min", "max")  # aggregates that a repeated row does not change


@record(frozen=True, slots=True)
class Project:
    """WITH, or RETURN at the end of the chain. `where`: conditions on what the projection gives, written as sort items
    are; they are asked after SKIP and LIMIT. per: the name that says which row of an outer query a row is made for,
    the last of the items; groups and SKIP and LIMIT are among the rows of one such row."""

    projection: Projection
    where: tuple[Expression, ...]
    input: tuple[Variable, ...]
    output: tuple[Variable, ...]
    per: str | None = None

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """All that it asks for."""
        expressions = (*self.projection.expressions, *self.where)
        return tuple(part for each in expressions for part in walk(each) if isinstance(part, Aggregate))

    def changed(self, change: Callable[[Expression], Expression]) -> Project:
        """The same with other expressions, each made of one of its own."""
        projection = self.projection
        items = tuple(replace(item, expression=change(item.expression)) for item in projection.items)
        order_by = tuple(replace(item, expression=change(item.expression)) for item in projection.order_by)
        changed = replace(projection, items=items, order_by=order_by)
        return replace(self, projection=changed, where=tuple(map(change, self.where)))

    @property
    def is_total(self) -> bool:
        """Whether it gives one row of aggregates for every row of the outer query, also where there is nothing."""
        *items, _ = self.projection.items
        return self.per is not None and bool(items) and all(is_aggregated(item.expression) for item in items)


@record(frozen=True, slots=True)
class Unwind(Project):
    """UNWIND: every row goes out once for each item of a list, which is the last of what the projection gives; before
    it stands all that comes in."""


Asked = Literal["rows", "exists", "count", "collect"]


@record(frozen=True, slots=True)
class Apply:
    """A subquery: for every row, chains of their own.

    asked: the rows of all branches, each with the row that it was found for; or of the one branch whether there are
    any, how many, the values of its one column as a list. row: the variable with the number of the row that the
    branches' rows are found for, which they begin with; None where they ask nothing of the rows, and begin with none.
    optional: a row for which there is nothing goes out once, with nulls. branches: segments whose last output the rows
    of a branch are. swept: segments with the same rows, though not as often, that list no paths; none where there are
    no such.
    """

    asked: Asked
    branches: tuple[tuple[Segment, ...], ...]
    row: Variable | None
    optional: bool
    input: tuple[Variable, ...]
    output: tuple[Variable, ...]
    swept: tuple[Segment, ...] = ()

    @property
    def new(self) -> tuple[Variable, ...]:
        """What it adds to the rows."""
        return self.output[len(self.input) :]

    @property
    def imported(self) -> tuple[Variable, ...]:
        """What the branches read of the rows."""
        begin = self.branches[0][0].input
        return tuple(variable for variable in begin if variable != self.row) if self.row is not None else ()


Segment = Match | Project | Apply | Update


@record(frozen=True)
class BoundQuery:
    """The segments in order, the last one a Project, or an Update where its rows change the graph. `notices`: what the
    user is warned of. device: where the query wants to be matched, None where it says nothing."""

    segments: tuple[Segment, ...]
    notices: tuple[Notice, ...] = ()
    device: Device | None = None

    @cached_property
    def all_segments(self) -> tuple[Segment, ...]:
        """Those of subqueries, too: behind the segment that holds them."""
        return tuple(_all_of(self.segments))

    @cached_property
    def edge_types(self) -> set[str]:
        """The types of all edges in patterns."""
        graphs = (segment.graph for segment in self.all_segments if isinstance(segment, Match))
        return {type_ for graph in graphs for edge in graph.edges for type_ in edge.types}


def _all_of(segments: tuple[Segment, ...]) -> Iterator[Segment]:
    for segment in segments:
        yield segment
        for branch in (*segment.branches, segment.swept) if isinstance(segment, Apply) else ():
            yield from _all_of(branch)
