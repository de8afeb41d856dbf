"""Expressions."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from gquery.errors import Span
from gquery.grammar.ast.base import Node
from gquery.records import record

if TYPE_CHECKING:
    from gquery.grammar.ast.clauses import Match, Query
    from gquery.grammar.ast.patterns import LabelExpression, PathPattern

Form = OneOf["list", "all", "any", "none", "single"]


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
