"""Values that are far larger than what they are made of: `range()` lists, `replace()` with long texts, and copies of
one value, such as `s + s`, of which a few clauses in a row make any value as long as memory is.

DuckDB counts no memory for the values of an expression and looks at nothing until a block of rows is done. So a single
value has a limit, and statements that make such values see few rows at a time: a block then takes milliseconds, and
some ten megabytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import reduce
from operator import add, or_

from gquery.executor.relational.sql.lists.weights import LONGEST_LIST, LONGEST_TEXT, weight
from gquery.planner.ir.expr import (
    Aggregate,
    Call,
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
    is_aggregated,
    walk,
)

LONGEST_OF_GROUP = 10_000  # the same for what is computed of groups, of which DuckDB takes 2,048 at a time
MOST_WITHIN = 1 << 22  # items that are gone through for one value by lists within lists, all together
FEW_ROWS = 4
_SHORT_LIST = 1_000
_SHORT_TEXT = 64


def rows_at_once(expressions: Iterable[Expression]) -> int | None:
    """How many rows DuckDB may see at a time to compute the expressions; None where any number will do."""
    calls = sum(_growing_calls(expression) for expression in expressions)
    return max(1, FEW_ROWS // calls) if calls else None


def may_be_long(expression: Expression) -> bool:
    """Whether a value of the expression may itself be long."""
    return expression.type.kind in (Kind.LIST, Kind.STRING, Kind.MAP)


def _growing_calls(expression: Expression, for_items: bool = False) -> int:
    """for_items: whether it is computed for each item of a list."""
    again = _for_items(expression)
    inside = sum(_growing_calls(child, for_items or child in again) for child in children(expression))
    match expression:
        case Reduce():
            return inside + _doubles(expression)
        case Call():
            return inside + (grows(expression, inside > 0) and (for_items or not _numbers_items(expression)))
    return inside


def _for_items(expression: Expression) -> tuple[Expression | None, ...]:
    """What of an expression is computed for each item of its list."""
    match expression:
        case Comprehension(where=where, result=result):
            return where, result
        case Reduce(step=step):
            return (step,)
    return ()


def _numbers_items(call: Call) -> bool:
    """Whether the list is about as long as one that there is, as that of its positions is, `range(0, size(x) - 1)`."""
    return call.function == "range" and all(_is_length(bound) for bound in call.arguments[:2])


def _is_length(bound: Expression) -> bool:
    """Whether a number is small, or about that of the items that a row has; all rows share those of a constant."""
    match bound:
        case Constant(value=int() as number):
            return abs(number) <= _SHORT_LIST
        case Call(function="size" | "length", arguments=(counted,)) if counted.type.kind in (Kind.LIST, Kind.PATH):
            return not any(isinstance(part, Constant | Parameter) and may_be_long(part) for part in walk(counted))
        case Call(function="+" | "-", arguments=(bound, Constant(value=int() as number))):
            return abs(number) <= _SHORT_LIST and _is_length(bound)
    return False


def _doubles(reduce: Reduce) -> bool:
    """Whether every step may make the value twice as long."""
    return copies_in_step(reduce) > 1 and reduce.type.kind in (Kind.LIST, Kind.STRING, Kind.MAP, Kind.ANY)


def copies_in_step(reduce: Reduce) -> int:
    """How often a step of a reduction speaks of what it goes on from."""
    return sum(isinstance(part, Local) and part.name == reduce.accumulator.name for part in walk(reduce.step))


def grows(call: Call, inside: bool) -> bool:
    """Whether what the call makes may be far longer than its arguments, of which some grow (`inside`)."""
    match call:
        case Call(function="range", arguments=(Constant(value=int() as start), Constant(value=int() as stop), *_)):
            return abs(stop - start) > _SHORT_LIST
        case Call(function="replace", arguments=(_, _, Constant(value=str() as new))):
            return inside or len(new) > _SHORT_TEXT
    return call.function in ("range", "replace")


def write_range(call: Call, arguments: list[str], around: str | None = None) -> str:
    """The list, or an error where it would be too long; for a step of zero, where DuckDB has an empty list. around: of
    how many items of lists each has one, which may have MOST_WITHIN together."""
    start, stop, step = (*arguments, "1")[:3]
    most = LONGEST_OF_GROUP if is_aggregated(call) else LONGEST_LIST
    of_group = " of a group" if most < LONGEST_LIST else ""
    within = f", {MOST_WITHIN:,} together within lists" if around else ""
    too_many = error(f"range() makes lists of at most {most:,} values{of_group}{within}")
    no_step = error("range() needs a step that is not 0")
    allowed = f"least({most}, {_share(MOST_WITHIN, around)})" if around else f"{most}"
    last = f"WHEN ({_B}::HUGEINT - {_A}) // nullif({_C}, 0) >= {allowed} THEN {too_many} ELSE {_B} END"
    none = f"{_A} IS NULL OR {_B} IS NULL OR {_C} IS NULL"
    end = f"CASE WHEN {none} THEN NULL WHEN {_C} = 0 THEN {no_step} {last}"
    return _bound_once((start, stop, step), f"generate_series({_A}, {end}, {_C})")


def write_replace(call: Call, arguments: list[str], around: str | None = None) -> str:
    """The text, or an error where it would be too long, or all that lists `around` have one of."""
    if not _growing_calls(call):
        return "replace({}, {}, {})".format(*arguments)
    most = f"length({_A})::HUGEINT // greatest(length({_B}), 1) * length({_C})"
    found = f"(length({_A}) - length(replace({_A}, {_B}, ''))) // greatest(length({_B}), 1)"
    length = f"length({_A}) + {found}::HUGEINT * (length({_C}) - length({_B}))"
    longest = _share(LONGEST_TEXT, around) if around else f"{LONGEST_TEXT}"
    is_long = f"CASE WHEN {most} > {longest} THEN {length} > {longest} ELSE FALSE END"
    new = f"CASE WHEN {is_long} THEN {error(_LONG_TEXT)} ELSE {_C} END"
    return _bound_once(tuple(arguments), f"replace({_A}, {_B}, {new})")


_LONG_TEXT = f"replace() makes texts of at most {LONGEST_TEXT:,} characters"


def _share(most: int, around: str) -> str:
    return f"({most} // greatest({around}, 1))"


def error(message: str) -> str:
    return f"error('{message}')"


_HOLDING = frozenset({Kind.LIST, Kind.STRING, Kind.MAP, Kind.ANY})
_LONGEST = {Kind.STRING: LONGEST_TEXT, Kind.LIST: LONGEST_LIST}
_LONG_COPIED = error(f"copies make texts of at most {LONGEST_TEXT:,} characters, lists of {LONGEST_LIST:,} values")


_BOUND = '" bound"'  # no column's name begins like this: one that did would be meant before the parameter of a lambda
_A, _B, _C = (f"{_BOUND}.{name}" for name in "abc")


def _bound_once(arguments: tuple[str, ...], body: str) -> str:
    """The body, which names the arguments as often as it likes: each is written and computed once."""
    fields = ", ".join(f"{name}: {argument}" for name, argument in zip("abc", arguments, strict=True))
    return f"list_transform([{{{fields}}}], lambda {_BOUND}: {body})[1]"


def most_copies(expressions: Iterable[Expression]) -> int:
    """How many copies of a value there may be in one that is made of it."""
    found = (copies_of(part) for expression in expressions for part in walk(expression) if is_joined(part))
    return max((number for each in found for number in each.values()), default=1)


def is_joined(expression: Expression) -> bool:
    """Whether it is made of other values, one after the other."""
    if not isinstance(expression, Call):
        return False
    joins = expression.function in ("+", "replace") and expression.type.kind in _LONGEST
    return joins or expression.function in ("list", "map")


def copies_of(expression: Expression, held: Collection[Expression] = ()) -> Counter[Expression]:
    """How often the values of columns stand in what is made of them, at most. held: what is a column besides, as it was
    computed before."""
    if expression in held and expression.type.kind in _HOLDING:
        return Counter({expression: 1})
    match expression:
        case Aggregate():
            return Counter()
        case Column(type=type_) if type_.kind in _HOLDING:
            return Counter({expression: 1})
        case Call(function="replace", arguments=(subject, Constant(value=str() as old), Constant(value=str() as new))):
            times = -(-len(new) // max(1, len(old))) if old else len(new) + 1
            return Counter({column: number * max(1, times) for column, number in copies_of(subject, held).items()})
    parts = children(expression) if expression.type.kind in _HOLDING else ()
    each = (copies_of(part, held) for part in parts)
    return reduce(add if is_joined(expression) else or_, each, Counter())


def guarded(
    expression: Expression, text: str, write: Callable[[Expression], str], held: Collection[Expression] = ()
) -> str:
    """The SQL of what is joined, or an error where something is too long to be copied so often. held: what `write`
    knows as a column."""
    for column, number in copies_of(expression, held).items():
        if number > 1:
            long = _is_longer(write(column), column.type, number)
            text = text if long is None else f"CASE WHEN {long} THEN {_LONG_COPIED} ELSE {text} END"
    return text


def _is_longer(value: str, type_: Type, number: int) -> str | None:
    """Whether so many copies of a value are too long together."""
    if type_.kind is Kind.STRING:
        return f"strlen({value}) > {LONGEST_TEXT // number}"
    if type_.kind is Kind.LIST and (type_.item is None or type_.item.kind not in _HOLDING):
        return f"len({value}) > {LONGEST_LIST // number}"
    long = weight(value, type_)
    return None if long is None else f"{long} > {LONGEST_TEXT // number}"
