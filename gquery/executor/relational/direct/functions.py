"""What Arrow calls openCypher's functions. Where one of its own raises an error, DuckDB has the words for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from gquery.arrays import pc
from gquery.executor.relational.direct import lists
from gquery.executor.relational.direct.types import (
    Unsaid,
    Value,
    are_alike,
    can_be_carried,
    expect_room,
    is_fraction,
    is_moment,
    is_whole,
)
from gquery.planner.ir.expr import Kind, Type


def function_of(function: str, type_: Type, given: Sequence[Type]) -> Callable[..., Value]:
    """For arguments of some types. Raises Unsaid."""
    alike = all(are_alike(each, given[0]) for each in given)
    match function:
        case "=" | "<>" | "<" | "<=" | ">" | ">=" if alike or all(map(is_moment, given)):
            if function in ("=", "<>") or given[0].kind in (Kind.INTEGER, Kind.STRING, Kind.TEMPORAL):
                return _arrow(_COMPARISONS[function])
        case "=" | "<>" | "<" | "<=" | ">" | ">=" if all(map(is_fraction, given)):
            return _arrow(_COMPARISONS[function])
        case "and" | "or" | "not" if all(each.kind is Kind.BOOLEAN for each in given):
            return _arrow(_LOGIC[function])
        case "is null" | "is not null" if can_be_carried(given[0]):
            return _arrow(_LOGIC[function])
        case "coalesce" if alike and are_alike(type_, given[0]):
            return _arrow("coalesce")
        case "+" | "-" | "*" | "%" if len(given) == 2 and all(map(is_whole, given)) and is_whole(type_):
            return _remainder if function == "%" else _arrow(_ARITHMETIC[function])
        case "+" if len(given) == 2 and type_.kind is Kind.STRING and alike:
            return _joined
        case "tostring" if is_whole(given[0]):
            return lambda value: value.cast(pa.string())
        case "head" if can_be_carried(given[0]):
            return lambda items: pc.list_element(items, 0)
        case "index" if given[0].kind is Kind.LIST and can_be_carried(given[0]) and is_whole(given[1]):
            return lists.item_at
        case "in" if given[1].kind is Kind.LIST and given[1].item is not None and are_alike(given[0], given[1].item):
            return lists.is_among
        case "range" if len(given) == 2 and all(map(is_whole, given)):
            return lists.numbers_between
        case "nodes" | "relationships" if given[0].kind is Kind.PATH:
            return lambda path: pc.struct_field(path, function)
        case "length" if given[0].kind is Kind.PATH:
            return _length
    raise Unsaid


def _arrow(name: str) -> Callable[..., Value]:
    function: Callable[..., Value] = getattr(pc, name)
    return function


def _joined(one: Value, other: Value) -> Value:
    expect_room(sum(each.nbytes for each in (one, other) if isinstance(each, pa.Array)))
    return pc.binary_join_element_wise(one, other, "")


def _length(path: Value) -> Value:
    """The relationships of each path."""
    return pc.list_value_length(pc.struct_field(path, "relationships")).cast(pa.int64())


def _remainder(one: Value, other: Value) -> Value:
    """What division towards zero leaves."""
    return pc.subtract_checked(one, pc.multiply_checked(pc.divide_checked(one, other), other))


_COMPARISONS = {
    "=": "equal",
    "<>": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}
_LOGIC = {
    "and": "and_kleene",
    "or": "or_kleene",
    "not": "invert",
    "is null": "is_null",
    "is not null": "is_valid",
}
_ARITHMETIC = {  # an overflow is an error, and so is nothing to divide by
    "+": "add_checked",
    "-": "subtract_checked",
    "*": "multiply_checked",
}
