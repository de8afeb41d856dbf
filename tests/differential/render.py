"""Cypher text of a structured query. One query has many texts: the random source chooses among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from tests.differential.forms import (
    Attribute,
    Clause,
    Constant,
    Element,
    Expression,
    Label,
    Operation,
    Query,
    QueryEdge,
    QueryVertex,
    Value,
)

Path = tuple[str, list[tuple[QueryEdge, str]]]  # a start, and steps: an edge and the vertex that it reaches


@dataclass
class Renderer:
    """Writes `query` as MATCH clauses; constants that become parameters are gathered in `parameters`."""

    query: Query
    random: Random
    with_modes: bool
    parameters: dict[str, Value] = field(default_factory=dict)
    anonymous: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)

    def body(self) -> str:
        """The MATCH clauses. Hidden elements that are mentioned once need no variable."""
        clauses = [(clause, self._paths(clause)) for clause in self.query.clauses]
        mentions = Counter(name for _, paths in clauses for path in paths for name in _mentioned(path))
        self.anonymous = {name for name in self.query.hidden if mentions[name] == 1}
        return " ".join(self._clause(clause, paths) for clause, paths in clauses)

    def returned(self) -> str:
        """Items that show each named vertex by its id and each named edge by its `eid`."""
        edges = {edge.name for edge in self.query.edges}
        items = [f"{n}.eid AS {n}" if n in edges else f"id({n}) AS {n}" for n in self.query.names]
        return ", ".join(items) or "1 AS one"

    def _clause(self, clause: Clause, paths: list[Path]) -> str:
        conditions = list(clause.conditions)
        self.random.shuffle(conditions)
        patterns = ", ".join(self._path(path, conditions) for path in paths)
        mode = f" {clause.mode.upper()}" if self.with_modes else ""
        where = f" WHERE {' AND '.join(map(self._expression, conditions))}" if conditions else ""
        return f"MATCH{mode} {patterns}{where}"

    def _paths(self, clause: Clause) -> list[Path]:
        """The clause's edges as walks, in any order; lone vertices are walks of no step."""
        rest = list(clause.edges)
        self.random.shuffle(rest)
        paths = []
        while rest:
            start = here = self.random.choice([rest[0].source, rest[0].target])
            steps: list[tuple[QueryEdge, str]] = []
            while (edge := next((edge for edge in rest if here in (edge.source, edge.target)), None)) is not None:
                rest.remove(edge)
                here = edge.target if here == edge.source else edge.source
                steps.append((edge, here))
                if self.random.random() < 0.3:
                    break
            paths.append((start, steps))
        touched = {end for edge in clause.edges for end in (edge.source, edge.target)}
        paths += [(name, []) for name in clause.vertices if name not in touched]
        self.random.shuffle(paths)
        return paths

    def _path(self, path: Path, conditions: list[Expression]) -> str:
        """Property equalities may move from `conditions` into the property map of an element."""
        vertices = {vertex.name: vertex for vertex in self.query.vertices}
        here, steps = path
        text = f"({self._inside(vertices[here], conditions)})"
        for edge, there in steps:
            inside = self._inside(edge, conditions)
            middle = f"-[{inside}]-" if inside or self.random.random() < 0.5 else "--"
            if edge.directed:
                forward = here == edge.source and (here != there or self.random.random() < 0.5)
                middle = f"{middle}>" if forward else f"<{middle}"
            text += f"{middle}({self._inside(vertices[there], conditions)})"
            here = there
        return text

    def _inside(self, element: QueryVertex | QueryEdge, conditions: list[Expression]) -> str:
        """What stands between the brackets. Labels are written at the first mention, sometimes again."""
        text = "" if element.name in self.anonymous else element.name
        labels = element.labels if isinstance(element, QueryVertex) else element.types
        if labels is not None and (element.name not in self.written or self.random.random() < 0.2):
            text += ":" + self._label_text(labels)
        self.written.add(element.name)
        return text + self._property_map(element.name, conditions)

    def _property_map(self, name: str, conditions: list[Expression]) -> str:
        entries = []
        for condition in list(conditions):
            match condition:
                case Operation(operator="=", operands=(Attribute(variable=variable, key=key), Constant() as constant)):
                    if variable == name and self.random.random() < 0.5:
                        conditions.remove(condition)
                        entries.append(f"{key}: {self._expression(constant)}")
        return f" {{{', '.join(entries)}}}" if entries else ""

    def _label_text(self, labels: Expression, brackets: str = "{}") -> str:
        """`brackets` stand around an operation inside another; colons join labels at times."""
        match labels:
            case Label(name=name):
                return name
            case Operation(operator="!", operands=(operand,)):
                return "!" + self._label_text(operand, "({})")
            case Operation(operator="&", operands=(Label(first), Label(second))) if "%" not in (first, second):
                return brackets.format(f"{first}{'&' if brackets != '{}' else self.random.choice('&:')}{second}")
            case Operation(operator=operator, operands=operands):
                text = operator.join(self._label_text(operand, "({})") for operand in operands)
                return brackets.format(text)
        raise AssertionError(labels)

    def _expression(self, expression: Expression) -> str:
        match expression:
            case Constant(value=value):
                return self._constant(value)
            case Attribute(variable=name, key=key):
                return f"{name}.{key}"
            case Element(variable=name):
                return name
            case Operation(operator="not", operands=(operand,)):
                return f"NOT {self._expression(operand)}"
            case Operation(operator="is null" | "is not null" as operator, operands=(operand,)):
                return f"({self._expression(operand)} {operator.upper()})"
            case Operation(operator="in", operands=(operand, *items)):
                return f"({self._expression(operand)} IN [{', '.join(map(self._expression, items))}])"
            case Operation(operator=operator, operands=operands):
                return "(" + f" {operator.upper()} ".join(map(self._expression, operands)) + ")"
        raise AssertionError(expression)

    def _constant(self, value: Value) -> str:
        if value is not None and self.random.random() < 0.2:
            name = f"p{len(self.parameters)}"
            self.parameters[name] = value
            return f"${name}"
        return "null" if value is None else repr(value)


def _mentioned(path: Path) -> Iterator[str]:
    start, steps = path
    yield start
    for edge, there in steps:
        yield edge.name
        yield there
