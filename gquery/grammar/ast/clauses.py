"""Clauses that read, and the query that is made of clauses."""

from __future__ import annotations

from dataclasses import field
from typing import Literal as OneOf

from gquery.grammar.ast.base import Node
from gquery.grammar.ast.expressions import Expression, Variable
from gquery.grammar.ast.patterns import PathPattern
from gquery.records import record

MatchMode = OneOf["different edges", "different nodes", "repeatable elements", "induced"]
Command = OneOf["explain", "profile"]


@record(frozen=True, slots=True)
class Clause(Node):
    """Base of the clauses."""


@record(frozen=True, slots=True)
class OrderHint(Node):
    """`USING START node` or `USING ORDER nodes`: what the matching order begins with."""

    nodes: tuple[Variable, ...]


@record(frozen=True, slots=True)
class DeviceHint(Node):
    """`USING DEVICE device`, as it is written."""

    device: str


@record(frozen=True, slots=True)
class Match(Clause):
    """`[OPTIONAL] MATCH [mode] patterns [hints] [WHERE where]`; `mode` None means the session's."""

    patterns: tuple[PathPattern, ...]
    where: Expression | None
    mode: MatchMode | None
    optional: bool
    hints: tuple[OrderHint | DeviceHint, ...] = ()


@record(frozen=True, slots=True)
class Unwind(Clause):
    """`UNWIND items AS variable`: a row for each item."""

    items: Expression
    variable: Variable


@record(frozen=True, slots=True)
class ProjectionItem(Node):
    """`expression [AS alias]`; `text` is the column's name when there is no alias: a variable's, else the expression as
    written."""

    expression: Expression
    alias: str | None
    text: str = field(compare=False)


@record(frozen=True, slots=True)
class SortItem(Node):
    """nulls: where they are wanted; None for where the greatest values are."""

    expression: Expression
    descending: bool
    nulls: OneOf["first", "last"] | None = None


@record(frozen=True, slots=True)
class Projecting(Clause):
    """`[DISTINCT] */items [ORDER BY ...] [SKIP n] [LIMIT n]`: what RETURN and WITH have in common."""

    items: tuple[ProjectionItem, ...]
    star: bool
    distinct: bool
    order_by: tuple[SortItem, ...]
    skip: Expression | None
    limit: Expression | None


@record(frozen=True, slots=True)
class Return(Projecting):
    """`RETURN ...`, the end of a query."""


@record(frozen=True, slots=True)
class With(Projecting):
    """`WITH ... [WHERE where]`: only what it names goes on. `FILTER where` is parsed into `WITH * WHERE where`, and
    `LET x = expression` into `WITH *, expression AS x`."""

    where: Expression | None


@record(frozen=True, slots=True)
class Call(Clause):
    """`[OPTIONAL] CALL [(imports)] { query }`. imports: what the query sees of the names before, None where that is not
    written; star: all of them."""

    query: Query
    imports: tuple[Variable, ...] | None
    star: bool
    optional: bool


@record(frozen=True, slots=True)
class Procedure(Clause):
    """`CALL name() [YIELD column [AS name], ... [WHERE where]]`: rows about the graph. columns: all where None."""

    name: str
    columns: tuple[ProjectionItem, ...] | None
    where: Expression | None


@record(frozen=True, slots=True)
class Union(Clause):
    """`branch UNION [ALL] branch ...`, the only clause of its query. distinct: a row goes out once."""

    branches: tuple[Query, ...]
    distinct: bool


@record(frozen=True, slots=True)
class Query(Node):
    """A whole statement: the clauses in order, and EXPLAIN or PROFILE when written before them."""

    clauses: tuple[Clause, ...]
    command: Command | None

    @property
    def returns(self) -> bool:
        """Whether it gives rows; of UNION, whether its first branch does."""
        last = self.clauses[-1]
        return last.branches[0].returns if isinstance(last, Union) else isinstance(last, Return)
