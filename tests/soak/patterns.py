"""Random patterns that fit a graph, in every mode, clause by clause."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from tests.evaluator.evaluate import has_labels
from tests.soak.tables import Tables
from tests.soak.tree import Call, Count, Entries, Exists, Expression, Labels, Literal, Match, Node, Step, Variable, Walk
from tests.soak.typed import Meaning, Typed

MODES = ("different edges", "different edges", "different nodes", "repeatable elements", "induced")


@dataclass
class Patterns:
    """Makes clauses one after the other. conditions: the chance of labels and of a WHERE. lengths: the chance that a
    step is of variable length. names: the visible ones so far. bound: edges of before that may be matched again.
    forgotten: names that meant something before."""

    random: Random
    tables: Tables
    conditions: float = 0.6
    lengths: float = 0.0
    names: dict[str, Meaning] = field(default_factory=dict)
    bound: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    made: int = 0
    parameters: int = 0
    computes: bool = False

    def copy(self) -> Patterns:
        return replace(self, names=dict(self.names), bound=list(self.bound), forgotten=list(self.forgotten))

    def typed(self) -> Typed:
        """What expressions may speak of now."""
        self.parameters += 100
        return Typed(self.random, self.names, self._labels(), self._types(), self.parameters, self.computes)

    def fresh(self, letter: str) -> str:
        """A name that means nothing now."""
        if self.forgotten and letter[0] != "_" and self.random.random() < 0.3:
            return self.forgotten.pop()
        self.made += 1
        return f"{letter}{self.made}"

    def nodes(self) -> list[str]:
        return [name for name, meaning in self.names.items() if meaning.kind == "node"]

    def clause(self, mode: str, old: float = 0.2) -> Match:
        """`old`: the chance that it begins at an earlier vertex."""
        random = self.random
        walks = [self._walk(random.choice([0, 1, 1, 1, 2, 2]), old)]
        if random.random() < 0.2:
            walks.append(self._walk(random.choice([0, 1, 1]), 0.6))
        parts: list[Expression] = []
        if random.random() < self.conditions:
            parts.append(self.typed().truth(random.choice([0, 1, 2])))
        while random.random() < 0.15:
            parts.append(self.part(mode))
        if random.random() < 0.12:
            parts.append(self.asked(mode))
        return Match(mode, tuple(walks), joined([*parts, *self._joining()]))

    def optional(self, mode: str) -> Match:
        steps = self.random.choice([0, 1, 1, 1, 2])
        walks = [self._walk(steps, 0.85 if steps else 0.1)]
        if self.random.random() < 0.1:
            walks.append(self._walk(self.random.choice([0, 1, 1]), 0.6))
        parts: list[Expression] = [self.typed().truth(1)] if self.random.random() < self.conditions else []
        if self.random.random() < 0.1:
            parts.append(self.part(mode))
        if self.random.random() < 0.1:
            parts.append(self.asked(mode))
        return Match(mode, tuple(walks), joined([*parts, *self._joining()]), optional=True)

    def _joining(self) -> list[Expression]:
        """At times a condition on a value that was carried on, if there is one."""
        found = self.typed().joining() if any(meaning.kind == "value" for meaning in self.names.values()) else None
        return [found] if found is not None and self.random.random() < 0.4 else []

    def counted(self, mode: str) -> Match:
        """An optional clause whose variables are only counted with, so that nothing else may speak of them."""
        kept = dict(self.names)
        walk = self._walk(1, 1.0, named_path=False)
        where = self.typed().truth(1) if self.random.random() < 0.4 else None
        self.names = kept
        return Match(mode, (walk,), where, optional=True)

    def part(self, mode: str) -> Expression:
        """A pattern as a condition, or that there is none."""
        part = self._exists(mode)
        return part if self.random.random() < 0.5 else Call("not", (part,))

    def asked(self, mode: str) -> Expression:
        """A condition on how many matches a pattern has, or one that is no pattern alone."""
        random, subquery = self.random, self._exists(mode)
        match random.choice(["or", "or", "not", "count", "count", "same"]):
            case "or":
                return Call("or", (self.typed().truth(0), subquery))
            case "not":
                return Call("not", (Call("and", (subquery, self.typed().truth(0))),))
            case "same":
                return Call("=", (replace(subquery, bare=False), replace(self._exists(mode), bare=False)))
        return Call(random.choice(["=", ">", "<="]), (Count(subquery.clause), Literal(random.choice([0, 1, 2]))))

    def _exists(self, mode: str) -> Exists:
        kept = dict(self.names)
        walk = self._walk(self.random.choice([1, 1, 2]), 1.0, named_path=False)
        bare = self.random.random() < 0.4 and all(step.inside is None for step in walk.steps)
        if bare:
            self.names = kept
            return Exists(Match(mode, (_unnamed(walk, kept),)), bare=True)
        more = [self._walk(1, 0.7, named_path=False)] if self.random.random() < 0.3 else []
        where = self.typed().truth(1) if self.random.random() < 0.5 else None
        self.names = kept
        return Exists(Match(self.random.choice([mode, *MODES]), (walk, *more), where))

    def _walk(self, steps: int, old: float, named_path: bool = True) -> Walk:
        """`old`: the chance that it begins at an earlier vertex."""
        start = self._node(old)
        made = [self._any_step(self._node(0.1 + old / 4)) for _ in range(steps)]
        name = None
        if named_path and self.random.random() < 0.15:
            name = self.fresh("p")
            self.names[name] = Meaning("path")
        return self._searched(Walk(start, tuple(made), name))

    def _searched(self, walk: Walk) -> Walk:
        """At times a path with a mode of its own, or the shortest ones."""
        random = self.random
        if not self.lengths or not walk.steps:
            return walk
        mode = random.choice([None, None, None, "walk", "trail", "acyclic", "simple"])
        shortest = "all" if len(walk.steps) == 1 and random.random() < 0.15 else None
        bounded = all(step.length is None or step.length[1] is not None for step in walk.steps)
        return walk if mode == "walk" and not bounded else replace(walk, mode=mode, shortest=shortest)

    def _node(self, old: float) -> Node:
        random = self.random
        earlier = self.nodes()
        if earlier and random.random() < old:
            return Node(random.choice(earlier), self.typed().label() if random.random() < 0.05 else None)
        name = self.fresh("_a" if random.random() < 0.15 else "a")
        labels = self.typed().label() if random.random() < 0.75 * self.conditions else None
        meaning = Meaning("node", _held(labels, self._vertices()))
        properties = self._entries(meaning.properties)
        if name[0] == "_":
            return Node(name, labels, properties)
        self.names[name] = meaning
        alone = random.random() < 0.05 and meaning.properties
        return Node(name, labels, properties, self._alone(name) if alone else None)

    def _alone(self, name: str) -> Expression:
        """A condition inside the brackets, on the element alone."""
        return replace(self.typed(), names={name: self.names[name]}).truth(0)

    def _any_step(self, target: Node) -> Step:
        repeats = self.lengths > 0 and self.random.random() < self.lengths / 5
        return self._bracketed(target) if repeats else self._step(target)

    def _bracketed(self, target: Node) -> Step:
        """A repeated pattern, whose names stand for lists behind it."""
        random, kept = self.random, dict(self.names)
        self.names, lengths, self.lengths = {}, self.lengths, 0.0
        bound, self.bound = self.bound, []
        nodes = [self._node(0.0) for _ in range(random.choice([2, 2, 3]))]
        inside = Walk(nodes[0], tuple(map(self._step, nodes[1:])))
        where = self.typed().truth(random.choice([0, 1])) if self.names and random.random() < 0.5 else None
        lists = {name: Meaning("relationships") for name in self.names}
        self.names, self.lengths, self.bound = {**kept, **lists}, lengths, bound
        least = random.choice([0, 1, 1, 2])
        return Step(self.fresh("_q"), "both", target, None, (), (least, least + random.choice([0, 1])), where, inside)

    def _step(self, target: Node) -> Step:
        random = self.random
        chosen = random.sample(self._types(), random.randint(1, min(2, len(self._types()))))
        types = None if random.random() < 0.4 else Labels(chosen[0])
        if types is not None and len(chosen) > 1:
            types = Labels("|", tuple(map(Labels, chosen)))
        direction = random.choice(["out", "out", "in", "both"])
        if self.bound and random.random() < 0.08:
            return Step(self.bound.pop(), direction, target, types)
        if random.random() < self.lengths:
            return self._long(direction, target, types)
        name = self.fresh("_r" if random.random() < 0.4 else "r")
        held = _held(types, [(frozenset({table.type}), table.kinds) for table in self.tables.edges])
        if name[0] != "_":
            self.names[name] = Meaning("relationship", held)
        return Step(name, direction, target, types, self._entries(held))

    def _long(self, direction: str, target: Node, types: Labels | None) -> Step:
        """A step of variable length."""
        random = self.random
        least = random.choice([0, 1, 1, 1, 2])
        most = random.choice([least, least + 1, least + 1, least + 2, None])
        if most is None and sum(len(table.rows) for table in self.tables.edges) > 8:
            most = least + 2  # of more edges there are too many paths
        name = self.fresh("_r" if random.random() < 0.7 else "r")
        held = _held(types, [(frozenset({table.type}), table.kinds) for table in self.tables.edges])
        properties = self._entries(held)
        if name[0] != "_":
            self.names[name] = Meaning("relationships")
        return Step(name, direction, target, types, properties, (least, most))

    def _entries(self, held: dict[str, frozenset[str]]) -> Entries:
        if not held or self.random.random() > 0.08:
            return ()
        key = self.random.choice(sorted(held))
        values = [name for name, meaning in self.names.items() if meaning.kind == "value" and meaning.kinds & held[key]]
        if values and self.random.random() < 0.5:
            return ((key, Variable(self.random.choice(values))),)
        return ((key, self.typed().constant(self.random.choice(sorted(held[key])), held[key])),)

    def _vertices(self) -> list[tuple[frozenset[str], dict[str, str]]]:
        """The labels and the kinds of properties of each table; the id is a property as well."""
        return [(frozenset(table.labels), {"id": table.ids, **table.kinds}) for table in self.tables.vertices]

    def _labels(self) -> tuple[str, ...]:
        return tuple(sorted({label for table in self.tables.vertices for label in table.labels}))

    def _types(self) -> tuple[str, ...]:
        return tuple(sorted({table.type for table in self.tables.edges}))


def joined(parts: list[Expression]) -> Expression | None:
    return None if not parts else parts[0] if len(parts) == 1 else Call("and", tuple(parts))


def _unnamed(walk: Walk, known: dict[str, Meaning]) -> Walk:
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
