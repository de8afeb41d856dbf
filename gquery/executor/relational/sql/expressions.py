"""Bound expressions as DuckDB SQL.

Constants are written as literals, parameters are given to the prepared statement. Three-valued logic is SQL's own;
where Cypher differs from DuckDB it is said in `calls.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import partial

from gquery.errors import BindError
from gquery.executor.relational.database.functions import Function, Given
from gquery.executor.relational.growth import guarded, is_joined, write_range, write_replace
from gquery.executor.relational.sql.aggregates import is_weighed, plain, weighed
from gquery.executor.relational.sql.calls import write_call
from gquery.executor.relational.sql.careful import all_true, joined
from gquery.executor.relational.sql.cases import CaseTexts, with_subject
from gquery.executor.relational.sql.comparison import check_depth, condition, is_known_list
from gquery.executor.relational.sql.gathered import gathering, is_gathered
from gquery.executor.relational.sql.lists.among import any_whole, doubtful, finds_whole, searched
from gquery.executor.relational.sql.lists.calls import is_written_out
from gquery.executor.relational.sql.lists.items import (
    goes_through_more,
    has_long_result,
    length_of,
    listed,
    name_of,
    named,
    quantified,
    reduced,
    reduced_names,
    times,
    within,
)
from gquery.executor.relational.sql.once import once
from gquery.executor.relational.sql.parameters import given_value, parameter_sql
from gquery.executor.relational.sql.time.calculated import asked, calculation, is_calculated, with_plain_texts
from gquery.executor.relational.sql.time.moments import alike
from gquery.executor.relational.sql.values import by_member, converted, has_key, is_held, needs_keys, sql_type
from gquery.executor.relational.sql.words import Names, literal, quoted
from gquery.planner.ir.expr import (
    Aggregate,
    Attribute,
    Call,
    Case,
    Column,
    Comprehension,
    Constant,
    Expression,
    Kind,
    Local,
    Parameter,
    Reduce,
    Type,
    children,
    is_volatile,
    operands,
    walk,
)  # fmt: skip
from gquery.planner.ir.functions.calls import comparable
from gquery.planner.ir.functions.failing import may_fail
from gquery.planner.ir.types.common_type import holds_any
from gquery.records import record
from gquery.stopping import Check, unchecked
from gquery.storage.graph import Snapshot

_NAMES = re.compile(r"""'[^']*'|("(?:[^"]|"")*")|\$(\w+)""")  # identifiers and parameters, but for those in texts
_CHEAP = frozenset({"list", "+", "-", "*", "%", "negate", "head", "last", "tail", "read"})
_CHEAP_TEXT = 80  # characters


