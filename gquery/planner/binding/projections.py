"""Binds RETURN and WITH: items, implicit grouping, DISTINCT, ORDER BY over aliases, SKIP, LIMIT and WHERE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gquery.errors import BindError, Notice, Span
from gquery.grammar import ast
from gquery.planner.binding.expressions.binder import ExpressionBinder, expect_boolean
from gquery.planner.binding.expressions.moments import is_written
from gquery.planner.binding.scope import NOTHING, Names, is_hidden
from gquery.planner.binding.subqueries.pattern_condition import joined_by_and, plain_conditions
from gquery.planner.ir.expr import (
    BOOLEAN,
    INTEGER,
    Aggregate,
    Attribute,
    Call,
    Column,
    Constant,
    Expression,
    Kind,
    Parameter,
    children,
    columns,
    conjuncts,
    is_aggregated,
)
from gquery.planner.ir.segments import Project, Projection, ProjectionItem, SortItem, Unwind, Variable
from gquery.records import replace
from gquery.stopping import Check
from gquery.storage.schema import Schema


@dataclass(slots=True)
class ProjectionBinder:
    """Binds projections over the rows before them. `strict` says whether names that the graph does not have are errors,
    but for those that are `written`; `notices` collects what has to be said."""

    schema: Schema
    parameters: Mapping[str, object]
    strict: bool
    check: Check
    notices: list[Notice]
    written: frozenset[str] = frozenset()

    def bind(
        self, clause: ast.Return | ast.With | ast.Unwind, incoming: tuple[Variable, ...], per: Variable | None = None
    ) -> Project:
        """per: tells the rows of an outer query apart."""
        if isinstance(clause, ast.Unwind):
            return self._unwind(clause, incoming)
        names = Names({variable.name: variable for variable in incoming}, self.strict, self.written)
        word = "WITH" if isinstance(clause, ast.With) else "RETURN"
        binder = ExpressionBinder(self.schema, names, self.parameters, aggregates=True, place=word, check=self.check)
        projection = _bind_projection(clause, word, binder)
        where = _bind_where(clause.where, projection, binder) if isinstance(clause, ast.With) else ()
        self.notices.extend(names.notices)
        output = tuple(_variable(item, names) for item in projection.items)
        if per is None:
            return Project(projection, where, incoming, output)
        items = (*projection.items, _as_it_is(per, clause.span))
        return Project(replace(projection, items=items), where, incoming, (*output, per), per.name)

    def _unwind(self, clause: ast.Unwind, incoming: tuple[Variable, ...]) -> Unwind:
        """The rows with an item of the list each; an empty list and null have none."""
        names = Names({variable.name: variable for variable in incoming}, self.strict, self.written)
        binder = ExpressionBinder(
            self.schema, names, self.parameters, aggregates=False, place="UNWIND", check=self.check
        )
        name = clause.variable.name
        if is_hidden(name):
            raise BindError("a variable cannot begin with a blank", span=clause.variable.span)
        if name in names.incoming:
            raise BindError(f"variable `{name}` is already defined", span=clause.variable.span)
        items = binder.bind(clause.items)
        if items.type.kind not in (Kind.LIST, Kind.NULL):
            raise BindError(f"UNWIND takes a list, not {items.type}", span=clause.items.span)
        item = ProjectionItem(name, binder.call("unwind", (items,), clause.items.span))
        kept = (_as_it_is(each, clause.span) for each in incoming)
        self.notices.extend(names.notices)
        projection = Projection((*kept, item), False, (), None, None)
        return Unwind(projection, (), incoming, (*incoming, Variable(name, item.expression.type, True)))


def projected(
    wanted: Iterable[Variable], incoming: tuple[Variable, ...], distinct: bool, per: Variable | None
) -> Project:
    """What takes some of the rows' variables on, in other types that hold their values."""
    known = {variable.name: variable for variable in incoming}
    items, output = [], []
    for variable in wanted:
        item = _as_it_is(known[variable.name], Span(0, 0))
        if variable.type != item.expression.type and variable.type.kind not in _ELEMENTS:
            item = replace(item, expression=Call(variable.type, Span(0, 0), "coalesce", (item.expression,)))
        items.append(item)
        output.append(variable)
    if per is not None:
        items.append(_as_it_is(per, Span(0, 0)))
        output.append(per)
    projection = Projection(tuple(items), distinct, (), None, None)
    return Project(projection, (), incoming, tuple(output), None if per is None else per.name)


_ELEMENTS = frozenset({Kind.NODE, Kind.RELATIONSHIP, Kind.PATH})


def _as_it_is(variable: Variable, span: Span) -> ProjectionItem:
    return ProjectionItem(variable.name, Column(variable.type, span, variable.name, variable.attribute))


def _variable(item: ProjectionItem, names: Names) -> Variable:
    column = item.expression
    known = names.incoming.get(column.variable) if isinstance(column, Column) else None
    same = known is not None and isinstance(column, Column) and column.attribute is known.attribute
    constant = column if is_written(column) else None
    return Variable(item.name, column.type, known.nullable if known is not None and same else True, constant)


