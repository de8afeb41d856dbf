"""Bound expressions as DuckDB SQL.

Constants are written as literals, parameters are given to the prepared statement. Three-valued logic is SQL's own;
where Cypher differs from DuckDB it is said in `sql_calls`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from gquery.errors import BindError
from gquery.executor.relational.sql_calls import write_call
from gquery.planner.expr import (
    Aggregate,
    Attribute,
    Call,
    Case,
    Column,
    Constant,
    Expression,
    Kind,
    Parameter,
    Type,
    children,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SqlWriter:
    """Writes expressions over an input relation.

    columns: SQL of everything that the relation holds. values: the statement's parameters, filled while expressions are
    written. weight: SQL of how many matches a row stands for, None when each is one. keys: the grouping keys when the
    text stands above GROUP BY, where only keys and aggregates can be read.
    """

    columns: Mapping[Expression, str]
    parameters: Mapping[str, object]
    values: dict[str, object] = field(default_factory=dict)
    keys: frozenset[Expression] | None = None
    weight: str | None = None
    _slots: dict[str, str] = field(default_factory=dict)

    def write(self, expression: Expression) -> str:
        if self.keys is not None and (expression in self.keys or isinstance(expression, Aggregate)):
            return replace(self, keys=None).write(expression)
        if expression in self.columns:
            return self.columns[expression] if self.keys is None else self._of_key(expression)
        match expression:
            case Constant(value=value):
                return literal(value)
            case Parameter():
                return self._parameter(expression)
            case Case(branches=branches, default=default):
                tests = " ".join(f"WHEN {self.write(test)} THEN {self.write(value)}" for test, value in branches)
                return f"CASE {tests} ELSE {self.write(default)} END"
            case Aggregate():
                return self._aggregate(expression)
            case Call(function="in", arguments=(value, Parameter() as items)) if items.type.kind is Kind.LIST:
                # A subquery is hashed; a list would be searched from its start for every row.
                return f"({self.write(value)} IN (SELECT unnest({self.write(items)})))"
            case Call():
                return write_call(expression, [self.write(argument) for argument in expression.arguments])
        raise AssertionError(expression)

    def _of_key(self, expression: Expression) -> str:
        """A property of an element that is a grouping key: it has one value in the group."""
        subject = expression.arguments[0] if isinstance(expression, Call) else expression
        for key in self.keys or ():
            element = isinstance(key, Column) and key.attribute is Attribute.ELEMENT
            if element and isinstance(subject, Column) and key.variable == subject.variable:  # type: ignore[attr-defined]
                return f"any_value({self.columns[expression]})"
        raise BindError("this is neither aggregated nor a grouping key", span=expression.span,
                        hint="return it as a column of its own too")  # fmt: skip

    def _parameter(self, parameter: Parameter) -> str:
        slot = self._slots.get(parameter.name)
        if slot is None:
            slot = distinct_name(re.sub(r"\W", "_", f"p_{parameter.name}", flags=re.ASCII), self.values)
            self._slots[parameter.name] = slot
            self.values[slot] = plain_value(self.parameters[parameter.name])
        sql_type = _sql_type(parameter.type)
        return f"CAST(${slot} AS {sql_type})" if sql_type else f"${slot}"

    def _aggregate(self, aggregate: Aggregate) -> str:
        if self.weight is not None and not aggregate.distinct and aggregate.function in ("count", "sum", "avg"):
            return self._weighed(aggregate, self.weight)
        if aggregate.argument is None:
            return "count(*)"
        value = self.write(aggregate.argument)
        argument = f"DISTINCT {value}" if aggregate.distinct else value
        match aggregate.function:
            case "collect":
                return f"coalesce(list({argument}) FILTER ({value} IS NOT NULL), [])"
            case "sum" if aggregate.type.kind is Kind.INTEGER:  # summed in 128 bits, and an error if 64 are too few
                return f"CAST(coalesce(sum({argument}), 0) AS BIGINT)"
            case "sum":
                return f"coalesce(sum({argument}), 0.0::DOUBLE)"
            case "stdev":
                return f"coalesce(stddev_samp({argument}), 0.0::DOUBLE)"
            case "stdevp":
                return f"coalesce(stddev_pop({argument}), 0.0::DOUBLE)"
        return f"{aggregate.function}({argument})"

    def _weighed(self, aggregate: Aggregate, weight: str) -> str:
        """The aggregate of rows that stand for several matches each."""
        value = "0" if aggregate.argument is None else self.write(aggregate.argument)
        number = f"coalesce(sum({weight}) FILTER (({value}) IS NOT NULL), 0)"
        match aggregate.function:
            case "count":
                return f"CAST({number} AS BIGINT)"
            case "sum" if aggregate.type.kind is Kind.INTEGER:
                return f"CAST(coalesce(sum(CAST({value} AS HUGEINT) * {weight}), 0) AS BIGINT)"
            case "sum":
                return f"coalesce(sum({value} * {weight}), 0.0::DOUBLE)"
        return f"(sum(CAST({value} AS DOUBLE) * {weight}) / nullif({number}, 0))"


def inputs(expression: Expression) -> Iterable[Expression]:
    """What the expression reads of the graph: columns, and the ends of a relationship variable."""
    if isinstance(expression, Column) or _is_end(expression):
        yield expression
    else:
        for child in children(expression):
            yield from inputs(child)


def _is_end(expression: Expression) -> bool:
    ends = isinstance(expression, Call) and expression.function in ("startnode", "endnode")
    return ends and isinstance(expression.arguments[0], Column)  # type: ignore[attr-defined]


def literal(value: bool | int | float | str | None) -> str:
    """A constant as SQL; whole numbers are 64 bits wide."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return f"{value}::BIGINT" if value >= 0 else f"({value})::BIGINT"
        case float():  # read from text, exactly; there is no negative zero in Cypher's literals
            return f"'{value + 0.0!r}'::DOUBLE"
    return "'" + value.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def distinct_name(name: str, taken: Iterable[str]) -> str:
    """`name`, or a longer one when SQL, which ignores case, has it already."""
    known = {other.lower() for other in taken}
    while name.lower() in known:
        name += "_"
    return name


def plain_value(value: object) -> object:
    """A parameter's value in types that DuckDB takes: NumPy and pandas values as Python's own."""
    match value:
        case Mapping():
            return {str(key): plain_value(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain_value(item) for item in value]
    for name in ("item", "tolist") if getattr(value, "ndim", 1) == 0 else ("tolist",):
        if callable(getattr(value, name, None)):
            return getattr(value, name)()
    return value


def _sql_type(type_: Type) -> str | None:
    """The DuckDB type of a parameter; None when its value says enough."""
    match type_.kind:
        case Kind.LIST:
            item = _sql_type(type_.item) if type_.item else None
            return f"{item}[]" if item else None
        case Kind.MAP:
            fields = [(key, _sql_type(value)) for key, value in type_.fields]
            whole = fields and all(sql_type for _, sql_type in fields)
            return f"STRUCT({', '.join(f'{quoted(key)} {sql_type}' for key, sql_type in fields)})" if whole else None
        case Kind.TEMPORAL if type_.arrow is not None:
            return "DATE" if pa.types.is_date(type_.arrow) else None
        case _:
            return _PLAIN.get(type_.kind)


_PLAIN = {
    Kind.BOOLEAN: "BOOLEAN", Kind.INTEGER: "BIGINT", Kind.FLOAT: "DOUBLE", Kind.STRING: "VARCHAR", Kind.BYTES: "BLOB"
}  # fmt: skip
