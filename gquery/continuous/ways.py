"""How a standing query is told what changes."""

from __future__ import annotations

from collections.abc import Sequence

from gquery.continuous.anchors import Anchored, anchored
from gquery.continuous.loose import UnboundError
from gquery.continuous.terms import Terms, are_terms_all, is_row_wise, terms_of
from gquery.planner.ir.expr import Aggregate, Expression, is_aggregated
from gquery.planner.ir.segments import BoundQuery, Project, Segment
from gquery.storage.schema import Schema


def way_of(query: BoundQuery, schema: Schema, made: Sequence[Segment]) -> tuple[Terms | Anchored | None, str]:
    """How is told what changes, or why neither terms nor anchors do. made: the segments whose rows are to come of
    single matches."""
    if not is_row_wise(made):
        return None, "rows are made of several matches, or cut off"
    if are_terms_all(query):
        return terms_of(query, schema), ""
    try:
        return anchored(query, schema), ""
    except UnboundError as error:
        return None, str(error)


def counts_of(last: Project) -> tuple[str, ...]:
    """The columns that count, where nothing else is aggregated and no group is left out."""
    aggregated = [item for item in last.projection.items if is_aggregated(item.expression)]
    cut = last.projection.skip is not None or last.projection.limit is not None
    if cut or not all(_is_count(item.expression) for item in aggregated):
        return ()
    return tuple(item.name for item in aggregated)


def _is_count(expression: Expression) -> bool:
    return isinstance(expression, Aggregate) and expression.function == "count" and not expression.distinct
