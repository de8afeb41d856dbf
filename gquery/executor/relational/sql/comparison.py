"""Comparisons as openCypher has them, over two texts of known types that may be repeated.

Three-valued at any depth: an item that is null makes a comparison of lists unknown where the others do not decide it.
Values of different families are not equal and in no order, NaN is equal to nothing and in no order, where DuckDB takes
it for the greatest number and equal to itself.
"""

from __future__ import annotations

from itertools import product

from gquery.errors import Span, UnsupportedError
from gquery.executor.relational.sql.time.durations import is_duration
from gquery.executor.relational.sql.time.moments import alike, nanoseconds
from gquery.executor.relational.sql.values import compared, is_nan, members_of, needs_keys, sorting_key
from gquery.executor.relational.sql.words import literal
from gquery.planner.ir.expr import Call, Constant, Expression, Kind, Type
from gquery.planner.ir.functions.calls import comparable, has_order

_DEPTH = 8  # of lists in lists; DuckDB takes twice as long for each
_WHOLE_AND_FLOAT = {Kind.INTEGER, Kind.FLOAT}
_NUMBER = '" number"'  # what a lambda calls what it is given
_APART = frozenset({Kind.LIST, Kind.MAP, Kind.NODE, Kind.RELATIONSHIP, Kind.PATH})  # only lists have an order
PLAIN_ITEMS = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.STRING, Kind.BOOLEAN})


def comparison(call: Call, arguments: list[str]) -> str:
    """`=`, `<>` or an order."""
    left, right = arguments
    one, other = call.arguments
    check_depth(call.span, one.type, other.type)
    if needs_keys(one.type, other.type) and not are_near(one, other):
        keyed = _by_value(call.function, left, one.type, right, other.type)
        return _near(call, left, right, keyed) if {one.type.kind, other.type.kind} == _WHOLE_AND_FLOAT else keyed
    match call.function:
        case "=":
            return equal(left, one.type, right, other.type, _may_be_nan(one) and _may_be_nan(other))
        case "<>":
            return _unequal(left, one, right, other)
    if not _ordered(one.type, other.type):
        return unknown(left, right)
    if one.type.kind is Kind.LIST:
        order = f"({_order(left, one.type, right, other.type)} {call.function} 0)"
        return _where_known(f"{left} {call.function} {right}", left, one.type, right, other.type, order)
    return _plain(call, left, right)


def _near(call: Call, left: str, right: str, exactly: str) -> str:
    """An integer beside a float: compared as floats where these hold the integer, else as `exactly` does."""
    whole = left if call.arguments[0].type.kind is Kind.INTEGER else right
    plain = f"({left} {call.function} {right})" if call.function in ("=", "<>") else _plain(call, left, right)
    return f"CASE WHEN {whole} BETWEEN {-(2**53)} AND {2**53} THEN {plain} ELSE {exactly} END"


def _plain(call: Call, left: str, right: str) -> str:
    """An order of values that have no parts."""
    one, other = call.arguments
    plain = _beside(left, one.type, call.function, right, other.type)
    # DuckDB takes NaN for the greatest number: the side that would be the greater must not be it.
    sides = [(left, one), (right, other)] if call.function in ("<", "<=") else [(right, other), (left, one)]
    (lesser, lesser_side), (greater, greater_side) = sides
    if not _may_be_nan(greater_side):
        return f"({plain})"
    return f"({plain} AND {_unless_null(lesser, lesser_side)}NOT isnan({greater})))"


def condition(call: Call, arguments: list[str]) -> str | None:
    """A comparison where null is as good as false, when that makes it simpler: beside constants a list with nulls is
    never equal, and beside a null NaN need not be told."""
    one, other = call.arguments
    left, *rest = arguments
    match call.function:
        case "=" if is_known_list(one, other.type) or is_known_list(other, one.type):
            return f"({left} = {rest[0]})"
        case "<" | "<=" if is_known_list(other, one.type):  # null and NaN are the greatest in DuckDB
            return f"({left} {call.function} {rest[0]})"
        case "<" | "<=" | ">" | ">=" if one.type.kind is other.type.kind is Kind.FLOAT:
            greater, side = (rest[0], other) if call.function in ("<", "<=") else (left, one)
            known = f" AND NOT isnan({greater})" if _may_be_nan(side) else ""
            return f"({left} {call.function} {rest[0]}{known})"
    return None


def is_known_list(expression: Expression, beside: Type) -> bool:
    """Whether the expression is a list of constants, of which none is null, of the same kind as a list's items."""
    return (
        isinstance(expression, Call)
        and expression.function == "list"
        and have_plain_items(beside)
        and all(
            isinstance(item, Constant) and item.value is not None and item.type.kind is _item(beside).kind
            for item in expression.arguments
        )
    )


