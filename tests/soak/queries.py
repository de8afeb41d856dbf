"""Random queries that fit a graph."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.soak.patterns import MODES, Patterns, joined
from tests.soak.projections import all_returned, carried, returned
from tests.soak.tables import Tables
from tests.soak.tree import Clause, Expression, Projection, Query


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
    """MATCH, OPTIONAL MATCH and WITH in any order, then RETURN."""
    maker = Patterns(random, tables, conditions=0.3)
    mode = random.choice(MODES)
    clauses: list[Clause] = []
    for _ in range(random.choice([2, 3, 3, 4, 4, 5])):
        after_with = not clauses or isinstance(clauses[-1], Projection)
        match random.choice(["match", "optional", "with", "with"]):
            case "with" if not after_with or random.random() < 0.1:
                clauses.append(_with(maker, mode))
            case "optional" if clauses or random.random() < 0.4:
                clauses.append(maker.optional(mode))
            case _:
                clauses.append(maker.clause(mode, old=0.75))
        mode = mode if random.random() < 0.8 else random.choice(MODES)
    everything = random.random() < 0.5
    last = all_returned(random, maker.typed()) if everything else returned(random, maker.typed(), counted=False)
    return Query((*clauses, last))


def _with(maker: Patterns, mode: str) -> Projection:
    """WITH, after which its aliases are the names. Its WHERE may speak of the names before if it neither groups nor
    cuts."""
    random = maker.random
    before = maker.names
    maker.made += 1
    fresh = [f"{letter}{maker.made}" for letter in "stuvwxyz"]
    made, maker.names = carried(random, maker.typed(), fresh)
    maker.bound = maker.typed().named("relationship")
    maker.forgotten = [name for name in before if name not in maker.names]
    parts: list[Expression] = []
    if random.random() < 0.3:
        sees_before = not made.grouped and made.skip is None and made.limit is None and random.random() < 0.3
        typed = maker.typed()
        parts.append((replace(typed, names=before | maker.names) if sees_before else typed).truth(1))
    if maker.nodes() and random.random() < 0.1:
        parts.append(maker.part(mode))
    return replace(made, where=joined(parts))
