"""The syntax tree: frozen, and every node keeps the span of its words.

Names are held as written (back-quotes removed). Nothing here is resolved: that is `planner.bind`'s work.
Spans take no part in equality, so that two texts that say the same compare equal.
"""

from __future__ import annotations

from dataclasses import field, fields
from typing import Literal as OneOf

from gquery.errors import Span
from gquery.records import record

MatchMode = OneOf["different edges", "different nodes", "repeatable elements", "induced"]
PathMode = OneOf["walk", "trail", "acyclic", "simple"]
Direction = OneOf["out", "in", "both"]
Command = OneOf["explain", "profile"]
Form = OneOf["list", "all", "any", "none", "single"]


@record(frozen=True, slots=True, kw_only=True)
class Node:
    """Base of every node of the tree (a graph's node is a `NodePattern`)."""

    span: Span = field(compare=False)


def parts_of(node: Node) -> tuple[str, ...]:
    """The names of the fields of a node that may hold others, alone or in a tuple."""
    kind = type(node)
    if kind not in _parts:
        _parts[kind] = tuple(each.name for each in fields(kind) if each.type != "Span")
    return _parts[kind]


_parts: dict[type[Node], tuple[str, ...]] = {}


# --- expressions -------------------------------------------------------------------------------------------------


@record(frozen=True, slots=True)
class Expression(Node):
    """Base of the expressions."""


@record(frozen=True, slots=True)
class Literal(Expression):
    """None, bool, int, float or str. Equal literals have equal types: 1, 1.0 and true differ."""

    value: bool | int | float | str | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@record(frozen=True, slots=True)
class Parameter(Expression):
    """`$name`; the name without the dollar."""

    name: str


@record(frozen=True, slots=True)
class Variable(Expression):
    name: str


@record(frozen=True, slots=True)
class Property(Expression):
    """`subject.key`; `key_span` underlines the key alone."""

    subject: Expression
    key: str
    key_span: Span = field(compare=False)


@record(frozen=True, slots=True)
class ListLiteral(Expression):
    items: tuple[Expression, ...]


@record(frozen=True, slots=True)
class MapEntry(Node):
    key: str
    value: Expression


@record(frozen=True, slots=True)
class MapLiteral(Expression):
    entries: tuple[MapEntry, ...]


@record(frozen=True, slots=True)
class MapProjection(Expression):
    """`subject {.key, name, key: value, .*}`: `.key` is the entry `key: subject.key`, `name` the entry `name: name`;
    `star` adds all properties that no entry names."""

    subject: Variable
    entries: tuple[MapEntry, ...]
    star: bool


@record(frozen=True, slots=True)
class Comprehension(Expression):
    """`[variable IN items WHERE where | result]`, or `all(variable IN items WHERE where)` and the like."""

    form: Form
    variable: Variable
    items: Expression
    where: Expression | None
    result: Expression | None


@record(frozen=True, slots=True)
class Reduce(Expression):
    """`reduce(accumulator = initial, variable IN items | step)`."""

    accumulator: Variable
    initial: Expression
    variable: Variable
    items: Expression
    step: Expression


@record(frozen=True, slots=True)
class Unary(Expression):
    """Operators: `not`, `-`, `+`, `is null`, `is not null`."""

    operator: str
    operand: Expression


@record(frozen=True, slots=True)
class Binary(Expression):
    """Operators, lower case: `or xor and = <> < <= > >= =~ in starts with ends with contains + - * / % ^`.

    A chain `a < b < c` is parsed into `a < b and b < c`.
    """

    operator: str
    left: Expression
    right: Expression


@record(frozen=True, slots=True)
class LabelTest(Expression):
    """`n:Person` used as a predicate; for a relationship variable it tests the type."""

    subject: Expression
    labels: LabelExpression


@record(frozen=True, slots=True)
class Index(Expression):
    """`subject[index]`."""

    subject: Expression
    index: Expression


@record(frozen=True, slots=True)
class Slice(Expression):
    """`subject[start..end]`, either end may be left out."""

    subject: Expression
    start: Expression | None
    end: Expression | None


