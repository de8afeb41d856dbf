"""Lists and maps: positions count from 0 here and from 1 in DuckDB, and a slice has no end where DuckDB's has one."""

from __future__ import annotations

from gquery.executor.relational.sql.comparison import (
    all_known,
    are_near,
    check_depth,
    equal,
    field_of,
    have_plain_items,
    is_known_list,
    unknown,
)
from gquery.executor.relational.sql.lists.among import any_equal
from gquery.executor.relational.sql.numbers import arithmetic
from gquery.executor.relational.sql.texts import joined_texts
from gquery.executor.relational.sql.time.fields import field_of_time
from gquery.executor.relational.sql.time.moments import alike
from gquery.executor.relational.sql.values import EMPTY_MAP, converted, is_held, needs_keys, sql_type
from gquery.executor.relational.sql.words import failing, literal
from gquery.planner.ir.expr import Call, Constant, Expression, Kind, is_volatile
from gquery.planner.ir.functions.calls import comparable

_LAST = 2**62  # a position beyond the end of any list, of which one more is a number of 64 bits


def member(call: Call, arguments: list[str]) -> str:
    """`value IN items`. The items of a list that is written out are arguments of their own."""
    value, *items = arguments
    one, many = call.arguments
    if many.type.kind is Kind.NULL:
        return unknown(*arguments)
    if is_written_out(many):
        listed = many.arguments  # type: ignore[attr-defined]
        if not items:
            return f"({value} IS NULL AND FALSE)"  # no literal, which ORDER BY would not take
        plain = all(_is_simple(item) and _is_plain(one, item) for item in listed)
        no_nan = _is_simple(one) or all(isinstance(item, Constant) for item in listed)
        nested = one.type.kind in (Kind.LIST, Kind.MAP)
        if plain and no_nan and not nested and not is_volatile(one):  # DuckDB would ask for the value again and again
            return f"({value} IN ({', '.join(items)}))"
        if (
            have_plain_items(one.type)
            and not is_volatile(one)
            and all(is_known_list(item, one.type) for item in listed)
        ):
            by_item = any_equal(value, one.type, f"[{', '.join(items)}]", one.type)
            return f"CASE WHEN {all_known(value, one.type)} THEN {value} IN ({', '.join(items)}) ELSE {by_item} END"
        item = many.type.item
        if item is not None and (needs_keys(one.type, item) or not all(is_held(part.type, item) for part in listed)):
            pairs = zip(items, listed, strict=True)
            return f"({' OR '.join(equal(value, one.type, text, part.type) for text, part in pairs)})"
        items = [f"[{', '.join(items)}]"]
    if many.type.item is None:
        return f"CASE WHEN len({items[0]}) = 0 THEN FALSE END"
    check_depth(call.span, one.type, many.type.item)
    return any_equal(value, one.type, items[0], many.type.item)


def _is_plain(one: Expression, item: Expression) -> bool:
    """Whether DuckDB compares the two as Cypher does."""
    near = alike(one.type, item.type) and (not needs_keys(one.type, item.type) or are_near(one, item))
    return comparable(one.type, item.type) and near


def is_written_out(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function == "list"


def _is_simple(expression: Expression) -> bool:
    """Whether DuckDB's equality is Cypher's: no nested value, and no NaN on either side."""
    if expression.type.kind in (Kind.LIST, Kind.MAP):
        return False
    return expression.type.kind is not Kind.FLOAT or isinstance(expression, Constant)


def plus(call: Call, arguments: list[str]) -> str:
    """Numbers add, texts and lists join."""
    left, right = arguments
    one, other = (argument.type for argument in call.arguments)
    if call.type.kind is Kind.STRING:
        return joined_texts(left, one, right, other)
    if call.type.kind is not Kind.LIST:
        return arithmetic(call, arguments)
    if Kind.NULL in (one.kind, other.kind):
        return f"CASE WHEN {left} IS NULL AND {right} IS NULL THEN NULL END"
    joins = "list_concat" if one.kind is other.kind else "list_append" if one.kind is Kind.LIST else "list_prepend"
    return f"CASE WHEN {left} IS NOT NULL AND {right} IS NOT NULL THEN {joins}({left}, {right}) END"


def index(call: Call, arguments: list[str]) -> str:
    """Negative positions count from the end, in both."""
    subject, position = arguments
    match call.arguments[1]:
        case Constant(value=int() as number):
            return f"{subject}[{min(number, _LAST) + 1 if number >= 0 else number}]"
    return f"{subject}[{_from_one(position)}]"


def slice_of(call: Call, arguments: list[str]) -> str:
    """`[start..end]`. A bound left out is a null."""
    subject, start, end = arguments
    first = "1" if _is_null(call.arguments[1]) else _from_one(start)
    before = f"CASE WHEN {end} < 0 THEN greatest({end}, {-_LAST}) - 1 ELSE {end} END"
    return f"{subject}[{first}:{f'len({subject})' if _is_null(call.arguments[2]) else before}]"


def _from_one(position: str) -> str:
    """DuckDB's number of a position."""
    return f"CASE WHEN {position} >= 0 THEN least({position}, {_LAST}) + 1 ELSE {position} END"


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value is None


def map_of(call: Call, arguments: list[str]) -> str:
    """A struct; DuckDB has no name for the type of one without fields."""
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    return "{" + (", ".join(f"{key}: {value}" for key, value in pairs) or EMPTY_MAP) + "}"


def look_up(call: Call, arguments: list[str]) -> str:
    """`map[key]`."""
    subject, key = arguments
    fields = call.arguments[0].type.fields
    cases = (
        f"WHEN {literal(name)} THEN {converted(field_of(subject, name), type_, call.type)}" for name, type_ in fields
    )
    return f"CASE {key} {' '.join(cases)} END" if fields else "NULL"


def field(call: Call, arguments: list[str]) -> str:
    """`subject.key` of a map or a point in time."""
    subject, key = call.arguments
    assert isinstance(key, Constant)  # others are looked up
    if subject.type.kind is Kind.MAP:
        types = dict(subject.type.fields)
        name = str(key.value)
        if name not in types:  # other maps of several have it
            return f"NULL::{sql_type(call.type)}"
        return converted(field_of(arguments[0], name), types[name], call.type)
    if subject.type.kind is not Kind.TEMPORAL:
        return failing(arguments[0], f"a value of type {subject.type} has no `{key.value}`")
    return field_of_time(arguments[0], subject.type, str(key.value), key.span)
