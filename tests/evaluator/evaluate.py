"""What expressions give under a binding of the names, and which bindings MATCH adds. Each may be within the other."""

from collections.abc import Callable, Iterator, Sequence, Set
from decimal import Decimal
from functools import partial

from tests.evaluator.functions import AGGREGATES, QUANTIFIED, STRICT, TIME_FIELDS, WITH_NULL
from tests.evaluator.values import Binding, Edge, Failure, Graph, Path, Value, Vertex, WrittenText, as_written, sort_key
from tests.soak import tree as ast


def evaluate(tree: ast.Expression, binding: Binding, graph: Graph, group: Sequence[Binding] = ()) -> Value:
    """The value under a binding. `group`: the bindings that aggregates run over."""
    inner = partial(evaluate, binding=binding, graph=graph, group=group)
    match tree:
        case ast.Literal(value):
            return value
        case ast.Variable(name):
            return binding[name]
        case ast.Property(subject, key):
            value = inner(subject)
            if isinstance(value, Vertex | Edge | dict):
                return getattr(value, "properties", value).get(key)
            return None if value is None else TIME_FIELDS[key](value)
        case ast.MapOf(entries):
            return {key: inner(value) for key, value in entries}
        case ast.HasLabel(name, labels):
            value = binding[name]
            found = {value.type} if isinstance(value, Edge) else getattr(value, "labels", set())
            return None if value is None else has_labels(labels, found)
        case ast.Count(clause):
            return sum(1 for _ in required(graph, clause, binding))
        case ast.Exists(clause):
            return any(True for _ in required(graph, clause, binding))
        case ast.Items(form, item, items):
            found = [{**binding, item: each} for each in inner(items) or ()]
            truths = [tree.condition is None or evaluate(tree.condition, each, graph) for each in found]
            kept = [each for each, truth in zip(found, truths, strict=True) if truth is True]
            result = ast.Variable(item) if tree.result is None else tree.result
            values = [evaluate(result, each, graph) for each in kept] if form == "list" else []
            return None if inner(items) is None else values if form == "list" else QUANTIFIED[form](truths)
        case ast.Reduce(sofar, initial, item, items, step):
            last = inner(initial)
            for each in inner(items) or ():
                last = evaluate(step, {**binding, sofar: last, item: each}, graph)
            return None if inner(items) is None else last
        case ast.Aggregate(name, argument, distinct):
            values = [True if argument is None else evaluate(argument, each, graph) for each in group]
            present = [value for value in values if value is not None]
            if distinct:
                present = list({sort_key(value): value for value in reversed(present)}.values())
            return _held(AGGREGATES[name], [present])
        case ast.Call(name, arguments):
            values = [inner(argument) for argument in arguments]
            if name in ("=", "<>", "<", "<=", ">", ">=", "in"):
                values = [_written(*each) for each in zip(arguments, values, strict=True)]
            if name in ("+", "-", "*", "%") and any(isinstance(value, Decimal) for value in values):
                pairs = zip(arguments, values, strict=True)
                values = [as_written(value) if part == ast.Literal(value) else value for part, value in pairs]
            if name in WITH_NULL:
                return WITH_NULL[name](*values)
            return None if None in values else _held(STRICT[name], values)
    raise AssertionError(tree)


def _written(tree: ast.Expression, value: Value) -> Value:
    """An operand of a comparison; constant texts are marked as such."""
    match tree, value:
        case ast.Literal(), str():
            return WrittenText(value)
        case ast.Literal(), list():
            return [_written(tree, item) for item in value]
        case ast.Call("list", items), list():
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


def matches(graph: Graph, clause: ast.Match, binding: Binding) -> Iterator[Binding]:
    """All that make the binding longer; with nulls where an optional clause has none."""
    found = required(graph, clause, binding)
    yield from (list(found) or [dict.fromkeys(clause.names()) | dict(binding)]) if clause.optional else found


def required(graph: Graph, clause: ast.Match, binding: Binding) -> Iterator[Binding]:
    for found in _walked(graph, clause.walks, binding):
        conditions = (evaluate(condition, found, graph) for condition in clause.conditions())
        if _mode_allows(graph, clause, found) and all(truth is True for truth in conditions):
            yield found


def has_labels(labels: ast.Labels | None, found: Set[str]) -> bool:
    match labels:
        case ast.Labels("!", (part,)):
            return not has_labels(part, found)
        case ast.Labels("&" | "|" as operator, parts):
            return (all if operator == "&" else any)(has_labels(part, found) for part in parts)
    return labels is None or (bool(found) if labels.operator == "%" else labels.operator in found)


def _walked(graph: Graph, walks: Sequence[ast.Walk], binding: Binding) -> Iterator[Binding]:
    """The walks through the graph one after the other, each wherever it leads."""
    if not walks:
        yield binding
        return
    walk, *rest = walks
    for vertex in graph.vertices:
        if _can_be(binding, walk.start, vertex):
            for found, way in _stepped(graph, walk.steps, {**binding, walk.start.name: vertex}, Path((vertex,))):
                yield from _walked(graph, rest, {**found, walk.name: way} if walk.name else found)


def _stepped(graph: Graph, steps: tuple[ast.Step, ...], binding: Binding, way: Path) -> Iterator[tuple[Binding, Path]]:
    if not steps:
        yield binding, way
        return
    step = steps[0]
    for edge in graph.edges:
        ends = (("in", edge.target, edge.source), ("out", edge.source, edge.target))
        # A loop leads to its own vertex, once also without a direction.
        for there in {end for to, begin, end in ends if begin is way[-1] and step.direction in (to, "both")}:
            known = has_labels(step.types, {edge.type}) and binding.get(step.name, edge) is edge
            if known and _can_be(binding, step.target, there):
                longer = {**binding, step.name: edge, step.target.name: there}
                yield from _stepped(graph, steps[1:], longer, Path((*way, edge, there)))


def _can_be(binding: Binding, node: ast.Node, vertex: Vertex) -> bool:
    return has_labels(node.labels, vertex.labels) and binding.get(node.name, vertex) is vertex


def _mode_allows(graph: Graph, clause: ast.Match, binding: Binding) -> bool:
    steps = [pair for walk in clause.walks for pair in zip(walk.nodes, walk.steps, strict=False)]
    names = {node.name for walk in clause.walks for node in walk.nodes}
    different = len({binding[name] for name in names}) == len(names)
    match clause.mode:
        case "different edges":
            return len({binding[step.name] for _, step in steps}) == len(steps)
        case "induced":  # all edges between the vertices are in the pattern; one without a direction is both
            pairs = {(node.name, step.target.name) for node, step in steps if step.direction != "in"}
            pairs |= {(step.target.name, node.name) for node, step in steps if step.direction != "out"}
            free = {(binding[one], binding[two]) for one in names for two in names if (one, two) not in pairs}
            return different and not any((edge.source, edge.target) in free for edge in graph.edges)
    return different or clause.mode != "different nodes"
