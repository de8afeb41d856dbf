"""What the differential tests speak about: small data graphs, structured queries and their expressions.

A query holds no text: the renderer writes Cypher, `oracle` enumerates its matches, `sql` writes a self-join.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Value = bool | int | float | str | None


@dataclass(frozen=True)
class Vertex:
    """`id` is the user's. Absent properties are None."""

    id: int | str
    labels: frozenset[str]
    properties: Mapping[str, Value]


@dataclass(frozen=True)
class Edge:
    """`properties["eid"]` is unique in the graph; `source` and `target` are vertex ids."""

    source: int | str
    target: int | str
    type: str
    properties: Mapping[str, Value]

    @property
    def labels(self) -> frozenset[str]:
        return frozenset({self.type})


@dataclass(frozen=True)
class DataGraph:
    """label_sets and types give the property keys of each vertex table and of each edge type, rows or no rows."""

    label_sets: Mapping[frozenset[str], tuple[str, ...]]
    types: Mapping[str, tuple[str, ...]]
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Constant:
    value: Value


@dataclass(frozen=True)
class Attribute:
    """`variable.key`."""

    variable: str
    key: str


@dataclass(frozen=True)
class Element:
    """A vertex or edge as a value: only `=` and `<>` take it."""

    variable: str


@dataclass(frozen=True)
class Label:
    """A label or an edge type; `%` is any."""

    name: str


@dataclass(frozen=True)
class Operation:
    """Operators of WHERE (`= <> < <= > >= and or not`, `is null`, `is not null`, `in`, `starts with`) and of label
    expressions (`| & !`)."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Labelled:
    """`variable:labels` as a condition."""

    variable: str
    labels: Expression


Expression = Constant | Attribute | Element | Label | Operation | Labelled


@dataclass(frozen=True)
class QueryVertex:
    name: str
    labels: Expression | None


@dataclass(frozen=True)
class QueryEdge:
    """`source` and `target` name query vertices; when not directed, either end of the data edge may be `source`."""

    name: str
    source: str
    target: str
    types: Expression | None
    directed: bool


@dataclass(frozen=True)
class Clause:
    """One MATCH: the names of the vertices that it mentions, its edges, its conditions (all must be true)."""

    mode: str
    vertices: tuple[str, ...]
    edges: tuple[QueryEdge, ...]
    conditions: tuple[Expression, ...]


@dataclass(frozen=True)
class Part:
    """An `optional` clause, or one that a condition asks for: `exists` or `absent`.

    vertices: those that only it has; its clause mentions earlier ones too. conditions: the parts in its WHERE.
    """

    kind: str
    vertices: tuple[QueryVertex, ...]
    clause: Clause
    conditions: tuple[Part, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that only it has."""
        return (*(vertex.name for vertex in self.vertices), *(edge.name for edge in self.clause.edges))

    @property
    def earlier(self) -> tuple[str, ...]:
        """The vertices that it mentions and others have."""
        own = self.names
        return tuple(name for name in self.clause.vertices if name not in own)


@dataclass(frozen=True)
class Query:
    """`hidden` vertices and edges are written without a variable: no condition speaks of them and no row shows them.

    vertices and clauses are required. parts: conditions of the last clause, then optional clauses.
    """

    vertices: tuple[QueryVertex, ...]
    clauses: tuple[Clause, ...]
    hidden: frozenset[str]
    parts: tuple[Part, ...] = ()

    @property
    def all_parts(self) -> tuple[Part, ...]:
        """The parts, each followed by those in its WHERE."""
        return tuple(each for part in self.parts for each in (part, *part.conditions))

    @property
    def all_vertices(self) -> tuple[QueryVertex, ...]:
        return (*self.vertices, *(vertex for part in self.all_parts for vertex in part.vertices))

    @property
    def all_clauses(self) -> tuple[Clause, ...]:
        return (*self.clauses, *(part.clause for part in self.all_parts))

    @property
    def edges(self) -> tuple[QueryEdge, ...]:
        return tuple(edge for clause in self.clauses for edge in clause.edges)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that a row shows: vertices, then edges, then what optional clauses add."""
        names = [vertex.name for vertex in self.vertices] + [edge.name for edge in self.edges]
        names += [name for part in self.parts if part.kind == "optional" for name in part.names]
        return tuple(name for name in names if name not in self.hidden)


Match = Mapping[str, Vertex | Edge | None]
"""What the variables stand for; None where an optional clause has no match."""


def elements(clause: Clause) -> list[str]:
    """The variables that a clause mentions."""
    return [*clause.vertices, *(edge.name for edge in clause.edges)]


def is_edge(name: str) -> bool:
    """Whether a variable names an edge: edges are r0, r1, ..., vertices a0, a1, ..."""
    return name.startswith("r")


def variables(expression: Expression) -> Iterator[str]:
    """The variables that an expression reads, with repeats."""
    match expression:
        case Attribute(variable=name) | Element(variable=name) | Labelled(variable=name):
            yield name
        case Operation(operands=operands):
            for operand in operands:
                yield from variables(operand)


def has_labels(expression: Expression | None, labels: frozenset[str]) -> bool:
    """Whether a label expression holds for a label set; no expression always does."""
    match expression:
        case Label(name="%"):
            return bool(labels)
        case Label(name=name):
            return name in labels
        case Operation(operator="!", operands=(operand,)):
            return not has_labels(operand, labels)
        case Operation(operator="&", operands=operands):
            return all(has_labels(operand, labels) for operand in operands)
        case Operation(operator="|", operands=operands):
            return any(has_labels(operand, labels) for operand in operands)
        case None:
            return True
    raise AssertionError(expression)


def evaluate(expression: Expression, match: Match) -> Value:
    """The value under openCypher's three-valued logic; None is null."""
    match expression:
        case Constant(value=value):
            return value
        case Attribute(variable=name, key=key):
            return _bound(match, name).properties.get(key)
        case Labelled(variable=name, labels=labels):
            return has_labels(labels, _bound(match, name).labels)
        case Operation(operator="=" | "<>" as operator, operands=(Element(first), Element(second))):
            return (match[first] is match[second]) is (operator == "=")
        case Operation(operator="not", operands=(operand,)):
            value = evaluate(operand, match)
            return None if value is None else not value
        case Operation(operator="is null" | "is not null" as operator, operands=(operand,)):
            return (evaluate(operand, match) is None) is (operator == "is null")
        case Operation(operator="and" | "or" as operator, operands=operands):
            values = [evaluate(operand, match) for operand in operands]
            decisive = operator == "or"
            return decisive if decisive in values else None if None in values else not decisive
        case Operation(operator="in", operands=(operand, *items)):
            return evaluate(Operation("or", tuple(Operation("=", (operand, item)) for item in items)), match)
        case Operation(operator=operator, operands=(left, right)):
            values = [evaluate(left, match), evaluate(right, match)]
            return None if None in values else _compare(operator, *values)
    raise AssertionError(expression)


def _bound(match: Match, name: str) -> Vertex | Edge:
    element = match[name]
    assert element is not None, f"a condition speaks of {name}, which is null"
    return element


def _compare(operator: str, left: Value, right: Value) -> bool:
    if operator == "starts with":
        return str(left).startswith(str(right))
    results = {"=": left == right, "<>": left != right}
    if operator in results:
        return results[operator]
    assert isinstance(left, int | float | str)
    assert isinstance(right, type(left)) or not isinstance(left, str)
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]  # type: ignore[operator]
