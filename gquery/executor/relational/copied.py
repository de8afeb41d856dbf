"""Values that are made of several copies of one: `s + s`, `replace(s, 'a', 'aaa')`. A few such clauses in a row make
any value as long as memory is, since DuckDB counts none for the values of an expression. So what is copied has a limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from gquery.executor.relational.growth import LONGEST_LIST, LONGEST_TEXT, error
from gquery.planner.ir.expr import Call, Column, Constant, Expression, Kind, walk

_LONGEST = {Kind.STRING: LONGEST_TEXT, Kind.LIST: LONGEST_LIST}
_TOO_LONG = error(f"copies make texts of at most {LONGEST_TEXT:,} characters, lists of {LONGEST_LIST:,} values")


def most_copies(expressions: Iterable[Expression]) -> int:
    """How many copies of a value there may be in one that is made of it."""
    found = (copies_of(part) for expression in expressions for part in walk(expression) if is_joined(part))
    return max((number for each in found for number in each.values()), default=1)


def is_joined(expression: Expression) -> bool:
    """Whether it is made of other texts or lists, one after the other."""
    return isinstance(expression, Call) and expression.function in ("+", "replace") and expression.type.kind in _LONGEST


def copies_of(expression: Expression) -> Counter[Column]:
    """How often the values of columns stand in what is made of them."""
    match expression:
        case Column(type=type_) if type_.kind in _LONGEST:
            return Counter({expression: 1})
        case Call(function="+", arguments=(left, right)) if is_joined(expression):
            return copies_of(left) + copies_of(right)
        case Call(function="replace", arguments=(subject, Constant(value=str() as old), Constant(value=str() as new))):
            times = -(-len(new) // max(1, len(old))) if old else len(new) + 1
            return Counter({column: number * max(1, times) for column, number in copies_of(subject).items()})
    return Counter()


def guarded(expression: Expression, text: str, write: Callable[[Expression], str]) -> str:
    """The SQL of what is joined, or an error where something is too long to be copied so often."""
    for column, number in copies_of(expression).items():
        if number > 1:
            length = "strlen" if column.type.kind is Kind.STRING else "len"
            most = _LONGEST[column.type.kind] // number
            text = f"CASE WHEN {length}({write(column)}) > {most} THEN {_TOO_LONG} ELSE {text} END"
    return text
