"""RETURN: grouping, DISTINCT, ORDER BY, SKIP and LIMIT over the matches, as rows in runs of equal rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cmp_to_key
from typing import Any

from tests.evaluator.expressions import Binding, evaluate
from tests.evaluator.matching import matches
from tests.evaluator.tree import Aggregate, Expression, Query, Variable
from tests.evaluator.values import Graph, Value, sort_key

Row = tuple[Value, ...]


@dataclass(frozen=True)
class Answer:
    """runs: the rows before SKIP and LIMIT; those of one run stand in any order. Then rows begin .. end are shown."""

    runs: tuple[tuple[Row, ...], ...]
    begin: int
    end: int


def answer(graph: Graph, query: Query) -> Answer:
    """All that the language says of the query's rows. Raises Failure where it says that there is an error."""
    found = list(matches(graph, query.clauses, {}))
    grouped = any(contains(item, Aggregate) for item, _ in query.items)
    rows = _grouped(graph, query, found) if grouped else [_row(graph, query, binding, ()) for binding in found]
    if query.distinct:
        rows = list({tuple(map(sort_key, row)): (row, keys) for row, keys in reversed(rows)}.values())
    runs = _runs(rows, [descending for _, descending in query.order])
    begin = query.skip or 0
    end = len(rows) if query.limit is None else min(len(rows), begin + query.limit)
    return Answer(runs, min(begin, len(rows)), max(end, min(begin, len(rows))))


def contains(tree: Any, kind: type) -> bool:
    """Whether a tree has a part of that kind."""
    if isinstance(tree, kind):
        return True
    if isinstance(tree, tuple):
        return any(contains(part, kind) for part in tree)
    return is_dataclass(tree) and any(contains(getattr(tree, each.name), kind) for each in fields(tree))


def _grouped(graph: Graph, query: Query, found: Sequence[Binding]) -> list[tuple[Row, Row]]:
    """One row for each combination of the items without an aggregate; without such items always one."""
    keys = [item for item, _ in query.items if not contains(item, Aggregate)]
    groups: dict[Any, list[Binding]] = {} if keys else {(): []}
    for binding in found:
        key = tuple(sort_key(evaluate(item, binding, graph)) for item in keys)
        groups.setdefault(key, []).append(binding)
    return [_row(graph, query, group[0] if group else {}, group) for group in groups.values()]


def _row(graph: Graph, query: Query, binding: Binding, group: Sequence[Binding]) -> tuple[Row, Row]:
    """The row and what it is ordered by, which may speak of the row by its aliases."""
    row = tuple(evaluate(item, binding, graph, group) for item, _ in query.items)
    named = {**binding, **{alias: value for (_, alias), value in zip(query.items, row, strict=True)}}
    return row, tuple(_key(graph, item, named, group) for item, _ in query.order)


def _key(graph: Graph, item: Expression, named: Binding, group: Sequence[Binding]) -> Value:
    return named[item.name] if isinstance(item, Variable) else evaluate(item, named, graph, group)


def _runs(rows: list[tuple[Row, Row]], descending: list[bool]) -> tuple[tuple[Row, ...], ...]:
    def order(one: tuple[Row, Row], other: tuple[Row, Row]) -> int:
        for first, second, down in zip(one[1], other[1], descending, strict=True):
            left, right = sort_key(first), sort_key(second)
            if left != right:
                return 1 if (left > right) is not down else -1
        return 0

    runs: list[list[tuple[Row, Row]]] = []
    for row in sorted(rows, key=cmp_to_key(order)):
        if runs and not order(runs[-1][0], row):
            runs[-1].append(row)
        else:
            runs.append([row])
    return tuple(tuple(row for row, _ in run) for run in runs)
