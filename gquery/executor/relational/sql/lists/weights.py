"""How long texts and lists are, wherever in a value they are: what has no limit of memory has one of length."""

from __future__ import annotations

from gquery.executor.relational.sql.comparison import field_of
from gquery.executor.relational.sql.values import members_of
from gquery.planner.ir.expr import Kind, Type

LONGEST_LIST = 1_000_000  # values of a range()
LONGEST_TEXT = 1 << 24  # characters of what replace() makes


def weight(value: str, type_: Type, depth: int = 0) -> str | None:
    """SQL of how long the texts and lists of a value are together, in characters; an item of a list stands for some.
    None where there are none."""
    if type_.kind is Kind.STRING:
        return f"len({value})"
    if type_.kind is Kind.LIST:
        name = f'" held {depth}"'
        inside = weight(name, type_.item, depth + 1) if type_.item is not None else None
        all_inside = f" + coalesce(list_sum(list_transform({value}, lambda {name}: {inside})), 0)" if inside else ""
        return f"(len({value}) * {LONGEST_TEXT // LONGEST_LIST}{all_inside})"
    parts = [(field, field_of(value, key)) for key, field in type_.fields]
    parts += members_of(value, type_) if type_.members else []
    weights = [found for of, part in parts if (found := weight(part, of, depth)) is not None]
    return f"({' + '.join(f'coalesce({each}, 0)' for each in weights)})" if weights else None
