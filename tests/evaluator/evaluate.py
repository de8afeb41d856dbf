"""What expressions give under a binding of the names, and which bindings MATCH adds. Each may be within the other."""

from collections.abc import Callable, Iterator, Sequence, Set
from decimal import Decimal
from functools import partial
from itertools import cycle, pairwise

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
    for found in _walked(graph, clause, clause.walks, binding):
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


def _walked(graph: Graph, clause: ast.Match, walks: Sequence[ast.Walk], binding: Binding) -> Iterator[Binding]:
    """The walks through the graph one after the other, each wherever it leads."""
    if not walks:
        yield binding
        return
    walk, *rest = walks
    found = (
        each
        for vertex in graph.vertices
        if _can_be(binding, walk.start, vertex)
        for each in _stepped(graph, clause, walk, walk.steps, {**binding, walk.start.name: vertex}, Path((vertex,)))
        if is_kept(walk.mode, each[1]) and (walk.shortest is None or _fits_alone(graph, clause, walk, each[0]))
    )
    for longer, way in found if walk.shortest is None else _shortest(walk.shortest, found):
        yield from _walked(graph, clause, rest, {**longer, walk.name: way} if walk.name else longer)


def _fits_alone(graph: Graph, clause: ast.Match, walk: ast.Walk, binding: Binding) -> bool:
    """Whether a walk may be one of the shortest, whatever the others of its clause are."""
    alone = ast.Match("different nodes" if clause.mode == "induced" else clause.mode, (walk,))
    told = all(evaluate(condition, binding, graph) is True for condition in alone.conditions())
    return told and _mode_allows(graph, alone, binding)


def _shortest(wanted: int | str, found: Iterator[tuple[Binding, Path]]) -> Iterator[tuple[Binding, Path]]:
    """So many of the shortest ways between the same two vertices, or all that are as short as the shortest."""
    taken: dict[tuple[Vertex, Vertex], list[int]] = {}
    for binding, way in sorted(found, key=lambda each: len(each[1])):
        lengths = taken.setdefault((way[0], way[-1]), [])
        if lengths[:1] in ([], [len(way)]) if wanted == "all" else len(lengths) < int(wanted):
            lengths.append(len(way))
            yield binding, way


def _stepped(
    graph: Graph, clause: ast.Match, walk: ast.Walk, steps: tuple[ast.Step, ...], binding: Binding, way: Path
) -> Iterator[tuple[Binding, Path]]:
    if not steps:
        yield binding, way
        return
    step, *rest = steps
    plain = ((longer, {}) for longer in _repeated(graph, clause, walk, step, binding, way, (0, len(way))))
    for longer, lists in plain if step.inside is None else _times(graph, clause, step, binding, way, []):
        edges = list(longer[len(way) :][::2])
        value = edges[0] if step.length is None else edges
        before = binding.get(step.name, value)
        known = before == value if isinstance(before, list) else before is value
        if known and _can_be(binding, step.target, longer[-1]):
            inner = {**lists, step.name: value, f"{step.name} between": longer[len(way) : -1][1::2]}
            found = {**binding, **inner, step.target.name: longer[-1]}
            yield from _stepped(graph, clause, walk, tuple(rest), found, longer)


def _times(
    graph: Graph, clause: ast.Match, step: ast.Step, binding: Binding, way: Path, times: Sequence[Binding]
) -> Iterator[tuple[Path, Binding]]:
    """The way with a pattern in brackets behind it, as often as may be, and the lists that its names stand for."""
    assert step.inside is not None
    assert step.length is not None
    walk = step.inside
    alone = ast.Match(clause.mode, (walk,), step.where)
    if step.length[0] <= len(times):
        yield way, {name: [each[name] for each in times] for name in alone.names()}
    if len(times) == step.length[1] or not _can_be({}, walk.start, way[-1]):
        return
    begun = {**binding, walk.start.name: way[-1]}
    for found, longer in _stepped(graph, clause, walk, walk.steps, begun, way):
        if all(evaluate(condition, found, graph) is True for condition in alone.conditions()):
            yield from _times(graph, clause, step, binding, longer, [*times, found])


_PATH_MODES = {"different edges": "trail", "different nodes": "simple", "induced": "simple"}


