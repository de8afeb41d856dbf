"""Random subqueries: CALL of one query or of a UNION, which sees some of the names and gives values."""

from __future__ import annotations

from collections.abc import Mapping

from tests.soak.patterns import MODES, Patterns
from tests.soak.tree import Aggregate, Called, Clause, Expression, Projection, Query, Variable
from tests.soak.typed import Meaning


def called(maker: Patterns) -> Called:
    """A CALL clause, after which its columns are names too."""
    random, known = maker.random, maker.names
    imports = tuple(random.sample(list(known), min(len(known), random.choice([0, 1, 1, 2, 2]))))
    columns = {}
    for _ in range(random.choice([1, 1, 2])):
        maker.made += 1
        columns[f"s{maker.made}"] = random.choice(["int", "text", "truth", "date"])
    branches = tuple(_branch(maker, known, imports, columns) for _ in range(random.choice([1, 1, 2, 2, 3])))
    maker.names = known | {alias: Meaning("value", kinds=frozenset({kind})) for alias, kind in columns.items()}
    maker.bound = maker.typed().named("relationship")
    return Called(imports, branches, random.random() < 0.5)


def _branch(
    maker: Patterns, known: Mapping[str, Meaning], imports: tuple[str, ...], columns: Mapping[str, str]
) -> Query:
    random = maker.random
    maker.names, maker.forgotten = {name: known[name] for name in imports}, []
    maker.bound = maker.typed().named("relationship")
    clauses: list[Clause] = []
    if random.random() < 0.85:
        mode = random.choice(MODES)
        clauses.append(maker.optional(mode) if random.random() < 0.2 else maker.clause(mode, old=0.8))
    items: list[tuple[Expression, str]] = []
    for alias, kind in columns.items():
        counts = kind == "int" and random.random() < 0.4
        items.append((Aggregate("count", None) if counts else maker.typed().of((kind,), 1), alias))
    cut = random.random() < 0.3
    order = tuple((Variable(alias), random.random() < 0.5) for alias in columns) if cut else ()
    limit = random.choice([0, 1, 1, 2]) if cut else None
    return Query((*clauses, Projection(tuple(items), random.random() < 0.2, order, None, limit)))
