"""Binds RETURN: items, implicit grouping, DISTINCT, ORDER BY over aliases, SKIP and LIMIT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gquery.errors import BindError, Span
from gquery.grammar import ast
from gquery.planner.binding.expressions import ExpressionBinder
from gquery.planner.ir.expr import Aggregate, Attribute, Column, Expression, Kind, children, columns, is_aggregated
from gquery.planner.ir.segments import Projection, ProjectionItem, SortItem


def bind_projection(clause: ast.Return, binder: ExpressionBinder) -> Projection:
    """The bound RETURN."""
    items = _bind_items(clause, binder)
    _check_grouping(items)
    binder.aliases = {item.name: item.expression for item in items}
    binder.place = "ORDER BY"
    order_by = tuple(SortItem(binder.bind(item.expression), item.descending) for item in clause.order_by)
    if clause.distinct or any(is_aggregated(item.expression) for item in items):
        _check_order(order_by, items, "DISTINCT" if clause.distinct else "an aggregate")
    elif any(is_aggregated(item.expression) for item in order_by):
        raise BindError("ORDER BY cannot aggregate when RETURN does not", span=clause.order_by[0].span)
    binder.aggregates = False
    skip = None if clause.skip is None else _bind_bound(clause.skip, binder, "SKIP")
    limit = None if clause.limit is None else _bind_bound(clause.limit, binder, "LIMIT")
    return Projection(items, clause.distinct, order_by, skip, limit)


def _bind_items(clause: ast.Return, binder: ExpressionBinder) -> tuple[ProjectionItem, ...]:
    items = []
    if clause.star:
        names = binder.names.named()
        if not names:
            raise BindError("RETURN * has nothing to return: no variable is defined", span=clause.span)
        span = Span(clause.span.start, clause.span.start + len("RETURN"))
        items = [ProjectionItem(name, binder.bind(ast.Variable(name=name, span=span))) for name in names]
    items += [ProjectionItem(item.alias or item.text, binder.bind(item.expression)) for item in clause.items]
    twice = [name for name, count in Counter(item.name for item in items).items() if count > 1]
    if twice:
        raise BindError(f"two columns are called `{twice[0]}`", span=clause.span, hint="tell them apart with AS")
    return tuple(items)


def _check_grouping(items: tuple[ProjectionItem, ...]) -> None:
    """Beside an aggregate, an item may speak of grouping keys only (openCypher's rule against ambiguity)."""
    keys = _Allowed(item.expression for item in items if not is_aggregated(item.expression))
    for item in items:
        if is_aggregated(item.expression):
            loose = _outside(item.expression, keys)
            if loose is not None:
                raise BindError(
                    "this is neither aggregated nor a grouping key",
                    span=loose.span,
                    hint="return it as a column of its own too",
                )


def _check_order(order_by: tuple[SortItem, ...], items: tuple[ProjectionItem, ...], reason: str) -> None:
    returned = _Allowed(item.expression for item in items)
    for item in order_by:
        loose = _outside(item.expression, returned, through_aggregates=True)
        if loose is not None:
            raise BindError(f"after {reason}, ORDER BY can only use what RETURN returns", span=loose.span)


class _Allowed:
    """Expressions that others may be built from. elements: the variables of whole nodes and relationships among them,
    any property of which may be used."""

    def __init__(self, expressions: Iterable[Expression]) -> None:
        self.expressions = set(expressions)
        columns = (each for each in self.expressions if isinstance(each, Column))
        self.elements = {column.variable for column in columns if column.attribute is Attribute.ELEMENT}


def _outside(expression: Expression, allowed: _Allowed, through_aggregates: bool = False) -> Expression | None:
    """The first part that reads the graph and is not built from the allowed expressions."""
    if expression in allowed.expressions:
        return None
    if isinstance(expression, Aggregate):
        return expression if through_aggregates else None
    if isinstance(expression, Column):
        return None if expression.variable in allowed.elements else expression
    for child in children(expression):
        loose = _outside(child, allowed, through_aggregates)
        if loose is not None:
            return loose
    return None


def _bind_bound(tree: ast.Expression, binder: ExpressionBinder, clause: str) -> Expression:
    bound = binder.bind(tree)
    if columns(bound):
        raise BindError(f"{clause} cannot depend on the matches", span=tree.span)
    if bound.type.kind is not Kind.INTEGER:
        raise BindError(f"{clause} needs a whole number, not {bound.type}", span=tree.span)
    return bound