def check_depth(span: Span, *types: Type) -> None:
    """Raises UnsupportedError for lists that are too deep to be compared."""
    if max(map(_depth, types)) > _DEPTH:
        raise UnsupportedError(f"gquery compares lists that are nested {_DEPTH} deep at most", span=span)


def unknown(*arguments: str) -> str:
    """Null, whatever the arguments are; they are still computed, and may fail."""
    return f"CASE WHEN {' AND '.join(f'{argument} IS NULL' for argument in arguments)} THEN NULL::BOOLEAN END"


def equal(left: str, one: Type, right: str, other: Type, may_be_nan: bool = True, depth: int = 0) -> str:
    """Whether two values are equal: true, false or null."""
    if Kind.NULL in (one.kind, other.kind):
        return unknown(left, right)
    if not comparable(one, other):
        return f"CASE WHEN {left} IS NOT NULL AND {right} IS NOT NULL THEN FALSE END"
    if needs_keys(one, other):
        return _by_value("=", left, one, right, other, depth)
    if one.kind is Kind.LIST:
        by_item = _equal_lists(left, one, right, other, depth)
        return by_item if depth else _where_known(f"{left} = {right}", left, one, right, other, by_item)
    if one.kind is Kind.MAP:
        types = dict(other.fields)
        parts = [
            equal(field_of(left, key), type_, field_of(right, key), types[key], depth=depth)
            for key, type_ in one.fields
        ]
        return f"CASE WHEN {left} IS NOT NULL AND {right} IS NOT NULL THEN ({' AND '.join(parts) or 'TRUE'}) END"
    if may_be_nan and one.kind is other.kind is Kind.FLOAT:
        return f"({left} = {right} AND ({right} IS NULL OR NOT isnan({left})))"
    return f"({_beside(left, one, '=', right, other)})"


def _by_value(operator: str, left: str, one: Type, right: str, other: Type, depth: int = 0) -> str:
    """A comparison of unlike numbers, or of values that carry their own types: lists and maps by their items, elements
    by themselves, everything else by keys."""
    cases = []
    for (mine, this), (theirs, that) in product(members_of(left, one), members_of(right, other)):
        if mine.kind is theirs.kind and mine.kind in _APART:
            nested = _nested(operator, this, mine, that, theirs, depth)
            cases.append(f"WHEN {this} IS NOT NULL AND {that} IS NOT NULL THEN {nested}")
    plain = compared(operator, left, one, right, other)
    return f"CASE {' '.join(cases)} ELSE {plain} END" if cases else plain


def _nested(operator: str, left: str, one: Type, right: str, other: Type, depth: int) -> str:
    if operator in ("=", "<>"):
        return f"({'NOT ' * (operator == '<>')}{equal(left, one, right, other, depth=depth)})"
    return f"({_order(left, one, right, other, depth)} {operator} 0)" if one.kind is Kind.LIST else "NULL::BOOLEAN"


def are_near(one: Expression, other: Expression) -> bool:
    """Whether an integer and a float compare as floats without loss: one of them is written, and small."""
    small = any(isinstance(side, Constant) and isinstance(side.value, int | float) and abs(side.value) < 2**53
                for side in (one, other))  # fmt: skip
    return small and {one.type.kind, other.type.kind} == {Kind.INTEGER, Kind.FLOAT}


def field_of(subject: str, key: str) -> str:
    """A map's value; its keys are known."""
    return f"struct_extract({subject}, {literal(key)})"


def _unequal(left: str, one: Expression, right: str, other: Expression) -> str:
    if not comparable(one.type, other.type):
        return f"CASE WHEN {left} IS NOT NULL AND {right} IS NOT NULL THEN TRUE END"
    if one.type.kind in (Kind.LIST, Kind.MAP):
        return f"(NOT {equal(left, one.type, right, other.type)})"
    if _may_be_nan(one) and _may_be_nan(other):
        return f"({left} <> {right} OR ({right} IS NOT NULL AND isnan({left})))"
    return f"({_beside(left, one.type, '<>', right, other.type)})"


def _beside(left: str, one: Type, operator: str, right: str, other: Type) -> str:
    """DuckDB's comparison; of times that it does not compare as they are, by their nanoseconds."""
    if is_duration(one) and is_duration(other) and operator not in ("=", "<>"):
        left, right = sorting_key(left, one), sorting_key(right, other)
    if not alike(one, other):
        left, right = nanoseconds(left, one), nanoseconds(right, other)
    return f"{left} {operator} {right}"


