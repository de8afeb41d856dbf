"""What a query is made of: expressions, patterns, clauses. The generator makes such trees; `matching`, `expressions`
and `answers` say what they mean, `tests.soak.render` writes them as text."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.evaluator.values import Value


@dataclass(frozen=True)
class Literal:
    """A constant in the text, or the value of a parameter of that name."""

    value: Value
    parameter: str | None = None


@dataclass(frozen=True)
class Variable:
    name: str


@dataclass(frozen=True)
class Property:
    subject: Expression
    key: str


@dataclass(frozen=True)
class Call:
    """A function or an operator, by its lower-case name: `and`, `starts with`, `list`, `index`, `slice`, `case`
    (condition, value, ..., default), `negative`, `is null`."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class MapOf:
    entries: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Aggregate:
    """`argument` None is `count(*)`."""

    name: str
    argument: Expression | None
    distinct: bool = False


@dataclass(frozen=True)
class HasLabel:
    """`variable:labels`."""

    variable: str
    labels: Labels


@dataclass(frozen=True)
class Exists:
    """`EXISTS { ... }`; `bare`: written as a pattern alone."""

    clause: Clause
    bare: bool = False


Expression = Literal | Variable | Property | Call | MapOf | Aggregate | HasLabel | Exists


@dataclass(frozen=True)
class Labels:
    """`name` (with `%` for any), or an operator `! & |` over parts."""

    operator: str
    parts: tuple[Labels, ...] = ()


Entries = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Node:
    """A name that begins with `_` is not written."""

    name: str
    labels: Labels | None = None
    properties: Entries = ()
    where: Expression | None = None


@dataclass(frozen=True)
class Step:
    """An edge of a path and the vertex that it leads to; direction: out, in, both."""

    name: str
    direction: str
    target: Node
    types: Labels | None = None
    properties: Entries = ()


@dataclass(frozen=True)
class Walk:
    """A path pattern: `name = (start)-[]-()...`."""

    start: Node
    steps: tuple[Step, ...] = ()
    name: str | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        return (self.start, *(step.target for step in self.steps))


@dataclass(frozen=True)
class Clause:
    mode: str
    walks: tuple[Walk, ...]
    where: Expression | None = None
    optional: bool = False


@dataclass(frozen=True)
class Query:
    """items: expression and alias; order: expression and whether it descends."""

    clauses: tuple[Clause, ...]
    items: tuple[tuple[Expression, str], ...]
    distinct: bool = False
    order: tuple[tuple[Expression, bool], ...] = ()
    skip: int | None = None
    limit: int | None = None
    parameters: dict[str, Value] = field(default_factory=dict, hash=False, compare=False)
