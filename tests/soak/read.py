"""The evaluator's tree of a query that is written as text, so that tests can say what they ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from gquery.grammar import ast, parse
from tests.evaluator.functions import AGGREGATES, STRICT, WITH_NULL
from tests.evaluator.values import Value
from tests.soak.patterns import joined
from tests.soak.tree import (
    Aggregate,
    Call,
    Clause,
    Entries,
    Exists,
    Expression,
    HasLabel,
    Items,
    Labels,
    Literal,
    MapOf,
    Match,
    Node,
    Projection,
    Property,
    Query,
    Reduce,
    Step,
    Unwind,
    Variable,
    Walk,
)


def read(text: str, parameters: Mapping[str, Value] | None = None) -> Query:
    """Raises NotImplementedError for what the evaluator does not know."""
    reader = _Reader(parameters or {})
    return Query(tuple(map(reader.clause, parse(text).clauses)))


def expression(parsed: ast.Expression, parameters: Mapping[str, Value]) -> Expression:
    return _Reader(parameters).expression(parsed)


@dataclass
class _Reader:
    """names: the visible ones so far, which `*` stands for."""

    parameters: Mapping[str, Value]
    names: list[str] = field(default_factory=list)
    mode: str = "different edges"
    numbers: Iterable[int] = field(default_factory=count)

    def clause(self, clause: ast.Clause) -> Clause:
        match clause:
            case ast.Match():
                return self.match(clause)
            case ast.Return() | ast.With():
                return self.projection(clause)
            case ast.Unwind(items, variable):
                values = self.expression(items)
                self.names.append(variable.name)
                return Unwind(values, variable.name)
        raise NotImplementedError(type(clause).__name__)

    def projection(self, clause: ast.Return | ast.With) -> Projection:
        star = [(Variable(name), name) for name in sorted(self.names) if clause.star]
        named = [(self.expression(item.expression), _alias(item)) for item in clause.items]
        self.names = [alias for _, alias in (*star, *named)]
        order = tuple((self.expression(item.expression), item.descending) for item in clause.order_by)
        where = self.expression(clause.where) if isinstance(clause, ast.With) and clause.where is not None else None
        skip, limit = self.number(clause.skip), self.number(clause.limit)
        return Projection((*star, *named), clause.distinct, order, skip, limit, where)

    def number(self, parsed: ast.Expression | None) -> int | None:
        if parsed is None:
            return None
        match self.expression(parsed):
            case Literal(int() as value):
                return value
        raise NotImplementedError("SKIP and LIMIT of an expression")

    def match(self, match: ast.Match) -> Match:
        self.mode = match.mode or "different edges"
        conditions: list[Expression] = []
        walks = tuple(self.walk(path, conditions) for path in match.patterns)
        made = Match(self.mode, walks)
        self.names += [name for name in dict.fromkeys(made.names()) if name[0] != "_" and name not in self.names]
        conditions += [] if match.where is None else [self.expression(match.where)]
        return replace(made, where=joined(conditions), optional=match.optional)

    def walk(self, path: ast.PathPattern, conditions: list[Expression]) -> Walk:
        """`conditions` takes what is asked of the edges inside their brackets."""
        start, *targets = map(self.node, path.nodes)
        steps = []
        for each, target in zip(path.relationships, targets, strict=True):
            name = self.name(each.variable)
            if each.inside is not None and each.length is not None:
                inner: list[Expression] = [] if each.where is None else [self.expression(each.where)]
                inside, times = self.walk(each.inside, inner), (each.length.least, each.length.most)
                steps.append(Step(name, "both", target, length=times, where=joined(inner), inside=inside))
                continue
            types = None if each.types is None else self.labels(each.types)
            step = Step(name, each.direction, target, types, self.entries(each.properties))
            where = [] if each.where is None else [self.expression(each.where)]
            if each.length is not None:
                length = (each.length.least, each.length.most)
                step, where = replace(step, length=length, where=joined(where)), []
            steps.append(step)
            conditions += where
        name = None if path.variable is None else path.variable.name
        return Walk(start, tuple(steps), name, path.mode, path.shortest)

    def node(self, node: ast.NodePattern) -> Node:
        labels = None if node.labels is None else self.labels(node.labels)
        where = None if node.where is None else self.expression(node.where)
        return Node(self.name(node.variable), labels, self.entries(node.properties), where)

    def name(self, variable: ast.Variable | None) -> str:
        return f"_{next(iter(self.numbers))}" if variable is None else variable.name

    def entries(self, properties: ast.MapLiteral | ast.Parameter | None) -> Entries:
        match properties:
            case ast.MapLiteral(entries=entries):
                return tuple((entry.key, self.expression(entry.value)) for entry in entries)
            case ast.Parameter(name=name):
                return tuple((key, Literal(value)) for key, value in self.parameters[name].items())
        return ()

    def labels(self, parsed: ast.LabelExpression) -> Labels:
        match parsed:
            case ast.LabelName(name=name):
                return Labels(name)
            case ast.LabelNot(operand=operand):
                return Labels("!", (self.labels(operand),))
            case ast.LabelAnd(left=left, right=right):
                return Labels("&", (self.labels(left), self.labels(right)))
            case ast.LabelOr(left=left, right=right):
                return Labels("|", (self.labels(left), self.labels(right)))
        return Labels("%")

    def expression(self, parsed: ast.Expression) -> Expression:
        match parsed:
            case ast.Literal(value=value):
                return Literal(value)
            case ast.Parameter(name=name):
                return Literal(self.parameters[name], name)
            case ast.Variable(name=name):
                return Variable(name)
            case ast.ListLiteral(items=items):
                return Call("list", tuple(map(self.expression, items)))
            case ast.MapLiteral(entries=entries):
                return MapOf(tuple((entry.key, self.expression(entry.value)) for entry in entries))
            case ast.Property(subject=subject, key=key):
                return Property(self.expression(subject), key)
            case ast.Unary(operator=operator, operand=operand):
                return Call({"-": "negative"}.get(operator, operator), (self.expression(operand),))
            case ast.Binary(operator=operator, left=left, right=right):
                return Call(operator, (self.expression(left), self.expression(right)))
            case ast.LabelTest(subject=ast.Variable(name=name), labels=labels):
                return HasLabel(name, self.labels(labels))
            case ast.Index(subject=subject, index=index):
                return Call("index", (self.expression(subject), self.expression(index)))
            case ast.Slice(subject=subject, start=ast.Expression() as start, end=ast.Expression() as end):
                return Call("slice", tuple(map(self.expression, (subject, start, end))))
            case ast.Comprehension(form=form, variable=variable, items=items, where=where, result=result):
                asked = [None if part is None else self.expression(part) for part in (where, result)]
                return Items(form, variable.name, self.expression(items), *asked)
            case ast.Reduce(accumulator=sofar, initial=initial, variable=variable, items=items, step=step):
                begin, listed, next_ = map(self.expression, (initial, items, step))
                return Reduce(sofar.name, begin, variable.name, listed, next_)
            case ast.FunctionCall():
                return self.call(parsed)
            case ast.Case():
                return self.case(parsed)
            case ast.PatternPredicate(pattern=pattern):
                return Exists(Match(self.mode, (self.walk(pattern, []),)), bare=True)
            case ast.Exists(match=match):
                outside = list(self.names)
                inside = self.match(match)
                self.names = outside
                return Exists(inside)
        raise NotImplementedError(type(parsed).__name__)

    def call(self, parsed: ast.FunctionCall) -> Expression:
        arguments = tuple(map(self.expression, parsed.arguments))
        if parsed.name in AGGREGATES:
            return Aggregate(parsed.name, None if parsed.star else arguments[0], parsed.distinct)
        if parsed.name in ("date", "datetime", "localdatetime") and any(isinstance(each, MapOf) for each in arguments):
            raise NotImplementedError("times made of maps")
        if parsed.name not in STRICT and parsed.name not in WITH_NULL:
            raise NotImplementedError(parsed.name)
        return Call(parsed.name, arguments)

    def case(self, parsed: ast.Case) -> Expression:
        parts: list[Expression] = []
        for branch in parsed.branches:
            condition = self.expression(branch.condition)
            if parsed.subject is not None:
                condition = Call("=", (self.expression(parsed.subject), condition))
            parts += [condition, self.expression(branch.value)]
        return Call("case", (*parts, Literal(None) if parsed.default is None else self.expression(parsed.default)))


def _alias(item: ast.ProjectionItem) -> str:
    return item.alias or (item.expression.name if isinstance(item.expression, ast.Variable) else item.text)
