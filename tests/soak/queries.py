"""Random queries that fit a graph: patterns in every mode, conditions, and what RETURN makes of the matches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from tests.evaluator.matching import has_labels
from tests.soak.tables import Tables
from tests.soak.tree import (
    Aggregate,
    Call,
    Clause,
    Entries,
    Exists,
    Expression,
    Labels,
    Node,
    Property,
    Query,
    Step,
    Variable,
    Walk,
)
from tests.soak.typed import DECIMALS, FLOATS, GROUPS, INTEGERS, NUMBERS, Typed

MODES = ("different edges", "different edges", "different nodes", "repeatable elements", "induced")
ORDERED = (*NUMBERS, "text", "truth", "date", "local", "zoned", "time")


def random_query(random: Random, tables: Tables) -> Query:
    maker = _Patterns(random, tables)
    mode = random.choice(MODES)
    clauses = [maker.clause(mode)]
    while random.random() < 0.25 and len(maker.nodes) < 4:
        clauses.append(maker.clause(mode if random.random() < 0.7 else random.choice(MODES)))
    if random.random() < 0.15:
        clauses.append(maker.optional(mode))
    return _returned(random, maker.typed(), tuple(clauses))


@dataclass
class _Patterns:
    """Makes clauses one after the other. nodes, steps: the named ones so far with their label expressions."""

    random: Random
    tables: Tables
    nodes: dict[str, Labels | None] = field(default_factory=dict)
    steps: dict[str, Labels | None] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    made: int = 0
    parameters: int = 0

    def typed(self) -> Typed:
        """What expressions may speak of now."""
        nodes, steps = _shown(self.nodes), _shown(self.steps)
        vertices = self._vertices()
        edges = [(frozenset({table.type}), table.kinds) for table in self.tables.edges]
        kinds = {name: _held(labels, vertices) for name, labels in nodes.items()}
        kinds |= {name: _held(types, edges) for name, types in steps.items()}
        variables = dict.fromkeys(nodes, "node") | dict.fromkeys(steps, "relationship")
        variables |= dict.fromkeys(self.paths, "path")
        self.parameters += 100
        return Typed(self.random, variables, kinds, self._labels(), self._types(), self.parameters)

    def clause(self, mode: str) -> Clause:
        random = self.random
        walks = [self._walk(random.choice([0, 1, 1, 1, 2, 2]), 0.2)]
        if random.random() < 0.2:
            walks.append(self._walk(random.choice([0, 1, 1]), 0.6))
        parts: list[Expression] = []
        if random.random() < 0.6:
            parts.append(self.typed().truth(random.choice([0, 1, 2])))
        while random.random() < 0.15:
            part = self._part(mode)
            parts.append(part if random.random() < 0.5 else Call("not", (part,)))
        where = None if not parts else parts[0] if len(parts) == 1 else Call("and", tuple(parts))
        return Clause(mode, tuple(walks), where)

    def optional(self, mode: str) -> Clause:
        """Its variables are only counted with, so that nothing else may speak of them."""
        kept = (dict(self.nodes), dict(self.steps), list(self.paths))
        walk = self._walk(1, 1.0, named_path=False)
        where = self.typed().truth(1) if self.random.random() < 0.4 else None
        self.nodes, self.steps, self.paths = kept
        return Clause(mode, (walk,), where, optional=True)

    def _part(self, mode: str) -> Exists:
        kept = (dict(self.nodes), dict(self.steps), list(self.paths))
        walk = self._walk(self.random.choice([1, 1, 2]), 1.0, named_path=False)
        bare = self.random.random() < 0.4
        if bare:
            self.nodes, self.steps, self.paths = kept
            return Exists(Clause(mode, (_unnamed(walk, kept[0]),)), bare=True)
        more = [self._walk(1, 0.7, named_path=False)] if self.random.random() < 0.3 else []
        where = self.typed().truth(1) if self.random.random() < 0.5 else None
        self.nodes, self.steps, self.paths = kept
        return Exists(Clause(self.random.choice([mode, *MODES]), (walk, *more), where))

    def _walk(self, steps: int, old: float, named_path: bool = True) -> Walk:
        """`old`: the chance that it begins at an earlier vertex."""
        start = self._node(old)
        made = [self._step(self._node(0.15)) for _ in range(steps)]
        name = None
        if named_path and self.random.random() < 0.2:
            name = f"p{len(self.paths)}"
            self.paths.append(name)
        return Walk(start, tuple(made), name)

    def _node(self, old: float) -> Node:
        random = self.random
        earlier = list(_shown(self.nodes))
        if earlier and random.random() < old:
            return Node(random.choice(earlier))
        self.made += 1
        name = f"{'_' if random.random() < 0.15 else ''}a{self.made}"
        labels = self.typed().label() if random.random() < 0.45 else None
        self.nodes[name] = labels
        held = _held(labels, self._vertices())
        properties = self._entries(held)
        if name[0] == "a" and random.random() < 0.05 and held:
            return Node(name, labels, properties, self._alone(name, held))
        return Node(name, labels, properties)

    def _alone(self, name: str, held: dict[str, frozenset[str]]) -> Expression:
        """A condition inside the brackets, on the element alone."""
        typed = replace(self.typed(), variables={name: "node"}, kinds={name: held})
        self.parameters += 100
        return replace(typed, parameters=self.parameters).truth(0)

    def _step(self, target: Node) -> Step:
        random = self.random
        self.made += 1
        name = f"{'_' if random.random() < 0.4 else ''}r{self.made}"
        chosen = random.sample(self._types(), random.randint(1, min(2, len(self._types()))))
        types = None if random.random() < 0.4 else Labels(chosen[0])
        if types is not None and len(chosen) > 1:
            types = Labels("|", tuple(map(Labels, chosen)))
        self.steps[name] = types
        held = _held(types, [(frozenset({table.type}), table.kinds) for table in self.tables.edges])
        return Step(name, random.choice(["out", "out", "in", "both"]), target, types, self._entries(held))

    def _entries(self, held: dict[str, frozenset[str]]) -> Entries:
        if not held or self.random.random() > 0.08:
            return ()
        key = self.random.choice(sorted(held))
        return ((key, self.typed().constant(self.random.choice(sorted(held[key])), held[key])),)

    def _vertices(self) -> list[tuple[frozenset[str], dict[str, str]]]:
        """The labels and the kinds of properties of each table; the id is a property as well."""
        return [(frozenset(table.labels), {"id": table.ids, **table.kinds}) for table in self.tables.vertices]

    def _labels(self) -> tuple[str, ...]:
        return tuple(sorted({label for table in self.tables.vertices for label in table.labels}))

    def _types(self) -> tuple[str, ...]:
        return tuple(sorted({table.type for table in self.tables.edges}))


def _shown(names: dict[str, Labels | None]) -> dict[str, Labels | None]:
    return {name: labels for name, labels in names.items() if not name.startswith("_")}


def _unnamed(walk: Walk, known: dict[str, Labels | None]) -> Walk:
    """The walk as a bare pattern, which brings no names of its own: each of its vertices is another."""

    def node(place: int, each: Node) -> Node:
        return each if each.name in known else Node(f"_{each.name}_{place}", each.labels, each.properties)

    start, *rest = (node(place, each) for place, each in enumerate(walk.nodes))
    steps = zip(walk.steps, rest, strict=True)
    return Walk(start, tuple(replace(step, name=f"_{step.name}", target=target) for step, target in steps))


def _held(labels: Labels | None, tables: list[tuple[frozenset[str], dict[str, str]]]) -> dict[str, frozenset[str]]:
    """The properties of the tables that the expression admits, and the kinds that each has there."""
    found: dict[str, frozenset[str]] = {}
    for names, kinds in tables:
        if has_labels(labels, names):
            for key, kind in kinds.items():
                found[key] = found.get(key, frozenset()) | {kind}
    return found


def _returned(random: Random, typed: Typed, clauses: tuple[Clause, ...]) -> Query:
    grouped = random.random() < 0.4 or clauses[-1].optional
    items = [_item(random, typed) for _ in range(random.choice([0, 1, 2] if grouped else [1, 1, 2, 3]))]
    if grouped:
        items += [_aggregate(random, typed, clauses[-1].optional) for _ in range(random.choice([1, 1, 2]))]
    risky = not grouped and random.random() < 0.06
    items += [typed.risky()] if risky else []
    named = tuple((item, f"c{index}") for index, item in enumerate(items))
    distinct = random.random() < 0.25
    order = []
    for item, alias in random.sample(named, min(len(named), random.choice([0, 0, 1, 2]))):
        if not _is_element(item, typed):
            order.append((Variable(alias), random.random() < 0.5))
    if not grouped and not distinct and random.random() < 0.1:
        order.append((typed.of(random.choice(GROUPS), 1), random.random() < 0.5))
    skip = random.choice([0, 1, 3]) if random.random() < 0.15 and not risky else None
    limit = random.choice([0, 1, 2, 5]) if random.random() < 0.25 and not risky else None
    return Query(clauses, named, distinct, tuple(order), skip, limit)


def _is_element(item: Expression, typed: Typed) -> bool:
    """Whether values of the item have no order that the language tells: elements, lists of them, maps."""
    match item:
        case Variable(name):
            return name in typed.variables
        case Aggregate("collect"):
            return True
        case Call("startnode" | "endnode" | "nodes" | "relationships"):
            return True
    return not isinstance(item, Call | Property | Aggregate)


def _item(random: Random, typed: Typed) -> Expression:
    match random.choice(["element", "property", "property", "mixed", "id", "truth", *["value"] * 5, "map", "path"]):
        case "element" if typed.variables:
            return Variable(random.choice(list(typed.variables)))
        case "property" if (found := typed.property(ORDERED)) is not None:
            return found
        case "mixed" if (found := typed.mixed()) is not None:
            return found
        case "id" if typed.named("node"):
            return Call("id", (Variable(random.choice(typed.named("node"))),))
        case "truth":
            return typed.truth(2)
        case "map":
            return typed.map()
        case "path" if typed.named("path"):
            name = random.choice(["nodes", "relationships", "length", "length"])
            return Call(name, (Variable(random.choice(typed.named("path"))),))
    return typed.of(random.choice(GROUPS), 2)


def _aggregate(random: Random, typed: Typed, star: bool) -> Expression:
    name = random.choice(["count(*)", "count(*)", "count", "sum", "avg", "min", "max", "collect", "stdev", "stdevp"])
    if star or name == "count(*)":
        return Aggregate("count", None)
    distinct = random.random() < 0.25
    if name in ("count", "collect") and typed.variables and random.random() < 0.3:
        return Aggregate(name, Variable(random.choice(list(typed.variables))), distinct)
    match name:
        case "count" | "collect":
            argument = typed.mixed() or typed.of(random.choice(GROUPS), 1)
        case "sum":
            argument = typed.of(random.choice([INTEGERS, DECIMALS, (*FLOATS, "int"), ("big",), ("special",)]), 1)
        case "min" | "max":
            argument = (random.random() < 0.3 and typed.mixed()) or typed.of(random.choice(GROUPS), 1)
        case _:
            argument = typed.of((*INTEGERS, *FLOATS), 1)
    return Aggregate(name, argument, distinct)