def _bind_projection(clause: ast.Return | ast.With, word: str, binder: ExpressionBinder) -> Projection:
    items = _bind_items(clause, word, binder)
    _check_grouping(items, word)
    binder.aliases = {item.name: _named(item.expression) for item in items}
    binder.place = "ORDER BY"
    order_by = tuple(item for written in clause.order_by for item in _sort_items(written, binder))
    if reason := _reason(items, clause.distinct):
        _check_built(f"after {reason}, ORDER BY can only use what {word} returns", order_by, items)
    elif any(is_aggregated(item.expression) for item in order_by):
        raise BindError(f"ORDER BY cannot aggregate when {word} does not", span=clause.order_by[0].span)
    binder.aggregates = False
    skip = None if clause.skip is None else _bind_bound(clause.skip, binder, "SKIP")
    limit = None if clause.limit is None else _bind_bound(clause.limit, binder, "LIMIT")
    return Projection(items, clause.distinct, order_by, skip, limit)


def _sort_items(written: ast.SortItem, binder: ExpressionBinder) -> Iterator[SortItem]:
    """What rows are sorted by. Nulls are the greatest values: where they are wanted at the other end, what is null is
    parted from the rest first."""
    expression = binder.bind(written.expression)
    if written.nulls is not None and (written.nulls == "first") != written.descending:
        is_null = Call(BOOLEAN, expression.span, "is null", (expression,))
        yield SortItem(is_null, descending=written.nulls == "first")
    yield SortItem(expression, written.descending)


def _named(expression: Expression) -> Expression:
    """What a name stands for: a text that has one is a value like others, and no more read as a date beside a date."""
    given = isinstance(expression, (Constant, Parameter)) or (
        isinstance(expression, Call) and expression.function in ("list", "field")
    )
    if given and expression.type.kind in (Kind.STRING, Kind.LIST):
        return Call(expression.type, expression.span, "coalesce", (expression,))
    return expression


def _bind_where(
    where: ast.Expression | None, projection: Projection, binder: ExpressionBinder
) -> tuple[Expression, ...]:
    """The conditions but for patterns, which are segments of their own after the projection."""
    binder.place = "WHERE"
    conditions = () if where is None else plain_conditions(joined_by_and(where))
    found = [expect_boolean(binder.bind(condition), "WHERE") for condition in conditions]
    if reason := _reason(projection.items, projection.distinct):
        _check_built(f"after {reason}, WHERE can only use what WITH returns", found, projection.items)
    return tuple(part for condition in found for part in conjuncts(condition))


def _reason(items: tuple[ProjectionItem, ...], distinct: bool) -> str | None:
    """Why what comes after the items can speak of them only."""
    if distinct:
        return "DISTINCT"
    return "an aggregate" if any(is_aggregated(item.expression) for item in items) else None


def _bind_items(clause: ast.Projecting, word: str, binder: ExpressionBinder) -> tuple[ProjectionItem, ...]:
    items = []
    if clause.star:
        names = sorted(binder.names.named())
        if not names and isinstance(clause, ast.With) and not clause.items:  # one row is one row
            return (ProjectionItem(" row", Constant(INTEGER, clause.span, 0)),)
        if not names and not clause.items:
            raise BindError(f"{word} * has nothing to return: no variable is defined", span=clause.span)
        span = Span(clause.span.start, clause.span.start + len(word))
        items = [ProjectionItem(name, binder.bind(ast.Variable(name=name, span=span))) for name in names]
    items += [ProjectionItem(_name(item, word), binder.bind(item.expression)) for item in clause.items]
    if len({item.name for item in items}) < len(items):
        twice = next(name for name, count in Counter(item.name for item in items).items() if count > 1)
        raise BindError(f"two columns are called `{twice}`", span=clause.span, hint="tell them apart with AS")
    return tuple(items)


def _name(item: ast.ProjectionItem, word: str) -> str:
    if word == "RETURN":
        return item.alias or item.text
    name = item.expression.name if item.alias is None and isinstance(item.expression, ast.Variable) else item.alias
    if name is None:
        raise BindError("WITH needs a name for this", span=item.span, hint="write AS and a name after it")
    if is_hidden(name) and name != NOTHING:
        raise BindError("a variable cannot begin with a blank", span=item.span)
    return name


def _check_grouping(items: tuple[ProjectionItem, ...], word: str) -> None:
    """Beside an aggregate, an item may speak of grouping keys only (openCypher's rule against ambiguity)."""
    aggregated = [item.expression for item in items if is_aggregated(item.expression)]
    if not aggregated:
        return
    keys = _Allowed(item.expression for item in items if not is_aggregated(item.expression))
    for expression in aggregated:
        loose = _outside(expression, keys)
        if loose is not None:
            raise BindError(
                "this is neither aggregated nor a grouping key",
                span=loose.span,
                hint="return it as a column of its own too" if word == "RETURN" else "name it in WITH too",
            )


def _check_built(
    message: str, found: Iterable[SortItem] | Iterable[Expression], items: tuple[ProjectionItem, ...]
) -> None:
    """Raises for expressions that are not built from the items."""
    returned = _Allowed(item.expression for item in items)
    for each in found:
        expression = each.expression if isinstance(each, SortItem) else each
        loose = _outside(expression, returned, through_aggregates=True)
        if loose is not None:
            raise BindError(message, span=loose.span)


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
