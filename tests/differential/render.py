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
    Labelled,
    Operation,
    Part,
    Query,
    QueryEdge,
    QueryVertex,
    Value,
    elements,
    is_edge,
    variables,
)

Path = tuple[str, list[tuple[QueryEdge, str]]]  # a start, and steps: an edge and the vertex that it reaches


@dataclass
class Renderer:
    """Writes `query` as MATCH clauses; constants that become parameters are gathered in `parameters`."""

    query: Query
    random: Random
    with_modes: bool
    parameters: dict[str, Value] = field(default_factory=dict)
    paths: dict[Clause, list[Path]] = field(default_factory=dict)
    anonymous: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)

    def body(self, between: tuple[str, ...] = (" ",)) -> str:
        """The MATCH clauses. Hidden elements that are mentioned once need no variable. between: what may stand between
        two of them."""
        query = self.query
        self.paths = {clause: self._paths(clause) for clause in query.all_clauses}
        mentions = Counter(n for clause in query.all_clauses for path in self.paths[clause] for n in _mentioned(path))
        self.anonymous = {name for name in query.hidden if mentions[name] == 1}
        optional = [part for part in query.parts if part.kind == "optional"]
        bound: set[str] = set()
        texts = []
        for clause in query.clauses:
            last = clause is query.clauses[-1]
            texts.append(self._clause("MATCH", clause, query.parts if last else ()))
            bound |= set(elements(clause))
            while optional and (last or (_needs(optional[0]) <= bound and self.random.random() < 0.5)):
                part = optional.pop(0)
                texts.append(self._clause("OPTIONAL MATCH", part.clause, part.conditions))
                bound |= set(part.names)
        first, *rest = texts
        return first + "".join(self.random.choice(between) + text for text in rest)

    def returned(self) -> str:
        """Items that show each named vertex by its id and each named edge by its `eid`."""
        items = [f"{n}.eid AS {n}" if is_edge(n) else f"id({n}) AS {n}" for n in self.query.names]
        return ", ".join(items) or "1 AS one"

    def _clause(self, word: str, clause: Clause, parts: tuple[Part, ...]) -> str:
        """`parts`: those that are conditions of this clause are written in its WHERE."""
        patterns, conditions = self._patterns(clause)
        conditions += [self._condition(part, clause.mode) for part in parts if part.kind != "optional"]
        mode = f" {clause.mode.upper()}" if self.with_modes else ""
        return f"{word}{mode} {patterns}{_where(conditions)}"

    def _condition(self, part: Part, mode: str) -> str:
        """A bare pattern where that can say it, or EXISTS; `mode` is that of the clause around it."""
        clause, paths = part.clause, self.paths[part.clause]
        patterns, conditions = self._patterns(clause)
        bare = len(paths) == 1 and paths[0][1] and not conditions and self.anonymous.issuperset(part.names)
        negation = "NOT " if part.kind == "absent" else ""
        if bare and clause.mode == mode and self.random.random() < 0.8:
            return negation + patterns
        match = "" if clause.mode == mode and self.random.random() < 0.5 else "MATCH "
        if match and self.with_modes:
            match += f"{clause.mode.upper()} "
        return f"{negation}EXISTS {{ {match}{patterns}{_where(conditions)} }}"

    def _patterns(self, clause: Clause) -> tuple[str, list[str]]:
        """The text of the patterns, and of the conditions that have not moved into them."""
        conditions = list(clause.conditions)
        self.random.shuffle(conditions)
        patterns = ", ".join(self._path(path, conditions) for path in self.paths[clause])
        return patterns, [self._expression(condition) for condition in conditions]

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
        """Label tests and property equalities may move from `conditions` into an element's brackets."""
        vertices = {vertex.name: vertex for vertex in self.query.all_vertices}
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
        elif (test := _label_test(element.name, conditions)) is not None and self.random.random() < 0.5:
            conditions.remove(test)
            text += ":" + self._label_text(test.labels)
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
            case Labelled(variable=name, labels=labels):
                return f"({name}:{self._label_text(labels)})"
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


def _needs(part: Part) -> set[str]:
    """What must be bound before an optional clause can stand."""
    clauses = [part.clause, *(condition.clause for condition in part.conditions)]
    read = {name for clause in clauses for condition in clause.conditions for name in variables(condition)}
    mentioned = {name for clause in clauses for name in clause.vertices}
    return (read | mentioned) - {name for each in (part, *part.conditions) for name in each.names}


def _label_test(name: str, conditions: list[Expression]) -> Labelled | None:
    return next((test for test in conditions if isinstance(test, Labelled) and test.variable == name), None)


def _where(conditions: list[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _mentioned(path: Path) -> Iterator[str]:
    start, steps = path
    yield start
    for edge, there in steps:
        yield edge.name
        yield there
