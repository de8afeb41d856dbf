"""What a query is made of: expressions, patterns, clauses. The generator makes such trees, `render` writes them as
text, `tests.evaluator` says what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from tests.evaluator.values import Value


@dataclass(frozen=True)
class Literal:
    value: Value
    parameter: str | None = None  # the name of the parameter that gives it


@dataclass(frozen=True)
class Variable:
    name: str


@dataclass(frozen=True)
class Property:
    subject: Expression
    key: str


@dataclass(frozen=True)
class Call:
    name: str  # of a function or an operator, as the tables of `functions` have it
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class MapOf:
    entries: Entries


@dataclass(frozen=True)
class Items:
    """`[item IN items WHERE condition | result]`, or `all(item IN items WHERE condition)` and the like."""

    form: str  # list, all, any, none, single
    item: str
    items: Expression
    condition: Expression | None
    result: Expression | None = None


@dataclass(frozen=True)
class Reduce:
    """`reduce(sofar = initial, item IN items | step)`."""

    sofar: str
    initial: Expression
    item: str
    items: Expression
    step: Expression


@dataclass(frozen=True)
class Aggregate:
    name: str
    argument: Expression | None  # None: `count(*)`
    distinct: bool = False


@dataclass(frozen=True)
class HasLabel:
    variable: str
    labels: Labels


@dataclass(frozen=True)
class Exists:
    clause: Match
    bare: bool = False  # written as a pattern alone


@dataclass(frozen=True)
class Count:
    """How many matches a pattern has."""

    clause: Match


Expression = Literal | Variable | Property | Call | MapOf | Items | Reduce | Aggregate | HasLabel | Exists | Count
Entries = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Labels:
    operator: str  # one of `! & |`, a name, or `%` for any
    parts: tuple[Labels, ...] = ()


@dataclass(frozen=True)
class Node:
    name: str  # one that begins with `_` is not written
    labels: Labels | None = None
    properties: Entries = ()
    where: Expression | None = None


@dataclass(frozen=True)
class Step:
    """An edge of a path and the vertex that it leads to; with a length a list of edges."""

    name: str
    direction: str  # in, out, both
    target: Node
    types: Labels | None = None
    properties: Entries = ()
    length: tuple[int, int | None] | None = None  # of how many edges: at least, at most
    where: Expression | None = None  # of each of them: where there is no length, it is with the clause's conditions
    inside: Walk | None = None  # what is repeated, in brackets: its names stand for lists, the step's for all edges


@dataclass(frozen=True)
class Walk:
    """A path pattern: `name = shortest mode (start)-[]-()...`."""

    start: Node
    steps: tuple[Step, ...] = ()
    name: str | None = None
    mode: str | None = None  # walk, trail, acyclic, simple
    shortest: int | str | None = None  # how many paths, or `all` of the smallest length

    @property
    def nodes(self) -> tuple[Node, ...]:
        return (self.start, *(step.target for step in self.steps))


@dataclass(frozen=True)
class Match:
    mode: str
    walks: tuple[Walk, ...]
    where: Expression | None = None
    optional: bool = False

    def names(self) -> Iterator[str]:
        for walk in self.walks:
            yield from (each.name for each in (*walk.nodes, *walk.steps, walk) if each.name is not None)
            for inside in (step.inside for step in walk.steps if step.inside is not None):
                yield from (each.name for each in (*inside.nodes, *inside.steps))

    def conditions(self) -> Iterator[Expression]:
        """All that must be true of a match: property maps, conditions inside the brackets, WHERE."""
        for walk in self.walks:
            elements: tuple[Node | Step, ...] = (*walk.nodes, *(step for step in walk.steps if step.length is None))
            for each in elements:
                yield from (Call("=", (Property(Variable(each.name), key), value)) for key, value in each.properties)
            yield from (node.where for node in walk.nodes if node.where is not None)
        yield from () if self.where is None else (self.where,)


@dataclass(frozen=True)
class Projection:
    """RETURN or WITH. star: the items that are a name as it is are all names that there are, written as `*`."""

    items: tuple[tuple[Expression, str], ...]  # and their aliases
    distinct: bool = False
    order: tuple[tuple[Expression, bool], ...] = ()  # and whether it descends
    skip: int | None = None
    limit: int | None = None
    where: Expression | None = None
    star: bool = False

    @property
    def grouped(self) -> bool:
        """Whether a row may stand for several."""
        return self.distinct or contains(self.items, Aggregate)


@dataclass(frozen=True)
class Unwind:
    values: Expression  # a list
    name: str


@dataclass(frozen=True)
class Called:
    """`CALL (imports) { branches }`, joined by UNION, or UNION ALL where they are not `distinct`."""

    imports: tuple[str, ...]
    branches: tuple[Query, ...]
    distinct: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(alias for _, alias in self.branches[0].returned.items)

    @property
    def grouped(self) -> bool:
        """Whether a value may stand for several that are equal."""
        return (self.distinct and len(self.branches) > 1) or any(each.returned.grouped for each in self.branches)


Clause = Match | Projection | Unwind | Called


@dataclass(frozen=True)
class Query:
    clauses: tuple[Clause, ...]  # the last is RETURN

    @property
    def returned(self) -> Projection:
        assert isinstance(self.clauses[-1], Projection)
        return self.clauses[-1]

    def first_meant(self, item: Expression) -> Expression:
        """What an item of RETURN stands for: a name that was carried on means what the first WITH made of it."""
        for clause in reversed(self.clauses[:-1]):
            if not isinstance(item, Variable) or (isinstance(clause, Match) and item.name in clause.names()):
                return item
            if isinstance(clause, Unwind) and item.name == clause.name:
                return item
            if isinstance(clause, Called) and item.name in clause.names:
                return item
            if isinstance(clause, Projection):
                item = {alias: made for made, alias in clause.items}[item.name]
        return item


def contains(tree: Any, kind: type) -> bool:
    """Whether a tree has a part of that kind."""
    parts = [getattr(tree, each.name) for each in fields(tree)] if is_dataclass(tree) else tree
    return isinstance(tree, kind) or (isinstance(parts, list | tuple) and any(contains(part, kind) for part in parts))
