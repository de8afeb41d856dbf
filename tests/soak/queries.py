"""Random queries that fit a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from tests.evaluator.answers import Undecided, rows_after
from tests.evaluator.values import Binding, Failure, Graph
from tests.soak.patterns import MODES, Patterns, joined
from tests.soak.projections import all_returned, carried, numbers, returned
from tests.soak.tables import Tables, to_evaluator
from tests.soak.tree import Call, Clause, Expression, Projection, Query, Unwind, Variable
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


def _chain(random: Random, tables: Tables, old: float) -> tuple[list[Clause], Patterns]:
    """The clauses before RETURN, and what is known after them. old: how likely a pattern begins at what is known."""
    data = to_evaluator(tables)
    maker = Patterns(random, tables, conditions=0.3)
    mode = random.choice(MODES)
    clauses: list[Clause] = []
    rows: Sequence[Binding] = ({},)
    for _ in range(random.choice([2, 3, 3, 4, 4, 5, 6])):
        kind = _kind(random, clauses)
        for _ in range(TRIES):
            tried = maker.copy()
            clause = _clause(tried, kind, mode, old)
            if found := _some_rows(data, clause, rows):
                break
        clauses.append(clause)
        maker, rows = tried, found
        mode = mode if random.random() < 0.8 else random.choice(MODES)
    return clauses, maker


def _kind(random: Random, clauses: list[Clause]) -> str:
    """Of the next clause."""
    after_with = not clauses or isinstance(clauses[-1], Projection)
    kind = random.choice(["match"] * 4 + ["optional"] * 2 + ["with"] * 4 + ["unwind"])
    return "match" if (kind == "with" and after_with and random.random() < 0.9) else kind


def _clause(maker: Patterns, kind: str, mode: str, old: float) -> Clause:
    if kind == "with":
        return _with(maker)
    if kind == "unwind":
        return _unwind(maker)
    return maker.optional(mode) if kind == "optional" else maker.clause(mode, old=old)


def _some_rows(data: Graph, clause: Clause, rows: Sequence[Binding]) -> Sequence[Binding]:
    """None where there are too many, or an error."""
    try:
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