@record(frozen=True, slots=True)
class SqlWriter:
    """Writes expressions over an input relation.

    columns: SQL of everything that the relation holds. values, functions: the statement's parameters, and functions by
    their names, filled while expressions are written. weight: SQL of how many matches a row stands for, None when each
    is one. keys: the grouping keys when the text stands above GROUP BY, where only keys and aggregates can be read.
    subqueries: whether they can stand here. locals: SQL of what stands for the items of lists. around: SQL of how many
    items there are of the lists around, None where more is not made of each. check: called for each expression: of some
    there are ten thousand.
    """

    columns: Mapping[Expression, str]
    parameters: Mapping[str, object]
    snapshot: Snapshot
    values: dict[str, object] = field(default_factory=dict)
    functions: dict[Function, str] = field(default_factory=dict)
    keys: frozenset[Expression] | None = None
    weight: str | None = None
    subqueries: bool = True
    locals: Mapping[Local, str] = field(default_factory=dict)
    around: str | None = None
    check: Check = unchecked
    _slots: dict[str, str] = field(default_factory=dict)
    _names: Names = field(default_factory=Names)

    def write(self, expression: Expression) -> str:
        self.check()
        if self.keys is not None and (expression in self.keys or isinstance(expression, Aggregate)):
            text = replace(self, keys=None).write(expression)
            # Grouped by its key, such a value is one of those that are equal.
            return f"any_value({text})" if expression in self.keys and has_key(expression.type) else text
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
            case Local(type=Type(kind=Kind.NULL)):
                return "NULL"  # as of calls, below
            case Local():
                return self.locals[expression]
            case Comprehension():
                return self._comprehension(expression)
            case Reduce():
                return self._reduce(expression)
            case Call(function=function, type=Type(kind=Kind.NULL)) if function != "unwind":  # which makes rows
                return "NULL"  # a number's type, which DuckDB gives to `NULL + NULL`, would not be a text's or a list's
            case Call(function="in", arguments=(value, Parameter() as items)) if self._is_hashed(value, items):
                # A subquery is hashed; a list would be searched from its start for every row.
                return f"({self.write(value)} IN (SELECT unnest({self.write(items)})))"
            case Call(function="in", arguments=(value, Parameter() as items)) if finds_whole(
                value.type, items.type.item
            ):
                return self._among_lists(expression, value, items)
            case Call(function="in", arguments=(value, Call() as items)) if is_written_out(items):
                return self._call(expression, (value, *items.arguments))
            case Call(function="coalesce" | "list" | "+") if self._has_parts_converted(expression):
                short = [self._is_short(part) for part in expression.arguments]
                parts = [self._part(part, expression) for part in expression.arguments]
                return once(parts, short, partial(write_call, expression))
            case Call() if is_calculated(expression):
                return self._calculated(expression)
            case Call(function="and" | "or" as operator) if may_fail(expression):
                return joined(operator, operands(expression), self.write)
            case Call(function="range" | "replace" as function) if self.around is not None:
                texts = [self.write(argument) for argument in expression.arguments]
                return (write_range if function == "range" else write_replace)(expression, texts, self.around)
            case Call(arguments=(subject, *_)) if is_gathered(expression, subject.type):
                return self._gathered(expression, self.write(subject), subject.type)
            case Call(arguments=(Expression(type=Type(kind=Kind.ANY)), *_)) if expression.function not in _WHOLE:
                return self._of_each_member(expression)
            case Call():
                return self._call(expression, expression.arguments)
        raise AssertionError(expression)

    def _comprehension(self, comprehension: Comprehension) -> str:
        items = self._items(comprehension.items)
        if not goes_through_more(comprehension):
            return self._of_items(comprehension, items, None)
        length = length_of(comprehension.items, items, self.write)
        if length is not None:
            return self._of_items(comprehension, items, times(self.around, length))

        def of_named(name: str) -> str:
            count = times(self.around, f"len({name})")
            return self._of_items(comprehension, within(name, count) if self.around else name, count)

        return named(items, comprehension.variable, of_named)

    def _of_items(self, comprehension: Comprehension, items: str, around: str | None) -> str:
        variable = comprehension.variable
        inside = replace(self._inside({variable: name_of(variable)}), around=around)
        where, result = comprehension.where, comprehension.result
        condition = None if where is None else inside.write(where)
        if comprehension.form != "list":
            return quantified(comprehension.form, items, variable, condition or "TRUE")
        value = None if result is None else inside.write(result)
        if value is not None and has_long_result(comprehension):
            value = within(value, times(around, f"len({value})"))
        return listed(items, variable, condition, value)

    def _reduce(self, reduce: Reduce) -> str:
        if reduce.type.kind is Kind.NULL:
            return "NULL"  # as of calls, above
        step = self._inside(reduced_names(reduce.accumulator, reduce.variable))._as(reduce.step, reduce.type)
        return reduced(reduce, self._as(reduce.initial, reduce.type), self._items(reduce.items), step)

    def _items(self, items: Expression) -> str:
        if items.type.kind is not Kind.LIST:
            return 'NULL::"NULL"[]'  # whose items are of whatever type is asked for
        text = self.write(items)
        length = None if self.around is None else length_of(items, text, self.write)
        if length is None or (isinstance(items, Call) and items.function == "range"):  # which counts its own
            return text
        return within(text, times(self.around, length))

    def _inside(self, names: Mapping[Local, str]) -> SqlWriter:
        """The writer of what is asked of each item; DuckDB has no subqueries there."""
        return replace(self, locals={**self.locals, **names}, subqueries=False)

    def condition(self, expression: Expression) -> str:
        """The SQL of a condition of which only the true rows matter: null may come out as false."""
        match expression:
            case Call(function="in", arguments=(value, Call(arguments=items))) if not is_volatile(value):
                if items and all(is_known_list(item, value.type) for item in items):
                    return f"({self.write(value)} IN ({', '.join(map(self.write, items))}))"
            case Call(arguments=(one, other)):
                plain = condition(expression, [self.write(one), self.write(other)])
                return plain if plain is not None and not is_volatile(expression) else self.write(expression)
        return self.write(expression)

    def all_true(self, conditions: Iterable[Expression], first: str = "") -> str:
        """The SQL of whether all conditions are true, likewise: see `careful.py`."""
        return all_true(conditions, self.condition, first)

    def asked(self, sql: str) -> Given:
        """The parameters and functions that a statement of the writer's texts speaks of; DuckDB takes no others."""
        names = {name for found in _NAMES.findall(sql) for name in found}
        functions = {quoted(name): function for function, name in self.functions.items()}
        return Given(
            {name: value for name, value in self.values.items() if name in names},
            {name: function for name, function in functions.items() if name in names},
        )

    def _call(self, call: Call, arguments: tuple[Expression, ...]) -> str:
        texts = [self.write(argument) for argument in arguments]
        short = [self._is_short(argument) or self._is_cheap(argument, text)
                 for argument, text in zip(arguments, texts, strict=True)]  # fmt: skip
        text = once(texts, short, partial(write_call, call))
        return guarded(call, text, self.write, self.columns) if is_joined(call) else text

    def _among_lists(self, call: Call, value: Expression, items: Parameter) -> str:
        """A list looked for among the lists of a parameter: what depends on these alone is no part of a lambda's body,
        where it would be computed for every row."""
        assert items.type.item is not None
        check_depth(call.span, value.type, items.type.item)
        lists = self.write(items)
        texts = [
            self.write(value),
            lists,
            searched(lists, items.type.item, value.type),
            doubtful(lists, items.type.item),
        ]
        write = partial(any_whole, one=value.type, item=items.type.item)
        return once(texts, [self._is_short(value), False, False, False], write)

    def _is_short(self, expression: Expression) -> bool:
        """Whether the expression may be written again and again."""
        return isinstance(expression, Constant | Parameter | Local) or (
            self.keys is None and expression in self.columns
        )

    def _is_cheap(self, expression: Expression, text: str) -> bool:
        """Whether it takes less time to compute the expression again than to call a lambda that has it computed once:
        a little arithmetic, a short list that is written out."""
        return len(text) <= _CHEAP_TEXT and all(
            part.function in _CHEAP if isinstance(part, Call) else self._is_short(part) for part in walk(expression)
        )

    def _case(self, case: Case) -> str:
        tests = [self.write(test) for test, _ in case.branches]
        values = [self._as(value, case.type) for _, value in case.branches]
        texts = CaseTexts(tests, values, self._as(case.default, case.type))
        if case.subject is None:
            return texts.joined()
        return with_subject(case, case.subject, self.write(case.subject), texts, self._is_short)

    def _is_hashed(self, value: Expression, items: Parameter) -> bool:
        """Whether DuckDB's equality is Cypher's for a value and the items of a list."""
        item = items.type.item if self.subqueries else None
        if item is None or Kind.NULL in (value.type.kind, item.kind) or not comparable(value.type, item):
            return False
        if needs_keys(value.type, item) or not alike(value.type, item):
            return False
        if item.kind is Kind.FLOAT:
            return not any(each is not None and math.isnan(each) for each in self.parameters[items.name])  # type: ignore[attr-defined]
        return item.kind not in (Kind.LIST, Kind.MAP)

    def _of_each_member(self, call: Call) -> str:
        """A function of a value that carries its own type: what it is of each type that there may be."""
        several, *rest = call.arguments
        others = [self.write(argument) for argument in rest]

        def of_member(text: str, member: Type) -> str:
            if is_gathered(call, member):
                return self._gathered(call, text, member)
            known = Constant(member, several.span, None)
            return write_call(replace(call, arguments=(known, *rest)), [text, *others])

        return by_member(self.write(several), several.type, of_member)

    def _gathered(self, call: Call, ids: str, element: Type) -> str:
        """What elements that are computed have."""
        function, type_ = gathering(call, element, self.snapshot)
        if type_.kind is Kind.NULL:
            return f"NULL::{sql_type(call.type)}"
        return converted(f"{self._identifier(function)}({ids})", type_, call.type)

    def _calculated(self, call: Call) -> str:
        """A function of times that DuckDB does not have."""
        _, arguments = asked(call)
        texts, function = [self.write(each) for each in arguments], self._identifier(calculation(call))
        return once(texts, [self._is_short(each) for each in arguments],
                    lambda given: with_plain_texts(call, given, function))  # fmt: skip

    def _identifier(self, function: Function) -> str:
        if function not in self.functions:
            self.functions[function] = self._names.new(function.name)
        return quoted(self.functions[function])

    def _as(self, expression: Expression, wanted: Type) -> str:
        return converted(self.write(expression), expression.type, wanted)

    def _part(self, part: Expression, whole: Call) -> str:
        """An argument of `coalesce`, a list, or lists that are joined, in the type that the whole has for it."""
        return self._as(part, self._part_type(part, whole))

    def _has_parts_converted(self, call: Call) -> bool:
        if call.function == "+" and call.type.kind is Kind.TEMPORAL:
            return False
        return holds_any(call.type) or not all(
            is_held(part.type, self._part_type(part, call)) for part in call.arguments
        )

    def _part_type(self, part: Expression, whole: Call) -> Type:
        is_item = whole.function == "list" or (whole.function == "+" and part.type.kind is not Kind.LIST)
        return whole.type.item or whole.type if is_item else whole.type

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
            slot = self._names.new(re.sub(r"\W", "_", f"p_{parameter.name}", flags=re.ASCII))
            self._slots[parameter.name] = slot
            self.values[slot] = given_value(self.parameters[parameter.name], parameter.type)
        return parameter_sql(slot, parameter.type)

    def _aggregate(self, aggregate: Aggregate) -> str:
        argument = aggregate.argument
        if self.weight is not None and is_weighed(aggregate):
            return weighed(aggregate, "0" if argument is None else self.write(argument), self.weight)
        if argument is None:
            return "count(*)"
        nested = argument.type.kind in (Kind.LIST, Kind.MAP)  # where DuckDB copies what min() takes
        return plain(aggregate, replace(self, subqueries=self.subqueries and not nested).write(argument))


# Calls that take a value of several types as it is; others take what it is of each.
_WHOLE = frozenset(
    {
        "=",
        "<>",
        "<",
        "<=",
        ">",
        ">=",
        "in",
        "is null",
        "is not null",
        "coalesce",
        "nullif",
        "list",
        "map",
        "+",
        "member",
    }
)


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
