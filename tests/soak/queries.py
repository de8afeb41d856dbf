"""Random queries that fit a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from tests.evaluator.answers import Undecided, rows_after
from tests.evaluator.values import Binding, Failure, Graph
from tests.soak.bounded import bounded
from tests.soak.calls import called
from tests.soak.patterns import MODES, Patterns, joined
from tests.soak.projections import all_returned, carried, numbers, returned
from tests.soak.tables import Tables, to_evaluator
from tests.soak.tree import Call, Clause, Expression, Node, Projection, Property, Query, Unwind, Variable, Walk
from tests.soak.typed import LISTED, Meaning

TRIES = 3  # for a clause of a chain that leaves some rows
MOST = 40  # such rows


def random_query(random: Random, tables: Tables) -> Query:
    """MATCH as often as may be, then RETURN."""
    maker = Patterns(random, tables)
    mode = random.choice(MODES)
    clauses: list[Clause] = [maker.clause(mode)]
    while random.random() < 0.25 and len(maker.nodes()) < 4:
        clauses.append(maker.clause(mode if random.random() < 0.7 else random.choice(MODES)))
    counted = random.random() < 0.15
    clauses += [maker.counted(mode)] if counted else []
    return Query((*clauses, returned(random, maker.typed(), counted)))


def random_lengths(random: Random, tables: Tables) -> Query:
    """Like the others, with relationships of variable length."""
    maker = Patterns(random, tables, conditions=0.3, lengths=0.6)
    clauses = [maker.clause(random.choice(MODES)) for _ in range(random.choice([1, 1, 1, 2]))]
    clauses += [maker.optional(random.choice(MODES))] if random.random() < 0.25 else []
    counted = random.random() < 0.4
    return Query((*clauses, numbers(random, maker.typed()) if counted else returned(random, maker.typed(), False)))


def random_chain(random: Random, tables: Tables) -> Query:
    """MATCH, OPTIONAL MATCH, WITH and UNWIND in any order, then RETURN. Most clauses leave some rows to the next."""
    clauses, maker = _chain(random, tables, 0.75)
    everything = random.random() < 0.5
    last = all_returned(random, maker.typed()) if everything else returned(random, maker.typed(), counted=False)
    return Query((*clauses, last))


def counting_chain(random: Random, tables: Tables) -> Query:
    """A chain whose patterns share less with those before, and of which mostly the number of rows is asked: what need
    not be listed is multiplied."""
    clauses, maker = _chain(random, tables, 0.35)
    return Query((*clauses, numbers(random, maker.typed())))


def looking_up(random: Random, tables: Tables) -> Query:
    """Values that are listed or that vertices have, and patterns some of whose vertices have them too."""
    maker = Patterns(random, tables, conditions=0.2)
    mode = random.choice(MODES)
    clauses = _valued(maker, mode)
    while len(clauses) < 3 or random.random() < 0.3:
        known = maker.nodes()
        clause = maker.optional(mode) if random.random() < 0.3 else maker.clause(mode, old=0.15)
        clauses.append(replace(clause, walks=tuple(_keyed(maker, walk, known) for walk in clause.walks)))
    counted = random.random() < 0.3
    last = numbers(random, maker.typed()) if counted else all_returned(random, maker.typed())
    return Query((*clauses, last))


def _valued(maker: Patterns, mode: str) -> list[Clause]:
    """Clauses that give rows with values, one or two each."""
    random, values = maker.random, frozenset({"int", "text", "date"})
    if random.random() < 0.5:
        ids = [id for table in maker.tables.vertices for id, _ in table.rows]
        listed = [random.choice([*ids, *ids, 0, 1, 2, "a", "0", None]) for _ in range(random.choice([1, 3, 5]))]
        if random.random() < 0.6:  # of one type
            listed = [each for each in listed if type(each) in (type(listed[0]), type(None))]
        names = ["s1", "s2"][: random.choice([1, 1, 2])]
        maker.names = {name: Meaning("value", kinds=values) for name in names}
        return [Unwind(maker.typed().literal(listed, always=True), name) for name in names]
    first = maker.clause(mode)
    nodes = maker.nodes() or ["_"]
    held = [(name, key) for name in nodes if name != "_" for key in (*maker.names[name].properties, "id")]
    items = [(Property(Variable(name), key), f"s{place}") for place, (name, key) in enumerate(held[:8])]
    chosen = tuple(random.sample(items, min(len(items), random.choice([1, 2]))))
    kept = tuple((Variable(name), name) for name in nodes if name != "_" and random.random() < 0.5)
    if not chosen:
        return [first]
    maker.names = {name: maker.names[name] for _, name in kept}
    maker.names |= {name: Meaning("value", kinds=values) for _, name in chosen}
    maker.bound = []
    return [first, Projection((*chosen, *kept), distinct=random.random() < 0.3)]


def _keyed(maker: Patterns, walk: Walk, known: Sequence[str]) -> Walk:
    """The walk, some of whose vertices are told by a value."""
    random = maker.random
    values = [name for name, meaning in maker.names.items() if meaning.kind == "value"]

    def node(each: Node) -> Node:
        if not values or random.random() < (0.9 if each.name in known else 0.4):
            return each
        properties = maker.names[each.name].properties if each.name in maker.names else {}
        key = random.choice(["id", "id", *properties])
        return replace(each, properties=((key, Variable(random.choice(values))),))

    steps = tuple(replace(step, target=node(step.target)) for step in walk.steps)
    return replace(walk, start=node(walk.start), steps=steps)


def calling_chain(random: Random, tables: Tables) -> Query:
    """A chain with subqueries, of one query or of a UNION."""
    clauses, maker = _chain(random, tables, 0.75, ("call",) * 5)
    return Query((*clauses, all_returned(random, maker.typed())))


def _chain(random: Random, tables: Tables, old: float, more: tuple[str, ...] = ()) -> tuple[list[Clause], Patterns]:
    """The clauses before RETURN, and what is known after them. old: how likely a pattern begins at what is known. more:
    kinds of clauses besides the usual ones."""
    data = to_evaluator(tables)
    maker = Patterns(random, tables, conditions=0.3, computes=bool(more))
    mode = random.choice(MODES)
    clauses: list[Clause] = []
    rows: Sequence[Binding] = ({},)
    for _ in range(random.choice([2, 3, 3, 4, 4, 5, 6])):
        kind = _kind(random, clauses, more)
        for _ in range(TRIES):
            tried = maker.copy()
            clause = _clause(tried, kind, mode, old)
            if found := _some_rows(data, clause, rows):
                break
        clauses.append(clause)
        maker, rows = tried, found
        mode = mode if random.random() < 0.8 else random.choice(MODES)
    return clauses, maker


def _kind(random: Random, clauses: list[Clause], more: tuple[str, ...]) -> str:
    """Of the next clause."""
    after_with = not clauses or isinstance(clauses[-1], Projection)
    kind = random.choice([*["match"] * 4, *["optional"] * 2, *["with"] * 4, "unwind", *more])
    return "match" if (kind == "with" and after_with and random.random() < 0.9) else kind


def _clause(maker: Patterns, kind: str, mode: str, old: float) -> Clause:
    if kind == "with":
        return _with(maker)
    if kind == "unwind":
        return _unwind(maker)
    if kind == "call":
        return called(maker)
    return maker.optional(mode) if kind == "optional" else maker.clause(mode, old=old)


def _some_rows(data: Graph, clause: Clause, rows: Sequence[Binding]) -> Sequence[Binding]:
    """None where there are too many, or an error."""
    try:
        with bounded():
            return rows_after(data, (clause,), MOST, rows)
    except (Failure, Undecided):
        return ()


def _unwind(maker: Patterns) -> Unwind:
    """Values of one kind, the nodes of a path or what was collected."""
    random, typed = maker.random, maker.typed()
    maker.made += 1
    name, paths = f"s{maker.made}", typed.named("path")
    if paths and random.random() < 0.5:
        maker.names[name] = Meaning("node")
        return Unwind(Call("nodes", (Variable(random.choice(paths)),)), name)
    if random.random() < 0.4:
        listed, kind = random.choice(LISTED)
        values = typed.of((listed,), 1)
        maker.names[name] = Meaning("value", kinds=frozenset({kind}))
        return Unwind(values, name)
    kind = random.choice(["int", "text", "truth", "date"])
    lists, length = typed.collected((kind,)), random.choice([0, 1, 2, 2, 3])
    values = Call("list", tuple(typed.of((kind,), 1) for _ in range(length)))
    values = Variable(random.choice(lists)) if lists and random.random() < 0.5 else values
    maker.names[name] = Meaning("value", kinds=frozenset({kind}))
    return Unwind(values, name)


def _with(maker: Patterns) -> Projection:
    """WITH, after which its aliases are the names."""
    before = maker.names
    maker.made += 1
    fresh = [f"{letter}{maker.made}" for letter in "stuvwxyz"]
    made, maker.names = carried(maker.random, maker.typed(), fresh)
    maker.bound, maker.forgotten = [], []
    made = replace(made, where=_where(maker, made, before))
    maker.bound = maker.typed().named("relationship")
    maker.forgotten = [name for name in before if name not in maker.names]
    return made


def _where(maker: Patterns, made: Projection, before: dict[str, Meaning]) -> Expression | None:
    """The condition of a WITH, which may speak of the names before too if it neither groups nor cuts."""
    random, after = maker.random, dict(maker.names)
    if not made.grouped and made.skip is None and made.limit is None and random.random() < 0.3:
        maker.names = before | after
    parts: list[Expression] = [maker.typed().truth(1)] if random.random() < 0.3 else []
    if maker.nodes() and random.random() < 0.12:
        parts.append(maker.part("different edges"))  # WITH has no mode
    if maker.nodes() and random.random() < 0.08:
        parts.append(maker.asked("different edges"))
    maker.names = after
    return joined(parts)
