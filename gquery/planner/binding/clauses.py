"""From the syntax tree to the bound query: every name resolved, every type known, one segment after the other."""

from __future__ import annotations

from collections.abc import Mapping

from gquery.errors import Notice, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.grouping import grouped, without_plain_projections
from gquery.planner.binding.matches import MatchBinder
from gquery.planner.binding.mentions import names_in
from gquery.planner.binding.pattern_condition import PatternTest, pattern_tests
from gquery.planner.binding.projections import ProjectionBinder
from gquery.planner.ir.segments import BoundQuery, Project, Segment, Variable
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
    for clause in without_plain_projections(tree.clauses):
        if isinstance(clause, ast.Match):
            waiting.append(clause)
            continue
        assert isinstance(clause, ast.Return | ast.With | ast.Unwind)
        for together in grouped(waiting, clause, {variable.name for variable in rows}):
            segments += matches.bind(together, rows)
            rows = segments[-1].output
        waiting = []
        project = projections.bind(clause, rows)
        segments.append(project)
        rows = project.output
        tests = pattern_tests(clause.where) if isinstance(clause, ast.With) else ()
        for test in tests:
            _expect_carried(test, project)
            segments.append(matches.bind_test(test, rows))
    return BoundQuery(tuple(segments), tuple(dict.fromkeys(notices)))


def _expect_carried(test: PatternTest, project: Project) -> None:
    """Raises for a pattern in the WHERE of a WITH that uses what the WITH drops: it is in sight there still, unless the
    WITH makes one row of several."""
    dropped = {variable.name for variable in project.input} - {variable.name for variable in project.output}
    used = dropped.intersection(names_in(test.match))
    if used and not project.projection.is_grouped:
        raise UnsupportedError(
            f"gquery has no pattern in the WHERE of WITH that uses `{min(used)}`, which the WITH drops",
            span=test.span,
            hint=f"name `{min(used)}` in the WITH too, or give what is new in the pattern another name",
        )
