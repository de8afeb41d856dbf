"""Random programs that write, as trees and as texts. What they do does not depend on the order of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from tests.evaluator.updates import (
    Create,
    Delete,
    Foreach,
    Item,
    Merge,
    Program,
    Set,
    SetLabels,
    SetMap,
    SetProperty,
    Update,
)
from tests.evaluator.values import Edge, Graph, Vertex
from tests.soak.render import Writer
from tests.soak.tree import (
    Aggregate,
    Call,
    Clause,
    Expression,
    Labels,
    Literal,
    Match,
    Node,
    Projection,
    Property,
    Step,
    Unwind,
    Variable,
    Walk,
)

LABELS = ("A", "B", "C")
TYPES = ("R", "S", "U")  # relationships of U are made without a direction, and have none that counts
KEYS = ("x", "y", "z")


def random_graph(random: Random) -> Graph:
    """Up to six vertices and eight edges, with loops and parallel edges."""
    vertices = tuple(
        Vertex(place, frozenset(random.sample(LABELS, random.choice((0, 1, 1, 2)))), _properties(random))
        for place in range(random.randint(0, 6))
    )
    ends = [(random.choice(vertices), random.choice(vertices)) for _ in range(random.randint(0, 8)) if vertices]
    return Graph(vertices, tuple(Edge(random.choice("RS"), *each, _properties(random)) for each in ends))


def _properties(random: Random) -> dict[str, object]:
    return {key: random.randint(0, 3) for key in random.sample(KEYS, random.randint(0, 2))}


def random_program(random: Random) -> Program:
    """Clauses that read and write in turns, and a RETURN."""
    return _Programs(random).program()


@dataclass
class _Programs:
    random: Random
    nodes: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    count: int = 0

    def program(self) -> Program:
        clauses: list[Clause | Update] = []
        for turn in range(self.random.randint(1, 3)):
            clauses += [self._with()] if turn else []
            clauses += self._reading()
            clauses += self._writing()
        return [*clauses, self._return()]

    # --- reading -----------------------------------------------------------------------------------------------

    def _reading(self) -> list[Clause]:
        choice = self.random.random()
        if choice < 0.2:
            return []
        if choice < 0.4:
            name = self._new(self.values)
            return [Unwind(_list(self.random.choices(range(4), k=self.random.randint(0, 4))), name)]
        optional = self.random.random() < 0.2
        node = self._node(self._new(self.nodes), labelled=True)
        if self.random.random() < 0.4:
            return [Match("different edges", (Walk(node),), None, optional)]
        step = self._step(self._new(self.links), self._node(self._new(self.nodes), labelled=self.random.random() < 0.3))
        return [Match("different edges", (Walk(node, (step,)),), None, optional)]

    def _with(self) -> Projection:
        """Some of the names, maybe once; or how many rows there are."""
        if self.random.random() < 0.2:
            self.nodes, self.links = [], []
            self.values = [name := f"n{self.count}"]
            return Projection(((Aggregate("count", None), name),))
        for names in (self.nodes, self.links, self.values):
            names[:] = [name for name in names if self.random.random() < 0.7]
        kept = [*self.nodes, *self.links, *self.values]
        if not kept:
            self.values = kept = [f"one{self.count}"]
            return Projection(((Literal(1), kept[0]),))
        items = tuple((Variable(name), name) for name in kept)
        return Projection(items, distinct=self.random.random() < 0.3)

    def _return(self) -> Projection:
        items: list[tuple[Expression, str]] = [(Variable(name), name) for name in self.values]
        items += [(Property(Variable(name), "x"), f"{name}x") for name in (*self.nodes, *self.links)]
        return Projection((*items, (Literal(0), "nothing")))

    # --- writing -----------------------------------------------------------------------------------------------

    def _writing(self) -> list[Update]:
        found: list[Update] = []
        for _ in range(self.random.randint(1, 3)):
            kinds = [self._create, self._merge, self._foreach]
            kinds += [self._set, self._set, self._remove] if self.nodes or self.links else []
            found.append(self.random.choice(kinds)())
        if self.nodes and self.random.random() < 0.25:
            found.append(Delete((self.random.choice(self.nodes),), detach=True))
            self.nodes, self.links = [], []
        elif self.links and self.random.random() < 0.3:
            found.append(Delete((self.links.pop(),), detach=self.random.random() < 0.5))
            self.links = []
        return found

    def _create(self) -> Create:
        if self.random.random() < 0.3:
            return Create((Walk(self._made(self._new(self.nodes))),))
        begin, end = self._end(), self._end()
        step = Step(self._new(self.links), self.random.choice(("in", "out")), end, self._type("RS"), self._entries())
        return Create((Walk(begin, (step,)),))

    def _merge(self) -> Merge:
        if not self.nodes or self.random.random() < 0.4:
            name = self._new(self.nodes)
            node = Node(name, Labels(self.random.choice(LABELS)), self._entries(1))
            return Merge(Walk(node), (SetProperty(name, "made", Literal(1)),), self._counting(name, "n"))
        begin, link = Node(self.random.choice(self.nodes)), f"m{self.count}"
        direction = self.random.choice(("in", "out", "both"))
        if direction != "both" and self.random.random() < 0.4:
            self.count += 1
            end = Node(f"o{self.count}", Labels(self.random.choice(LABELS)), self._entries(1))
        else:
            end = Node(self.random.choice(self.nodes))
        type_ = self._type("U" if direction == "both" else "RS")
        step = Step(link, direction, end, type_, () if direction == "both" else self._entries(1))
        merge = Merge(Walk(begin, (step,)), (), self._counting(link, "n") if direction != "both" else ())
        self.links.append(link)
        self.nodes += [end.name] if end.name not in self.nodes else []
        self.count += 1
        return merge

    def _foreach(self) -> Foreach:
        item = f"i{self.count}"
        self.count += 1
        node = Node(f"_f{self.count}", Labels("F"), (("i", Variable(item)),))
        updates: tuple[Update, ...] = (self.random.choice((Create((Walk(node),)), Merge(Walk(node)))),)
        if self.nodes and self.random.random() < 0.5:
            updates += (Set(self._counting(self.random.choice(self.nodes))),)
        return Foreach(item, _list(self.random.choices(range(3), k=self.random.randint(0, 3))), updates)

    def _set(self) -> Set:
        """Of each key one kind of change, so that the order of rows does not matter."""
        names = self.random.sample(self.nodes, min(len(self.nodes), 2)) + self.links[:1]
        kind = self.random.random()
        if kind < 0.4:
            items: list[Item] = [item for name in names for item in self._counting(name)]
        elif kind < 0.6 and self.nodes:
            labels = tuple(self.random.sample(LABELS, 2))
            items = [SetLabels(name, labels, False) for name in names if name in self.nodes]
        else:
            entries = tuple((key, Literal(5)) for key in self.random.sample(KEYS, 2))
            items = [SetMap(names[0], entries, self.random.random() < 0.7)]
        return Set(tuple(items))

    def _remove(self) -> Set:
        name = self.random.choice([*self.nodes, *self.links])
        if name in self.nodes and self.random.random() < 0.5:
            return Set((SetLabels(name, (self.random.choice(LABELS),), True),))
        return Set((SetProperty(name, self.random.choice(KEYS), None),))

    def _counting(self, name: str, key: str | None = None) -> tuple[Item, ...]:
        """What adds up whatever the order of rows is; of a key that no MERGE looks for where that sets it."""
        key = key or self.random.choice(("x", "n"))
        old = Call("coalesce", (Property(Variable(name), key), Literal(0)))
        return (SetProperty(name, key, Call("+", (old, Literal(self.random.randint(1, 3))))),)

    # --- patterns ----------------------------------------------------------------------------------------------

    def _node(self, name: str, labelled: bool) -> Node:
        some = self.random.random() < 0.3
        return Node(name, Labels(self.random.choice(LABELS)) if labelled else None,
                    (("x", Literal(self.random.randint(0, 3))),) if some else ())  # fmt: skip

    def _made(self, name: str) -> Node:
        labels = self.random.sample(LABELS, self.random.randint(0, 2))
        parts = tuple(map(Labels, labels))
        tree = None if not parts else parts[0] if len(parts) == 1 else Labels("&", parts)
        return Node(name, tree, self._entries())

    def _end(self) -> Node:
        if self.nodes and self.random.random() < 0.7:
            return Node(self.random.choice(self.nodes))
        return self._made(self._new(self.nodes))

    def _step(self, name: str, target: Node) -> Step:
        directed = self.random.random() < 0.5
        if directed:
            return Step(name, self.random.choice(("in", "out")), target, self._type("RS"))
        return Step(name, "both", target, self._type(TYPES) if self.random.random() < 0.5 else None)

    def _type(self, types: str | tuple[str, ...]) -> Labels:
        return Labels(self.random.choice(types))

    def _entries(self, least: int = 0) -> tuple[tuple[str, Expression], ...]:
        keys = self.random.sample(KEYS, self.random.randint(least, 2))
        return tuple((key, self._value()) for key in keys)

    def _value(self) -> Expression:
        if self.values and self.random.random() < 0.6:
            return Variable(self.random.choice(self.values))
        return Literal(self.random.randint(0, 3))

    def _new(self, names: list[str]) -> str:
        self.count += 1
        names.append(f"v{self.count}")
        return names[-1]


def _list(values: list[int]) -> Call:
    return Call("list", tuple(map(Literal, values)))


def text_of(program: Program) -> str:
    writer = Writer()
    *before, last = program
    words = [_update(each, writer) if isinstance(each, Update) else writer.clause(each, "WITH") for each in before]
    assert isinstance(last, Projection)
    return "\n".join([*words, writer.clause(last, "RETURN")])


def _update(clause: Update, writer: Writer) -> str:
    match clause:
        case Create(walks):
            return "CREATE " + ", ".join(map(writer.walk, walks))
        case Merge(walk, on_create, on_match):
            actions = [
                f" ON {event} {_set(items, writer)}"
                for event, items in (("CREATE", on_create), ("MATCH", on_match))
                if items
            ]
            return f"MERGE {writer.walk(walk)}{''.join(actions)}"
        case Set(items):
            return _set(items, writer)
        case Delete(names, detach):
            return f"{'DETACH ' if detach else ''}DELETE {', '.join(names)}"
        case Foreach(item, items, updates):
            inside = " ".join(_update(each, writer) for each in updates)
            return f"FOREACH ({item} IN {writer.expression(items)} | {inside})"


def _set(items: tuple[Item, ...], writer: Writer) -> str:
    removing = all(getattr(item, "removing", False) or getattr(item, "value", item) is None for item in items)
    return f"{'REMOVE' if removing else 'SET'} {', '.join(_item(item, writer) for item in items)}"


def _item(item: Item, writer: Writer) -> str:
    match item:
        case SetProperty(name, key, value):
            return f"{name}.{key}" + ("" if value is None else f" = {writer.expression(value)}")
        case SetMap(name, entries, adding):
            return f"{name} {'+=' if adding else '='}{writer.entries(entries) or ' {}'}"
        case SetLabels(name, labels, _):
            return name + "".join(f":{label}" for label in labels)
