"""Random data graphs and random queries that fit them, from a seeded source."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from tests.differential.forms import (
    Attribute,
    Clause,
    Constant,
    DataGraph,
    Edge,
    Element,
    Expression,
    Label,
    Operation,
    Query,
    QueryEdge,
    QueryVertex,
    Value,
    Vertex,
    elements,
    has_labels,
    variables,
)

MODES = ("different edges", "different nodes", "repeatable elements", "induced")
NUMBERS = ("x", "y", "w", "eid")
NUMBER_OPERATORS = ("=", "=", "<>", "<", "<=", ">", ">=")
TEXT_OPERATORS = ("=", "=", "<>", "<", ">=", "starts with")
VALUES: dict[str, tuple[Value, ...]] = {
    "x": (0, 1, 1, 2, 3, None),
    "y": (0.0, 1.0, 1.5, 2.0, None),
    "name": ("a", "ab", "b", "", None),
    "w": (0, 1, 2, 2, None),
    "tag": ("a", "b", "c", None),
}


def random_graph(random: Random, max_vertices: int) -> DataGraph:
    """From empty up to `max_vertices`; sparse to dense, with loops, parallel edges and isolated vertices."""
    sets = [frozenset(labels) for labels in ("", "A", "B", "C", "AB", "BC", "ABC")]
    label_sets = {labels: _some(random, ("x", "y", "name")) for labels in random.sample(sets, random.randint(1, 4))}
    types = {type: ("eid", *_some(random, ("w", "tag"))) for type in random.sample("XYZ", random.randint(1, 3))}
    number = random.randint(0, max_vertices)
    numbers = random.sample(range(10 * max_vertices), number)
    prefix = random.choice([None, "v"])
    ids: list[int | str] = list(numbers) if prefix is None else [f"{prefix}{number}" for number in numbers]
    vertices = [_vertex(random, id, label_sets) for id in ids]
    pairs = [(random.choice(ids), random.choice(ids)) for _ in range(random.randint(0, 5 * number // 2))] if ids else []
    again = [pair for pair in pairs if random.random() < 0.15]
    pairs += [random.choice([pair, pair[::-1], (pair[0], pair[0])]) for pair in again]
    edges = [_edge(random, eid, pair, types) for eid, pair in enumerate(pairs)]
    return DataGraph(label_sets, types, tuple(vertices), tuple(edges))


def random_query(random: Random, graph: DataGraph, connected: bool = False) -> Query:
    """A query of one to six vertices whose labels, types and properties the graph knows."""
    labels = sorted({label for labels in graph.label_sets for label in labels})
    names = [f"a{index}" for index in range(random.choice([1, 2, 2, 3, 3, 3, 4, 4, 5, 6]))]
    vertices = tuple(QueryVertex(name, random_labels(random, labels, 0.5)) for name in names)
    pairs = _pairs(random, names, 0.0 if connected else 0.12)
    types = sorted(graph.types)
    edges = [
        QueryEdge(f"r{index}", *pair, random_types(random, types), random.random() < 0.6)
        for index, pair in enumerate(pairs)
    ]
    mode = random.choice(MODES)
    keys = known_keys(graph, vertices, edges)
    clauses: list[Clause] = []
    for part, mentioned in _split(random, names, edges):
        readable = [name for clause in clauses for name in elements(clause)] + mentioned + [edge.name for edge in part]
        conditions = random_conditions(random, sorted(set(readable)), keys)
        clauses.append(Clause(mode, tuple(mentioned), tuple(part), conditions))
    read = {name for clause in clauses for condition in clause.conditions for name in variables(condition)}
    hidden = {name for name in [*names, *(edge.name for edge in edges)] if name not in read and random.random() < 0.3}
    return Query(vertices, tuple(clauses), frozenset(hidden))


def _some(random: Random, keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(key for key in keys if random.random() < 0.8)


def _properties(random: Random, keys: tuple[str, ...]) -> dict[str, Value]:
    return {key: random.choice(VALUES[key]) for key in keys if key in VALUES}


def _vertex(random: Random, id: int | str, label_sets: dict[frozenset[str], tuple[str, ...]]) -> Vertex:
    labels = random.choice(list(label_sets))
    return Vertex(id, labels, _properties(random, label_sets[labels]))


def _edge(random: Random, eid: int, ends: tuple[int | str, int | str], types: dict[str, tuple[str, ...]]) -> Edge:
    type = random.choice(list(types))
    return Edge(*ends, type, {"eid": eid} | _properties(random, types[type]))


def random_labels(random: Random, known: list[str], chance: float) -> Expression | None:
    if random.random() >= chance:
        return None
    if not known:
        return Label("%") if random.random() < 0.5 else Operation("!", (Label("%"),))
    operator = random.choice(["name", "name", "name", "any", "!", "&", "|"])
    if operator == "name":
        return Label(random.choice(known))
    if operator == "any":
        return Label("%")
    if operator == "!":
        return Operation("!", (Label(random.choice([*known, "%"])),))
    parts = [random_labels(random, known, 1.0) for _ in range(2)]
    return Operation(operator, tuple(part for part in parts if part is not None))


def random_types(random: Random, known: list[str]) -> Expression | None:
    if random.random() < 0.3:
        return None
    chosen = random.sample(known, random.randint(1, min(2, len(known))))
    if len(chosen) == 1:
        return Label(chosen[0])
    return Operation("|", tuple(Label(type) for type in chosen))


def _pairs(random: Random, names: list[str], gap: float) -> list[tuple[str, str]]:
    """Ends of query edges: a tree (with gaps), then edges that close cycles, double an edge or make a loop."""
    tree = [(random.choice(names[:index]), names[index]) for index in range(1, len(names)) if random.random() >= gap]
    extra: list[tuple[str, str]] = []
    match random.choice(["tree", "tree", "cycle", "clique", "double", "loop", "any"]):
        case "cycle" if len(names) > 2:
            tree = list(pairwise(names))
            extra = [(names[-1], names[0])]
        case "clique" if len(names) <= 4:
            tree = [(names[i], names[j]) for j in range(len(names)) for i in range(j)]
        case "double" if tree:
            extra = [random.choice(tree)]
        case "loop":
            extra = [(name := random.choice(names), name)]
        case "any":
            extra = [(random.choice(names), random.choice(names)) for _ in range(random.randint(1, 2))]
    return [pair if random.random() < 0.5 else pair[::-1] for pair in (*tree, *extra)]


def _split(random: Random, names: list[str], edges: list[QueryEdge]) -> list[tuple[list[QueryEdge], list[str]]]:
    """Parts the edges, in order, among one to three clauses; every vertex is mentioned at least once."""
    number = random.choice([1, 1, 1, 2, 2, 3])
    cuts = sorted(random.randint(0, len(edges)) for _ in range(number - 1))
    parts = [edges[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(edges)], strict=True)]
    mentions = [[name for name in names if any(name in (e.source, e.target) for e in part)] for part in parts]
    for name in names:
        if not any(name in mentioned for mentioned in mentions):
            mentions[random.randrange(number)].append(name)
    for mentioned in mentions:
        if not mentioned or random.random() < 0.05:
            mentioned.extend({random.choice(names)} - set(mentioned))
    return list(zip(parts, mentions, strict=True))


def known_keys(graph: DataGraph, vertices: tuple[QueryVertex, ...], edges: list[QueryEdge]) -> dict[str, list[str]]:
    """For each variable the properties that some table has which its label expression admits."""
    tables = [(labels, keys) for labels, keys in graph.label_sets.items()]
    typed = [(frozenset({type}), keys) for type, keys in graph.types.items()]
    admitted = [(v.name, v.labels, tables) for v in vertices] + [(e.name, e.types, typed) for e in edges]
    return {
        name: sorted({key for labels, keys in choices if has_labels(expression, labels) for key in keys})
        for name, expression, choices in admitted
    }


def random_conditions(random: Random, readable: list[str], keys: dict[str, list[str]]) -> tuple[Expression, ...]:
    attributes = [Attribute(name, key) for name in readable for key in keys[name]]
    found = [_condition(random, readable, attributes, 2) for _ in range(random.choice([0, 0, 0, 1, 1, 2]))]
    return tuple(condition for condition in found if condition is not None)


def _condition(random: Random, readable: list[str], attributes: list[Attribute], depth: int) -> Expression | None:
    if depth and random.random() < 0.25:
        operator = random.choice(["and", "or", "or", "not"])
        parts = [_condition(random, readable, attributes, depth - 1) for _ in range(1 if operator == "not" else 2)]
        known = tuple(part for part in parts if part is not None)
        return Operation(operator, known) if len(known) == len(parts) else None
    if not attributes or random.random() < 0.2:
        return _identity(random, readable)
    first = random.choice(attributes)
    number = first.key in NUMBERS
    if random.random() < 0.15:
        return Operation(random.choice(["is null", "is not null"]), (first,))
    if random.random() < (0.1 if number else 0.2):
        return Operation("in", (first, *(Constant(_value(random, first.key)) for _ in range(random.randint(1, 3)))))
    operator = random.choice(NUMBER_OPERATORS if number else TEXT_OPERATORS)
    alike = [other for other in attributes if (other.key in NUMBERS) is number and other != first]
    if alike and random.random() < 0.5:
        return Operation(operator, (first, random.choice(alike)))
    return Operation(operator, (first, Constant(_value(random, first.key))))


def _identity(random: Random, readable: list[str]) -> Expression | None:
    """`a <> b` or `a = b` between two vertices or between two edges."""
    kind = random.choice("aaar")
    names = [name for name in readable if name.startswith(kind)]
    if len(names) < 2:
        return None
    first, second = random.sample(names, 2)
    return Operation(random.choice(["<>", "<>", "="]), (Element(first), Element(second)))


def _value(random: Random, key: str) -> Value:
    return random.choice([value for value in VALUES.get(key, (0, 1, 2, 3)) if value is not None])
