"""What a projection asks of the rows before it, whoever computes it: DuckDB by one statement, or Arrow of few rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gquery.errors import Span
from gquery.executor.relational.sql.expressions import inputs
from gquery.executor.relational.sql.words import Names
from gquery.planner.ir.expr import (
    INTEGER,
    Aggregate,
    Attribute,
    Call,
    Column,
    Expression,
    Kind,
    children,
    is_aggregated,
    is_volatile,
    walk,
)
from gquery.planner.ir.segments import Project, SortItem
from gquery.records import record

WEIGHT = " weight"
WEIGHTS = Column(INTEGER, Span(0, 0), WEIGHT, Attribute.VALUE)


@record(frozen=True, slots=True)
class Selection:
    """outputs: what is computed; the first `shown` go out, `where` asks for the others afterwards. grouped: rows stand
    for groups, by all outputs that are no aggregates. residual: conditions on the rows that come in. row: the output
    among whose rows SKIP and LIMIT cut, None where they do so among all. bounds: skip and limit. names: what is read of
    each row, by its name in the relation `matches`. weighted: the column WEIGHT says how many matches a row stands for.
    """

    outputs: tuple[Expression, ...]
    shown: int
    grouped: bool
    residual: tuple[Expression, ...]
    order_by: tuple[SortItem, ...]
    where: tuple[Expression, ...]
    row: Expression | None
    bounds: tuple[int, int | None]
    names: Mapping[str, Expression]
    weighted: bool

    @classmethod
    def of(
        cls,
        outputs: tuple[Expression, ...],
        project: Project,
        residual: tuple[Expression, ...],
        bounds: tuple[int, int | None],
        weighted: bool,
    ) -> Selection:
        """What a WITH or RETURN selects, of which `outputs` have to be computed now."""
        projection, shown = project.projection, len(outputs)
        outputs = tuple(dict.fromkeys((*outputs, *_asked_after(project.where, outputs))))
        order_by = tuple(item for item in projection.order_by if _varies(item.expression))
        expressions = (*outputs, *(item.expression for item in order_by), *residual)
        read = [part for expression in expressions for part in inputs(expression)]
        grouped = projection.distinct or any(is_aggregated(output) for output in outputs)
        row = None if project.per is None else projection.items[-1].expression
        names = named(dict.fromkeys([*read, *([WEIGHTS] if weighted else [])]))
        return cls(outputs, shown, grouped, residual, order_by, project.where, row, bounds, names, weighted)

    @property
    def keys(self) -> tuple[Expression, ...]:
        """What rows of a group have in common."""
        return tuple(output for output in self.outputs if not is_aggregated(output)) if self.grouped else ()

    @property
    def cuts(self) -> bool:
        """Whether SKIP or LIMIT leave rows out."""
        skip, limit = self.bounds
        return skip > 0 or limit is not None

    @property
    def blocking(self) -> bool:
        """Whether all rows have to be seen before the first goes out."""
        return self.grouped or bool(self.order_by) or (self.cuts and self.row is not None)

    @property
    def collects(self) -> bool:
        """Whether lists are made of rows, in the order in which these come."""
        parts = (part for each in self.expressions for part in walk(each))
        return any(isinstance(part, Aggregate) and part.function == "collect" for part in parts)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All that is computed."""
        return (*self.outputs, *(item.expression for item in self.order_by), *self.residual, *self.where)


def _asked_after(where: tuple[Expression, ...], outputs: tuple[Expression, ...]) -> Iterator[Expression]:
    """What the conditions after a projection read besides its outputs."""
    known = frozenset(outputs)
    pending = list(reversed(where))
    while pending:
        found = pending.pop()
        if found in known:
            continue
        if any(found == part for part in inputs(found)):
            yield found
        else:
            pending.extend(reversed(children(found)))


def is_constant(expression: Expression) -> bool:
    """Whether the expression has one value for all rows."""
    return not any(inputs(expression)) and not is_volatile(expression) and not is_aggregated(expression)


def _varies(key: Expression) -> bool:
    """Whether rows may differ in it: a count may be added to what is always null."""
    return key.type.kind is not Kind.NULL and not is_constant(key)


def named(parts: Iterable[Expression]) -> dict[str, Expression]:
    """Names for what is read, in the relation that it is read into."""
    names = Names()
    return {names.new(_described(part)): part for part in parts}


def _described(part: Expression) -> str:
    match part:
        case Column(variable=variable, attribute=Attribute.ELEMENT | Attribute.VALUE):
            return variable
        case Column(variable=variable, attribute=Attribute.PROPERTY, key=key):
            return f"{variable}.{key}"
        case Column(variable=variable, attribute=attribute):
            return f"{attribute.value}({variable})"
        case Call(function=function, arguments=(Column(variable=variable),)):
            return f"{function}({variable})"
    raise AssertionError(part)
