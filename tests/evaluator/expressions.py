"""What expressions give under a binding of the names."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial

from tests.evaluator import matching
from tests.evaluator.functions import AGGREGATES, STRICT, TIME_FIELDS, WITH_NULL
from tests.evaluator.values import Binding, Edge, Failure, Graph, Value, Vertex, WrittenText, as_written, sort_key
from tests.soak.tree import Aggregate, Call, Exists, Expression, HasLabel, Literal, MapOf, Property, Variable


def evaluate(tree: Expression, binding: Binding, graph: Graph, group: Sequence[Binding] = ()) -> Value:
    """The value under a binding. `group`: the bindings that aggregates run over."""
    inner = partial(evaluate, binding=binding, graph=graph, group=group)
    match tree:
        case Literal(value):
            return value
        case Variable(name):
            return binding[name]
        case Property(subject, key):
            value = inner(subject)
            if isinstance(value, Vertex | Edge | dict):
                return getattr(value, "properties", value).get(key)
            return None if value is None else TIME_FIELDS[key](value)
        case MapOf(entries):
            return {key: inner(value) for key, value in entries}
        case HasLabel(name, labels):
            value = binding[name]
            found = {value.type} if isinstance(value, Edge) else getattr(value, "labels", set())
            return None if value is None else matching.has_labels(labels, found)
        case Exists(clause):
            return any(True for _ in matching.required(graph, clause, binding))
        case Aggregate(name, argument, distinct):
            values = [True if argument is None else evaluate(argument, each, graph) for each in group]
            present = [value for value in values if value is not None]
            if distinct:
                present = list({sort_key(value): value for value in reversed(present)}.values())
            return _held(AGGREGATES[name], [present])
        case Call(name, arguments):
            values = [inner(argument) for argument in arguments]
            if name in ("=", "<>", "<", "<=", ">", ">=", "in"):
                values = [_written(*each) for each in zip(arguments, values, strict=True)]
            if name in ("+", "-", "*", "%") and any(isinstance(value, Decimal) for value in values):
                pairs = zip(arguments, values, strict=True)
                values = [as_written(value) if part == Literal(value) else value for part, value in pairs]
            if name in WITH_NULL:
                return WITH_NULL[name](*values)
            return None if None in values else _held(STRICT[name], values)
    raise AssertionError(tree)


def _written(tree: Expression, value: Value) -> Value:
    """An operand of a comparison; constant texts are marked as such."""
    match tree, value:
        case Literal(), str():
            return WrittenText(value)
        case Literal(), list():
            return [_written(tree, item) for item in value]
        case Call("list", items), list():
            return [_written(*each) for each in zip(items, value, strict=True)]
    return value


def _held(function: Callable[..., Value], values: Sequence[Value]) -> Value:
    """What the function gives, in 64 bits if it is an integer. Python's errors are the language's."""
    try:
        result = function(*values)
    except (ArithmeticError, ValueError) as error:
        raise Failure(str(error)) from error
    if type(result) is int and not -(2**63) <= result < 2**63:
        raise Failure("beyond 64 bits")
    return result
