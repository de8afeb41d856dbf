"""RETURN: grouping, DISTINCT, ORDER BY, SKIP and LIMIT over the matches, as rows in runs of equal rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from tests.evaluator.expressions import evaluate
from tests.evaluator.matching import matches
from tests.evaluator.values import Binding, Graph, Value, sort_key
from tests.soak.tree import Aggregate, Query, contains

Row = tuple[Value, ...]


@dataclass(frozen=True)
class Answer:
    """runs: the rows before SKIP and LIMIT; those of one run stand in any order. Then rows begin .. end are shown."""

    runs: tuple[tuple[Row, ...], ...]
    begin: int
    end: int


def answer(graph: Graph, query: Query) -> Answer:
    """All that the language says of the query's rows. Raises Failure where it says that there is an error."""
    rows = [_row(graph, query, group) for group in _groups(graph, query)]
    if query.distinct:
        rows = list({tuple(map(sort_key, row)): (row, ranks) for row, ranks in reversed(rows)}.values())
    for place, (_, descending) in reversed(list(enumerate(query.order))):
        rows.sort(key=lambda row: row[1][place], reverse=descending)
    runs = tuple(tuple(row for row, _ in run) for _, run in groupby(rows, itemgetter(1)))
    begin = min(query.skip or 0, len(rows))
    return Answer(runs, begin, len(rows) if query.limit is None else min(len(rows), begin + query.limit))


def _groups(graph: Graph, query: Query) -> list[list[Binding]]:
    """One for each combination of the items without an aggregate, always one without such items; else every match."""
    found = list(matches(graph, query.clauses, {}))
    keys = [item for item, _ in query.items if not contains(item, Aggregate)]
    if len(keys) == len(query.items):
        return [[binding] for binding in found]
    groups: dict[Row, list[Binding]] = {} if keys else {(): []}
    for binding in found:
        groups.setdefault(tuple(sort_key(evaluate(item, binding, graph)) for item in keys), []).append(binding)
    return list(groups.values())


def _row(graph: Graph, query: Query, group: Sequence[Binding]) -> tuple[Row, list[Row]]:
    """The row and its ranks in the order, which may speak of the row by its aliases."""
    binding = group[0] if group else {}
    row = tuple(evaluate(item, binding, graph, group) for item, _ in query.items)
    named = {**binding, **{alias: value for (_, alias), value in zip(query.items, row, strict=True)}}
    return row, [sort_key(evaluate(item, named, graph, group)) for item, _ in query.order]
