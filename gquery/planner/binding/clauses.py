"""From the syntax tree to the bound query: every name resolved, every type known, one segment after the other."""

from __future__ import annotations

from collections.abc import Mapping

from gquery.errors import Notice, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.grouping import grouped
from gquery.planner.binding.matches import MatchBinder
from gquery.planner.binding.pattern_condition import pattern_tests
from gquery.planner.binding.projections import ProjectionBinder
from gquery.planner.ir.segments import BoundQuery, Segment, Variable
from gquery.settings import MatchMode
from gquery.stopping import Check, unchecked
from gquery.storage.schema import Schema


def bind(
    tree: ast.Query, schema: Schema, parameters: Mapping[str, object], mode: MatchMode, check: Check = unchecked
) -> BoundQuery:
    """Binds a query against a graph's schema. `mode` is the session's, for clauses that name none. `check` is called
    for every clause, condition and expression.

    Raises BindError for anything unknown or ill-typed and UnsupportedError for what the engine lacks.
    """
    *_, last = tree.clauses
    if not isinstance(last, ast.Return):
        raise UnsupportedError("a query ends with RETURN", span=tree.span)
    notices: list[Notice] = []
    matches = MatchBinder(schema, parameters, mode, check, notices)
    projections = ProjectionBinder(schema, parameters, check, notices)
    segments: list[Segment] = []
    rows: tuple[Variable, ...] = ()
    waiting: list[ast.Match] = []
    for clause in tree.clauses:
        if isinstance(clause, ast.Match):
            waiting.append(clause)
            continue
        assert isinstance(clause, ast.Return | ast.With)
        for together in grouped(waiting, clause, {variable.name for variable in rows}):
            segments += matches.bind(together, rows)
            rows = segments[-1].output
        waiting = []
        segments.append(projections.bind(clause, rows))
        rows = segments[-1].output
        tests = pattern_tests(clause.where) if isinstance(clause, ast.With) else ()
        segments += (matches.bind_test(test, rows) for test in tests)
    return BoundQuery(tuple(segments), tuple(dict.fromkeys(notices)))