def _unless_null(text: str, side: Expression) -> str:
    """Beside a null nothing is false."""
    return "(" if isinstance(side, Constant) else f"({text} IS NULL OR "


def _may_be_nan(side: Expression) -> bool:
    return side.type.kind is Kind.FLOAT and not isinstance(side, Constant)


def _equal_lists(left: str, one: Type, right: str, other: Type, depth: int) -> str:
    pair = f'" pair{depth}"'
    items = equal(f"{pair}[1]", _item(one), f"{pair}[2]", _item(other), depth=depth + 1)
    least = f"list_min(list_transform(list_zip({left}, {right}), lambda {pair}: {truth_code(items)}))"
    same_length = f"CASE WHEN len({left}) <> len({right}) THEN FALSE ELSE {one_of(least, left, 'TRUE')} END"
    return f"CASE WHEN {left} IS NOT NULL AND {right} IS NOT NULL THEN {same_length} END"


def _where_known(plain: str, left: str, one: Type, right: str, other: Type, by_item: str) -> str:
    """A comparison of lists: DuckDB's own where no item is null or NaN, which is far faster than item by item."""
    if not (have_plain_items(one) and have_plain_items(other) and _item(one).kind is _item(other).kind):
        return by_item
    known = f"{all_known(left, one)} AND {all_known(right, other)}"
    return f"CASE WHEN {known} THEN {plain} ELSE {by_item} END"


def have_plain_items(type_: Type) -> bool:
    """Whether a list's items are such that DuckDB compares two lists as Cypher does, but for items null and NaN."""
    return type_.kind is Kind.LIST and type_.item is not None and type_.item.kind in PLAIN_ITEMS


def all_known(items: str, type_: Type) -> str:
    """Whether none of the items of a list is null or NaN; not true of a null."""
    known = f"list_count({items}) = len({items})"
    if type_.item is None or not (tests := is_nan(_NUMBER, type_.item)):
        return f"({known})"
    if type_.item.kind is Kind.FLOAT:
        return f"({known} AND NOT list_contains({items}, 'NaN'::DOUBLE))"
    return f"({known} AND len(list_filter({items}, lambda {_NUMBER}: {tests[0]})) = 0)"


def truth_code(truth: str) -> str:
    """False, null and true as 1, 2 and 3."""
    return f"coalesce({truth}::INTEGER * 2 + 1, 2)"


def one_of(code: str, items: str, of_none: str) -> str:
    """The truth that a code stands for; the code of no items at all is null."""
    return f"CASE WHEN len({items}) = 0 THEN {of_none} ELSE [FALSE, NULL, TRUE][{code}] END"


def _order(left: str, one: Type, right: str, other: Type, depth: int = 0) -> str:
    """A number below, at or above 0 as `left` comes before, with or after `right`; null when that is unknown."""
    if not one.kind is other.kind is Kind.LIST:
        same = equal(left, one, right, other, depth=depth)
        if not _ordered(one, other):
            return f"CASE WHEN {same} THEN 0 END"
        nan = "".join(f"WHEN {test} THEN NULL " for test in (*is_nan(left, one), *is_nan(right, other)))
        by_value = needs_keys(one, other)
        less, more = (_by_value(sign, left, one, right, other, depth) if by_value
                      else _beside(left, one, sign, right, other)
                      for sign in "<>")  # fmt: skip
        return f"CASE WHEN {same} THEN 0 {nan}WHEN {less} THEN -1 WHEN {more} THEN 1 END"
    pair = f'" pair{depth}"'
    items = _order(f"{pair}[1]", _item(one), f"{pair}[2]", _item(other), depth + 1)
    # The shorter list's end decides when nothing before it does.
    decided = f"list_transform(list_zip({left}, {right}, true), lambda {pair}: {items})"
    return (
        f"CASE WHEN {left} IS NOT NULL AND {right} IS NOT NULL THEN coalesce(list_filter("
        f'list_transform({decided}, lambda " sign": {{sign: " sign"}}), lambda " first": '
        f'" first".sign IS DISTINCT FROM 0)[1], {{sign: len({left}) - len({right})}}).sign END'
    )


def _ordered(one: Type, other: Type) -> bool:
    return Kind.NULL not in (one.kind, other.kind) and comparable(one, other) and has_order(one)


def _item(type_: Type) -> Type:
    return type_.item or Type(Kind.NULL)


def _depth(type_: Type) -> int:
    if type_.kind is Kind.LIST:
        return 1 + _depth(_item(type_))
    return max((_depth(value) for _, value in type_.fields), default=0)
