"""Bound expressions as DuckDB SQL.

Constants are written as literals, parameters are given to the prepared statement. Three-valued logic is SQL's own;
where Cypher differs from DuckDB it is said in `sql_calls`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import pyarrow as pa

from gquery.errors import BindError, UnsupportedError
from gquery.executor.relational.sql_calls import write_call
from gquery.executor.relational.sql_comparison import check_depth, equal
from gquery.executor.relational.sql_lists import is_written_out
from gquery.executor.relational.sql_once import once
from gquery.executor.relational.sql_words import distinct_name, literal, quoted
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
    is_volatile,
)  # fmt: skip
from gquery.planner.functions import comparable

_PARAMETERS = re.compile(r"""'[^']*'|"[^"]*"|\$(\w+)""")  # none of those in texts and names
_CASE_TEXT = 1 << 16  # characters that the repeated subject of a CASE may take


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
            case Case():
                return self._case(expression)
            case Aggregate():
                return self._aggregate(expression)
            case Call(function="in", arguments=(value, Parameter() as items)) if self._is_hashed(value, items):
                # A subquery is hashed; a list would be searched from its start for every row.
                return f"({self.write(value)} IN (SELECT unnest({self.write(items)})))"
            case Call(function="in", arguments=(value, Call() as items)) if is_written_out(items):
                return self._call(expression, (value, *items.arguments))
            case Call():
                return self._call(expression, expression.arguments)
        raise AssertionError(expression)

    def asked(self, sql: str) -> dict[str, object]:
        """The parameters that a statement of the writer's texts speaks of; DuckDB takes no others."""
        names = set(_PARAMETERS.findall(sql))
        return {name: value for name, value in self.values.items() if name in names}

    def _call(self, call: Call, arguments: tuple[Expression, ...]) -> str:
        short = [self._is_short(argument) for argument in arguments]
        return once([self.write(argument) for argument in arguments], short, partial(write_call, call))

    def _is_short(self, expression: Expression) -> bool:
        """Whether the expression may be written again and again."""
        return isinstance(expression, Constant | Parameter) or (self.keys is None and expression in self.columns)

    def _case(self, case: Case) -> str:
        """The subject of a simple CASE is written again for each of its branches."""
        tests = [self.write(test) for test, _ in case.branches]
        if case.subject is not None:
            tests = self._matches(case, case.subject, tests)
        values = [self.write(value) for _, value in case.branches]
        branches = " ".join(f"WHEN {test} THEN {value}" for test, value in zip(tests, values, strict=True))
        return f"CASE {branches} ELSE {self.write(case.default)} END"

    def _matches(self, case: Case, subject: Expression, tests: list[str]) -> list[str]:
        """Whether the subject is equal to each of the tests."""
        text = self.write(subject)
        check_depth(subject.span, subject.type, *(test.type for test, _ in case.branches))
        if is_volatile(subject):
            raise UnsupportedError("gquery has no CASE of what is random", span=subject.span)
        if len(text) * len(tests) > _CASE_TEXT and not self._is_short(subject):
            raise UnsupportedError("gquery has no CASE of so large a subject and so many branches", span=subject.span,
                                   hint="CASE WHEN takes conditions that are written out")  # fmt: skip
        written = []
        for (test, _), test_text in zip(case.branches, tests, strict=True):
            short = [self._is_short(subject), self._is_short(test)]
            compare = partial(_equal_texts, subject.type, test.type)
            written.append(once([text, test_text], short, compare))
        return written

    def _is_hashed(self, value: Expression, items: Parameter) -> bool:
        """Whether DuckDB's equality is Cypher's for a value and the items of a list."""
        item = items.type.item
        if item is None or Kind.NULL in (value.type.kind, item.kind) or not comparable(value.type, item):
            return False
        if item.kind is Kind.FLOAT:
            return not any(each is not None and math.isnan(each) for each in self.parameters[items.name])  # type: ignore[attr-defined]
        return item.kind not in (Kind.LIST, Kind.MAP)

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


def _equal_texts(one: Type, other: Type, texts: list[str]) -> str:
    return equal(texts[0], one, texts[1], other)


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
