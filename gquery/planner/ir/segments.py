"""The bound query: a chain of segments. Written by `bind`, read by the passes, the executor and the tail.

Rows travel from segment to segment. What a row holds under a name is a `Variable`: an internal id where the name stands
for a node or a relationship, ids of both for a path, else a value. Every segment says what comes in and what goes out.
"""

from __future__ import annotations

from gquery.errors import Notice
from gquery.planner.ir.expr import Aggregate, Attribute, Expression, Kind, Type, is_aggregated, walk
from gquery.planner.ir.query_graph import QueryGraph
from gquery.records import record

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
class Match:
    """Consecutive MATCH clauses: every row that comes in goes out once for each match that it has.

    bound: the vertices of the query graph that the rows before bind; null matches nothing. predicates: the conditions
    that speak of earlier variables which are no vertices of the query graph too.
    """

    graph: QueryGraph
    bound: tuple[str, ...]
    predicates: tuple[Expression, ...]
    input: tuple[Variable, ...]
    output: tuple[Variable, ...]


@record(frozen=True, slots=True)
class OptionalMatch(Match):
    """An OPTIONAL MATCH: a row without any match goes out too, with nulls for what only the pattern binds."""


@record(frozen=True, slots=True)
class Exists(Match):
    """A pattern as a condition on rows: those that have a match go out, once."""


@record(frozen=True, slots=True)
class NotExists(Match):
    """A pattern as a condition on rows: those that have no match go out."""


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
        """Whether the answer is grouped, with aggregates of these functions or of distinct values."""
        nodes = (node for expression in self.expressions for node in walk(expression))
        return self.is_grouped and all(
            node.distinct or node.function in functions for node in nodes if isinstance(node, Aggregate)
        )


_WEIGHED = ("count", "sum", "avg")  # aggregates that can be computed from distinct rows with their numbers
_UNREPEATED = ("min", "max")  # aggregates that a repeated row does not change


@record(frozen=True, slots=True)
class Project:
    """WITH, or RETURN at the end of the chain. `where`: conditions on what the projection gives, written as sort items
    are; they are asked after SKIP and LIMIT."""

    projection: Projection
    where: tuple[Expression, ...]
    input: tuple[Variable, ...]
    output: tuple[Variable, ...]


@record(frozen=True, slots=True)
class Unwind(Project):
    """UNWIND: every row goes out once for each item of a list, which is the last of what the projection gives; before
    it stands all that comes in."""


Segment = Match | Project


@record(frozen=True, slots=True)
class BoundQuery:
    """The segments in order, the last one a Project. `notices`: what the user is warned of."""

    segments: tuple[Segment, ...]
    notices: tuple[Notice, ...] = ()

    @property
    def edge_types(self) -> set[str]:
        """The types of all edges in patterns."""
        graphs = (segment.graph for segment in self.segments if isinstance(segment, Match))
        return {type_ for graph in graphs for edge in graph.edges for type_ in edge.types}