@record(frozen=True, slots=True)
class FunctionCall(Expression):
    """`name(arguments)`; `count(*)` is name `count` with `star`. The name is lower case; `name_span` is the name's."""

    name: str
    arguments: tuple[Expression, ...]
    distinct: bool
    star: bool
    name_span: Span = field(compare=False)


@record(frozen=True, slots=True)
class CaseBranch(Node):
    condition: Expression
    value: Expression


@record(frozen=True, slots=True)
class Case(Expression):
    """`CASE [subject] WHEN condition THEN value ... [ELSE default] END`."""

    subject: Expression | None
    branches: tuple[CaseBranch, ...]
    default: Expression | None


@record(frozen=True, slots=True)
class PatternPredicate(Expression):
    """A pattern used as a predicate, such as `NOT (a)-[:KNOWS]-(b)`."""

    pattern: PathPattern


@record(frozen=True, slots=True)
class Exists(Expression):
    """`EXISTS { [MATCH [mode]] patterns [WHERE where] }`; the MATCH is never optional."""

    match: Match


@record(frozen=True, slots=True)
class Subquery(Expression):
    """`EXISTS { ... }`, `COUNT { ... }` or `COLLECT { ... }` of clauses, of which RETURN may be left out but in the
    last. A pattern comprehension `[pattern WHERE where | item]` is parsed into `COLLECT { MATCH ... RETURN item }`."""

    kind: OneOf["exists", "count", "collect"]
    query: Query


# --- patterns ----------------------------------------------------------------------------------------------------


@record(frozen=True, slots=True)
class LabelExpression(Node):
    """Base of label (and type) expressions."""


@record(frozen=True, slots=True)
class LabelName(LabelExpression):
    name: str


@record(frozen=True, slots=True)
class LabelWildcard(LabelExpression):
    """`%`: at least one label."""


@record(frozen=True, slots=True)
class LabelNot(LabelExpression):
    operand: LabelExpression


@record(frozen=True, slots=True)
class LabelAnd(LabelExpression):
    """`A&B`; `:A:B` parses to the same."""

    left: LabelExpression
    right: LabelExpression


@record(frozen=True, slots=True)
class LabelOr(LabelExpression):
    """`A|B`."""

    left: LabelExpression
    right: LabelExpression


@record(frozen=True, slots=True)
class NodePattern(Node):
    """`(variable:labels {properties} WHERE condition)`."""

    variable: Variable | None
    labels: LabelExpression | None
    properties: MapLiteral | Parameter | None
    where: Expression | None


@record(frozen=True, slots=True)
class Length(Node):
    """How many relationships stand for one of variable length: `*least..most`, `*` from 1 on, `{least,most}`,
    `{least,}`, `+` from 1 on, `->*` from 0 on. most None: however many."""

    least: int
    most: int | None


@record(frozen=True, slots=True)
class RelationshipPattern(Node):
    """`-[variable:types*length {properties} WHERE condition]->`, or the length as a quantifier behind. `both` is
    written `-[]-` or `<-[]->`. length None: one relationship. inside: the pattern that is repeated, each time with its
    condition, where it is one in brackets, `(path WHERE condition){least,most}`, which has no variable, types and
    properties of its own."""

    variable: Variable | None
    types: LabelExpression | None
    direction: Direction
    properties: MapLiteral | Parameter | None
    where: Expression | None
    length: Length | None = None
    inside: PathPattern | None = None


@record(frozen=True, slots=True)
class PathPattern(Node):
    """`variable = shortest mode (n0)-[r0]-(n1)...`: one more node than relationships. shortest: so many of the shortest
    paths between the same two nodes, or all that are as short as the shortest; None where length does not matter.
    `shortestPath((a)-[*]-(b))` is parsed into `ANY SHORTEST (a)-[*]-(b)`, which is `SHORTEST 1`."""

    variable: Variable | None
    nodes: tuple[NodePattern, ...]
    relationships: tuple[RelationshipPattern, ...]
    shortest: int | OneOf["all"] | None = None
    mode: PathMode | None = None


# --- clauses -----------------------------------------------------------------------------------------------------


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
    """`expression [AS alias]`; `text` is the expression as written, the column's name when there is no alias."""

    expression: Expression
    alias: str | None
    text: str = field(compare=False)


@record(frozen=True, slots=True)
class SortItem(Node):
    expression: Expression
    descending: bool


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
