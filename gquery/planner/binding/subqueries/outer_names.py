"""What is in sight around a subquery is in sight in all of it: a WITH carries on what is spoken of behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from gquery.grammar import ast
from gquery.planner.binding.mentions import name_of, names_in
from gquery.planner.binding.subqueries.in_expressions import aggregates, carrying, filtering
from gquery.records import replace


def query_of(call: ast.Call, names: AbstractSet[str]) -> ast.Query:
    """The query of a CALL. A WITH at its beginning imports names once: what the next one does not name is gone. names:
    those that it sees."""
    return keeping_outer_names(call.query, names) if call.star or call.imports else call.query


def keeping_outer_names(query: ast.Query, names: AbstractSet[str]) -> ast.Query:
    """The query with what its WITHs, and those of its branches, have to carry on. names: those around it."""
    (*_, last) = query.clauses
    if isinstance(last, ast.Union):
        branches = tuple(keeping_outer_names(branch, names) for branch in last.branches)
        return replace(query, clauses=(replace(last, branches=branches),))
    return replace(query, clauses=tuple(_keeping(query.clauses, names)))


def _keeping(clauses: Sequence[ast.Clause], names: AbstractSet[str]) -> Sequence[ast.Clause]:
    found: list[ast.Clause] = []
    for place, clause in enumerate(clauses, 1):
        if not isinstance(clause, ast.With) or clause.star:
            found.append(clause)
            continue
        names = names - set(_redefined(clause))
        given = {name_of(item) for item in clause.items}
        dropped = names & {name for later in clauses[place:] for name in names_in(later)} - given
        if not dropped:
            found.append(clause)
        elif all(map(aggregates, clause.items)):
            found = list(_total(found, clause))
        else:
            found.append(replace(clause, items=(*clause.items, *carrying(sorted(dropped), clause.span))))
    return found


def _redefined(clause: ast.With) -> Iterator[str]:
    """The names that stand for something else behind it."""
    for item in clause.items:
        if item.alias is not None and item.expression != ast.Variable(item.alias, span=item.span):
            yield item.alias


def _total(before: Sequence[ast.Clause], clause: ast.With) -> Iterator[ast.Clause]:
    """A WITH of aggregates alone, which has a row where there are none before it: as a subquery, which drops nothing of
    what is around it."""
    returned = ast.Return(
        clause.items, False, clause.distinct, clause.order_by, clause.skip, clause.limit, span=clause.span
    )
    query = ast.Query((*before, returned), None, span=clause.span)
    yield ast.Call(query, None, True, False, span=clause.span)
    if clause.where is not None:
        yield filtering(clause.where)
