"""What a query answers: the rows of clause after clause. WITH and RETURN group, sort and cut them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import NamedTuple

from tests.evaluator.evaluate import evaluate, matches
from tests.evaluator.values import Binding, Graph, Value, sort_key
from tests.soak.tree import Aggregate, Called, Clause, Match, Projection, Query, Unwind, contains

Row = tuple[Value, ...]
Rows = Sequence[Binding]


class Undecided(Exception):
    """A WITH cuts between rows of one rank that are not alike, or there are more rows than are looked at."""


class Answer(NamedTuple):
    """runs: the rows before SKIP and LIMIT; those of one run stand in any order. Then rows begin .. end are shown."""

    runs: tuple[tuple[Row, ...], ...]
    begin: int
    end: int


def answer(graph: Graph, query: Query, most: int | None = None) -> Answer:
    """All that the language says of the query's rows. Raises Failure where it says that there is an error, and
    Undecided where several answers are right or a clause before RETURN has more than `most` rows."""
    runs, begin, end = _projected(graph, query.returned, rows_after(graph, query.clauses[:-1], most))
    return Answer(tuple(tuple(_values(query.returned, row) for row in run) for run in runs), begin, end)


def rows_after(graph: Graph, clauses: Sequence[Clause], most: int | None = None, rows: Rows = ({},)) -> Rows:
    """`rows`: those before the first clause."""
    for clause in clauses:
        if isinstance(clause, Projection):
            followed = _carried(graph, clause, rows)
        else:
            followed = chain.from_iterable(_longer(graph, clause, row) for row in rows)
        rows = list(islice(followed, None if most is None else most + 1))
        if most is not None and len(rows) > most:
            raise Undecided("too many rows")
    return rows


def _longer(graph: Graph, clause: Match | Unwind | Called, row: Binding) -> Iterator[Binding]:
    """The row with what a clause adds to it."""
    if isinstance(clause, Match):
        return matches(graph, clause, row)
    if isinstance(clause, Called):
        return ({**row, **found} for found in _found(graph, clause, {name: row[name] for name in clause.imports}))
    return ({**row, clause.name: item} for item in evaluate(clause.values, row, graph) or ())


def _found(graph: Graph, clause: Called, seen: Binding) -> Iterable[Binding]:
    """The rows of a subquery that sees some names."""
    before = ((branch, rows_after(graph, branch.clauses[:-1], None, (seen,))) for branch in clause.branches)
    found = [row for branch, rows in before for row in _carried(graph, branch.returned, rows)]
    if clause.distinct and len(clause.branches) > 1:
        return {sort_key([row[name] for name in clause.names]): row for row in reversed(found)}.values()
    return found


def _carried(graph: Graph, clause: Projection, rows: Rows) -> Iterator[Binding]:
    """The rows of WITH, of which only the aliases go on."""
    runs, begin, end = _projected(graph, clause, rows)
    for run in runs:
        shown = run[max(0, begin) : max(0, end)]
        begin, end = begin - len(run), end - len(run)
        if 0 < len(shown) < len(run) and len({repr(_values(clause, row)) for row in run}) > 1:
            raise Undecided("a cut between rows of one rank")
        for row in shown:
            carried = {alias: row[alias] for _, alias in clause.items}
            if clause.where is None or evaluate(clause.where, carried if clause.grouped else row, graph) is True:
                yield carried


def _projected(graph: Graph, clause: Projection, rows: Rows) -> tuple[list[list[Binding]], int, int]:
    """Runs, begin and end as in an Answer. Rows have the names of before too: ORDER BY and WHERE may speak of both."""
    made = [_row(graph, clause, group) for group in _groups(graph, clause, rows)]
    if clause.distinct:
        made = list({sort_key(list(_values(clause, row))): (row, ranks) for row, ranks in made}.values())
    for place, (_, descending) in reversed(list(enumerate(clause.order))):
        made.sort(key=lambda row: row[1][place], reverse=descending)
    shown = range(len(made))[clause.skip :][: clause.limit]
    return [[row for row, _ in run] for _, run in groupby(made, itemgetter(1))], shown.start, shown.stop


def _groups(graph: Graph, clause: Projection, rows: Rows) -> list[list[Binding]]:
    """One for each combination of the items without an aggregate, always one without such items; else every row."""
    keys = [item for item, _ in clause.items if not contains(item, Aggregate)]
    if len(keys) == len(clause.items):
        return [[row] for row in rows]
    groups: dict[Row, list[Binding]] = {} if keys else {sort_key([]): []}
    for row in rows:
        groups.setdefault(sort_key([evaluate(item, row, graph) for item in keys]), []).append(row)
    return list(groups.values())


def _row(graph: Graph, clause: Projection, group: Rows) -> tuple[Binding, list[Row]]:
    """The row with all that it may speak of, and its ranks in the order."""
    before = group[0] if group else {}
    row = {**before, **{alias: evaluate(item, before, graph, group) for item, alias in clause.items}}
    return row, [sort_key(evaluate(item, row, graph, group)) for item, _ in clause.order]


def _values(clause: Projection, row: Binding) -> Row:
    return tuple(row[alias] for _, alias in clause.items)
