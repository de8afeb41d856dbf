"""Queries that change the graph inside of others: in CALL { } they run row by row, in UNION one branch after the other.

Each is a chain of stages as a statement is; what it returns is kept as rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, chain

import numpy as np
import pyarrow as pa

from gquery.errors import BindError
from gquery.executor.chain.rows import batch_of
from gquery.executor.relational.gather import plain_type
from gquery.executor.relational.unions import widened
from gquery.executor.updates.rows import GivenRows
from gquery.grammar import ast
from gquery.planner.binding.clauses import imported
from gquery.planner.binding.mentions import name_of
from gquery.planner.binding.subqueries.outer_names import query_of
from gquery.planner.binding.updates.stage import ROW
from gquery.planner.ir.segments import Variable
from gquery.planner.ir.types.common_type import unify

Run = Callable[[Sequence[ast.Clause], GivenRows], GivenRows]
"""Runs the stages of some clauses over rows; the rows that are left."""


def one_row() -> GivenRows:
    """A row in which nothing is named."""
    return GivenRows((ROW,), batch_of({ROW.name: pa.array([0])}, 1))


def called(call: ast.Call, rows: GivenRows, run: Run) -> GivenRows:
    """Each row with those that the query gives for it; as it is, where that gives none. Without a row the query runs
    over none, which tells its columns."""
    seen = _seen(call, rows)
    query = query_of(call, {variable.name for variable in seen.variables})
    if not call.query.returns and _only_writes(call.query):
        run(query.clauses, seen)
        return rows
    each_row = (np.arange(row, min(row + 1, rows.count)) for row in range(max(rows.count, 1)))
    found = [_of_query(query, seen.take(row), run) for row in each_row]
    if not call.query.returns:
        return rows
    inner = _together(found)
    new = tuple(each for each in inner.variables if each != ROW)
    for variable in new:
        if variable.name in {each.name for each in rows.variables}:
            raise BindError(f"variable `{variable.name}` is already defined", span=call.span)
    counts, ends = [each.count for each in found], accumulate(each.count for each in found)
    none = [None] if call.optional else []
    taken = [[*range(end - count, end)] or none for count, end in zip(counts, ends, strict=True)][: rows.count]
    outer = rows.take(np.repeat(np.arange(rows.count), [len(each) for each in taken]))
    places = pa.array(chain.from_iterable(taken), pa.int64())
    columns = {each.name: inner.column(each.name).take(places) for each in new}
    return outer.with_columns(columns, (*rows.variables, *(replace(each, nullable=True) for each in new)))


def united(union: ast.Union, rows: GivenRows, run: Run) -> GivenRows:
    """The rows of all branches, each of which begins with the same ones. Raises BindError where they return other
    columns."""
    if len({branch.returns for branch in union.branches}) > 1:
        raise BindError("of the queries of UNION either all return something or none does", span=union.span)
    found = [_of_query(branch, rows, run) for branch in union.branches]
    if not union.branches[0].returns:
        return found[-1]
    names = [sorted(each.name for each in part.variables) for part in found]
    for branch, own in zip(union.branches, names, strict=True):
        if own != names[0]:
            listed = " and ".join(", ".join(name for name in each if name != ROW.name) for each in (names[0], own))
            raise BindError(f"the queries of UNION return other columns: {listed}", span=branch.span)
    return run((_all(union),), _together(found)) if union.distinct else _together(found)


def _of_query(query: ast.Query, rows: GivenRows, run: Run) -> GivenRows:
    *before, last = query.clauses
    return run((*before, _kept(last) if isinstance(last, ast.Return) else last), rows)


def _kept(last: ast.Return) -> ast.With:
    """RETURN as a clause whose rows go on, under the names that the answer would have."""
    items = tuple(replace(item, alias=name_of(item) or item.text) for item in last.items)
    return ast.With(items, last.star, last.distinct, last.order_by, last.skip, last.limit, None, span=last.span)


def _all(union: ast.Union) -> ast.With:
    return ast.With((), True, True, (), None, None, None, span=union.span)


def _seen(call: ast.Call, rows: GivenRows) -> GivenRows:
    """The rows with what the query sees of them."""
    known = {variable.name for variable in rows.variables}
    for each in call.imports or ():
        if each.name not in known:
            raise BindError(f"variable `{each.name}` is not defined", span=each.span)
    names = known if call.star else {each.name for each in call.imports or imported(call.query)}
    return rows.with_columns({}, tuple(each for each in rows.variables if each.name in names or each == ROW))


def _only_writes(query: ast.Query) -> bool:
    """Whether it reads nothing but what a row has: then it may run for all rows at once, clause after clause, as
    FOREACH does."""
    first, *others = query.clauses
    if isinstance(first, ast.With):
        narrowed = first.distinct or first.order_by or first.skip or first.limit or first.where
        plain = not narrowed and all(isinstance(item.expression, ast.Variable) for item in first.items)
    else:
        plain = isinstance(first, ast.Update)
    return plain and all(isinstance(each, ast.Update) for each in others)


def _together(parts: Sequence[GivenRows]) -> GivenRows:
    """The rows of several, in the types that hold the values of all: a property may come to be between them."""
    by_name = [{variable.name: variable for variable in part.variables} for part in parts]
    variables = tuple(_common(each, [names[each.name] for names in by_name]) for each in parts[0].variables)
    types = {each.name: plain_type(each.type) for each in variables}
    columns = {
        name: pa.concat_arrays([widened(part.column(name), type_) for part in parts]) for name, type_ in types.items()
    }
    return GivenRows(variables, batch_of(columns, sum(part.count for part in parts)))


def _common(first: Variable, each: Sequence[Variable]) -> Variable:
    type_ = unify(variable.type for variable in each)
    return Variable(first.name, type_, any(variable.nullable for variable in each))
