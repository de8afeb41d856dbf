"""What expressions give, with null and its three-valued logic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal

from tests.evaluator import matching
from tests.evaluator.functions import AGGREGATES, STRICT, TIME_FIELDS
from tests.evaluator.logic import WITH_NULL
from tests.evaluator.tree import Aggregate, Call, Exists, Expression, HasLabel, Literal, MapOf, Property, Variable
from tests.evaluator.values import Edge, Failure, Graph, Value, Vertex, WrittenText, sort_key

Binding = Mapping[str, Value]


def evaluate(tree: Expression, binding: Binding, graph: Graph, group: Sequence[Binding] = ()) -> Value:
    """The value under a binding. `group`: the bindings that aggregates run over."""

    def inner(part: Expression) -> Value:
        return evaluate(part, binding, graph, group)

    match tree:
        case Literal(value):
            return value
        case Variable(name):
            return binding[name]
        case Property(subject, key):
            return read(inner(subject), key)
        case MapOf(entries):
            return {key: inner(value) for key, value in entries}
        case HasLabel(name, labels):
            return matching.has_labels(labels, binding[name].labels)
        case Exists(clause):
            return any(True for _ in matching.clause_matches(graph, clause, binding))
        case Aggregate(name, None):
            return len(group)
        case Aggregate(name, argument, distinct):
            values = [evaluate(argument, each, graph) for each in group] if argument else []
            present = [value for value in values if value is not None]
            if distinct:
                present = list({sort_key(value): value for value in reversed(present)}.values())
            return AGGREGATES[name](present)
        case Call(name, arguments):
            values = [inner(argument) for argument in arguments]
            if name in COMPARISONS:
                values = [written(*each) for each in zip(arguments, values, strict=True)]
            if name in ARITHMETIC and any(isinstance(value, Decimal) for value in values):
                values = [beside_decimal(*each) for each in zip(arguments, values, strict=True)]
            if name in WITH_NULL:
                return WITH_NULL[name](*values)
            return None if None in values else strict(name, *values)
    raise AssertionError(tree)


COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "in"})


def written(tree: Expression, value: Value) -> Value:
    """An operand of a comparison; constant texts are marked as such."""
    match tree, value:
        case Literal(), str():
            return WrittenText(value)
        case Literal(), list():
            return [written(tree, item) for item in value]
        case Call("list", items), list():
            return [written(*each) for each in zip(items, value, strict=True)]
    return value


ARITHMETIC = frozenset("+-*%")


def beside_decimal(tree: Expression, value: Value) -> Value:
    """An operand beside a decimal: a float that is written there is the number that stands there, and no float."""
    match tree, value:
        case Literal(parameter=None), float() if math.isfinite(value):
            return Decimal(repr(value)) if abs(value) < 2**53 else Decimal(value)
    return value


def strict(name: str, *values: Value) -> Value:
    """A function that gives null for any null."""
    result = STRICT[name](*values)
    if type(result) is int and not -(2**63) <= result < 2**63:
        raise Failure("beyond 64 bits")
    return result


def read(subject: Value, key: str) -> Value:
    match subject:
        case None:
            return None
        case dict():
            return subject.get(key)
        case Vertex() | Edge():
            return subject.properties.get(key)
    return TIME_FIELDS[key](subject)
