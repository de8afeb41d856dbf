"""What clauses that write make of a graph: row by row, each seeing what the rows before it have changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from tests.evaluator.answers import rows_after
from tests.evaluator.evaluate import evaluate, matches
from tests.evaluator.values import Binding, Edge, Failure, Graph, Value, Vertex
from tests.soak.tree import Clause, Entries, Expression, Match, Walk

Rows = list[Binding]


@dataclass(frozen=True)
class Create:
    walks: tuple[Walk, ...]


@dataclass(frozen=True)
class SetProperty:
    """`name.key = value`; REMOVE where the value is None."""

    name: str
    key: str
    value: Expression | None


@dataclass(frozen=True)
class SetMap:
    """`name = {entries}`, or `+=` where it adds."""

    name: str
    entries: Entries
    adding: bool


@dataclass(frozen=True)
class SetLabels:
    name: str
    labels: tuple[str, ...]
    removing: bool


Item = SetProperty | SetMap | SetLabels


@dataclass(frozen=True)
class Set:
    """SET, or REMOVE where all items remove."""

    items: tuple[Item, ...]


@dataclass(frozen=True)
class Merge:
    walk: Walk
    on_create: tuple[Item, ...] = ()
    on_match: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Delete:
    names: tuple[str, ...]
    detach: bool


@dataclass(frozen=True)
class Foreach:
    item: str
    items: Expression
    updates: tuple[Update, ...]


Update = Create | Set | Merge | Delete | Foreach
Program = Sequence[Clause | Update]


@dataclass
class State:
    """A graph that changes. Its vertices and edges stay the same objects."""

    vertices: list[Vertex] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    @classmethod
    def of(cls, graph: Graph) -> State:
        return cls(list(graph.vertices), list(graph.edges))

    @property
    def graph(self) -> Graph:
        return Graph(tuple(self.vertices), tuple(self.edges))

    def run(self, program: Program, rows: Iterable[Binding] = ({},)) -> Rows:
        """Carries out a program; its rows in the end."""
        found = list(rows)
        for clause in program:
            if isinstance(clause, Update):
                found = [longer for row in found for longer in self._update(clause, row)]
            else:
                found = list(rows_after(self.graph, (clause,), None, found))
        return found

    def _update(self, clause: Update, row: Binding) -> list[Binding]:
        """Changes the graph for a row; the rows that go on."""
        match clause:
            case Create(walks):
                made = dict(row)
                for walk in walks:
                    self._make(walk, made)
                return [made]
            case Set(items):
                self._set(items, row)
            case Merge(walk, on_create, on_match):
                found = list(matches(self.graph, Match("different edges", (walk,)), row))
                made = dict(row)
                if not found:
                    self._make(walk, made)
                for each in found or [made]:
                    self._set(on_match if found else on_create, each)
                return found or [made]
            case Delete(names, detach):
                self._delete([row[name] for name in names if row[name] is not None], detach)
            case Foreach(item, items, updates):
                for value in evaluate(items, row, self.graph) or ():
                    self.run(updates, [{**row, item: value}])
        return [row]

    def _make(self, walk: Walk, known: Binding) -> None:
        """What is not known yet of a walk. One without a direction leads from left to right."""
        begin = dict(known)
        for node in walk.nodes:
            if node.name not in known:
                labels = frozenset() if node.labels is None else frozenset(_names(node.labels))
                known[node.name] = Vertex(len(self.vertices), labels, self._values(node.properties, begin))
                self.vertices.append(known[node.name])
        for before, step in zip(walk.nodes, walk.steps, strict=False):
            assert step.types is not None
            ends = (known[before.name], known[step.target.name])
            if None in ends:
                raise Failure("a relationship of null")
            source, target = ends[::-1] if step.direction == "in" else ends
            known[step.name] = Edge(step.types.operator, source, target, self._values(step.properties, begin))
            self.edges.append(known[step.name])

    def _values(self, entries: Entries, row: Binding) -> dict[str, Value]:
        values = {key: evaluate(value, row, self.graph) for key, value in entries}
        return {key: value for key, value in values.items() if value is not None}

    def _set(self, items: Sequence[Item], row: Binding) -> None:
        for item in items:
            element = row[item.name]
            if element is None:
                continue
            match item:
                case SetLabels(_, labels, removing):
                    now = element.labels - {*labels} if removing else element.labels | {*labels}
                    object.__setattr__(element, "labels", frozenset(now))
                case SetMap(_, entries, adding):
                    values = {key: evaluate(value, row, self.graph) for key, value in entries}
                    kept = dict(element.properties) if adding else {}
                    _replace(element.properties, kept | values)
                case SetProperty(_, key, value):
                    given = None if value is None else evaluate(value, row, self.graph)
                    _replace(element.properties, element.properties | {key: given})

    def _delete(self, elements: Sequence[Vertex | Edge], detach: bool) -> None:
        gone = {id(each) for each in elements}
        hanging = [each for each in self.edges if id(each.source) in gone or id(each.target) in gone]
        if detach:
            gone.update(map(id, hanging))
        self.edges = [each for each in self.edges if id(each) not in gone]
        self.vertices = [each for each in self.vertices if id(each) not in gone]


def _names(labels: object) -> Iterable[str]:
    operator, parts = labels.operator, labels.parts  # type: ignore[attr-defined]
    return chain.from_iterable(map(_names, parts)) if operator == "&" else (operator,)


def _replace(properties: dict[str, Value], values: dict[str, Value]) -> None:
    properties.clear()
    properties.update({key: value for key, value in values.items() if value is not None})