def _repeated(
    graph: Graph, clause: ast.Match, walk: ast.Walk, step: ast.Step, binding: Binding, way: Path, done: tuple[int, int]
) -> Iterator[Path]:
    """The way with as many edges more as the step may have. done: how many it has, and the length before them."""
    hops, begin = done
    least, most = step.length or (1, 1)
    modes = {walk.mode, _PATH_MODES.get(clause.mode)} - {None, "walk"}
    if most is None and not modes and walk.shortest is None:
        raise Failure("there is no end of walks of any length")
    most = len(graph.vertices) if most is None and not modes else most  # no shortest walk has more edges
    if least <= hops:
        yield way
    for edge in graph.edges if hops != most else ():
        if way[-1] is not edge.source and way[-1] is not edge.target:
            continue
        ends = (("in", edge.target, edge.source), ("out", edge.source, edge.target))
        # A loop leads to its own vertex, once also without a direction.
        for there in {end for to, begin_, end in ends if begin_ is way[-1] and step.direction in (to, "both")}:
            longer = Path((*way, edge, there))
            allowed = step.length is None or all(is_kept(mode, Path(longer[begin - 1 :])) for mode in modes)
            if has_labels(step.types, {edge.type}) and allowed and _each(graph, step, edge, binding):
                yield from _repeated(graph, clause, walk, step, binding, longer, (hops + 1, begin))


def _each(graph: Graph, step: ast.Step, edge: Edge, binding: Binding) -> bool:
    """What is asked of every edge of a step of variable length."""
    tests = [ast.Call("=", (ast.Property(ast.Variable(step.name), key), value)) for key, value in step.properties]
    tests += [] if step.where is None else [step.where]
    inner = {**binding, step.name: edge}
    return step.length is None or all(evaluate(test, inner, graph) is True for test in tests)


def is_kept(mode: str | None, way: Path) -> bool:
    """Whether a way has nothing twice that it must not."""
    vertices, edges = way[::2], way[1::2]
    match mode:
        case "trail":
            return len(set(edges)) == len(edges)
        case "acyclic":
            return len(set(vertices)) == len(vertices)
        case "simple":  # its ends may be one
            return all(len(set(part)) == len(part) for part in (vertices[1:], vertices[:-1]))
    return True


def _can_be(binding: Binding, node: ast.Node, vertex: Vertex) -> bool:
    return has_labels(node.labels, vertex.labels) and binding.get(node.name, vertex) is vertex


def _mode_allows(graph: Graph, clause: ast.Match, binding: Binding) -> bool:
    if clause.mode == "repeatable elements":
        return True
    places, pairs, edges = _laid_out(clause, binding)
    different = len(set(places.values())) == len(places)
    match clause.mode:
        case "different edges":
            return len(set(edges)) == len(edges)
        case "induced":  # all edges between the vertices are in the pattern; one without a direction is both
            free = {(places[one], places[two]) for one in places for two in places if (one, two) not in pairs}
            return different and not any((edge.source, edge.target) in free for edge in graph.edges)
    return different  # nodes


def _laid_out(clause: ast.Match, binding: Binding) -> tuple[dict[str, Vertex], set[tuple[str, str]], list[Edge]]:
    """The pattern with lengths written out: its vertices by name, which of them it joins, and its edges. Over a length
    of zero two names are one vertex."""
    steps = [pair for walk in clause.walks for pair in zip(walk.nodes, walk.steps, strict=False)]
    same = {node.name: node.name for walk in clause.walks for node in walk.nodes}
    for node, step in steps:
        if binding[step.name] == []:
            one, other = same[step.target.name], same[node.name]
            same = {name: other if to == one else to for name, to in same.items()}
    places = {to: binding[to] for to in same.values()}
    pairs: set[tuple[str, str]] = set()
    edges: list[Edge] = []
    for node, step in steps:
        between = {f"{step.name} {place}": vertex for place, vertex in enumerate(binding[f"{step.name} between"])}
        places |= between
        edges += [binding[step.name]] if step.length is None else binding[step.name]
        line = [same[node.name], *between, same[step.target.name]] if binding[step.name] != [] else []
        directions = cycle(each.direction for each in ((step,) if step.inside is None else step.inside.steps))
        for (one, other), direction in zip(pairwise(line), directions, strict=False):
            pairs |= {(one, other)} if direction != "in" else set()
            pairs |= {(other, one)} if direction != "out" else set()
    return places, pairs, edges
