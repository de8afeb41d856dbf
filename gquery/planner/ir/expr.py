"""Bound expressions: names are resolved, every node knows its type. The relational tail turns them into SQL.

There are nine kinds of node and no more: a constant, a parameter, a column (the only place where the graph's data comes
in), a call (operators are calls too), a CASE, an aggregate, and for lists, item by item, a comprehension, a reduction
and the local names that these give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from decimal import Decimal
from enum import Enum
from typing import Literal as OneOf

import pyarrow as pa

from gquery.errors import Span
from gquery.records import record, replace

Form = OneOf["list", "all", "any", "none", "single"]


class Kind(Enum):
    """Cypher's families of values."""

    NULL = "NULL"
    BOOLEAN = "BOOLEAN"
    INTEGER = "INTEGER"
    FLOAT = "FLOAT"
    DECIMAL = "DECIMAL"
    STRING = "STRING"
    TEMPORAL = "TEMPORAL"
    BYTES = "BYTES"
    LIST = "LIST"
    MAP = "MAP"
    NODE = "NODE"
    RELATIONSHIP = "RELATIONSHIP"
    PATH = "PATH"
    ANY = "ANY"

    __hash__ = object.__hash__  # there is one of each; the hash of its name is computed in Python


@record(frozen=True, slots=True)
class Type:
    """A value's type. `arrow` for plain values; `item` for lists (None: unknown items); `fields` for maps and for the
    two lists of a path; `tables` for elements: the vertex or edge tables that they may come from; `members` for ANY,
    whose values carry their own type: the types that they may have (`planner.common`)."""

    kind: Kind
    arrow: pa.DataType | None = None
    item: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()
    tables: tuple[int, ...] = ()
    members: tuple[Type, ...] = ()
    _hash: int | None = field(default=None, init=False, compare=False, repr=False)

    def __str__(self) -> str:
        if self.kind is Kind.ANY:
            return " or ".join(dict.fromkeys(str(member) for member in self.members))
        return f"LIST OF {self.item}" if self.kind is Kind.LIST and self.item else self.kind.value


NULL = Type(Kind.NULL, pa.null())
BOOLEAN = Type(Kind.BOOLEAN, pa.bool_())
INTEGER = Type(Kind.INTEGER, pa.int64())
FLOAT = Type(Kind.FLOAT, pa.float64())
STRING = Type(Kind.STRING, pa.string())
NODE = Type(Kind.NODE)
RELATIONSHIP = Type(Kind.RELATIONSHIP)
PATH = Type(Kind.PATH)


class Attribute(Enum):
    """What of a graph element a column holds."""

    ELEMENT = "element"  # the element itself: an internal id while it travels, a node or relationship at the end
    VALUE = "value"  # no element: a value that an earlier WITH computed
    PROPERTY = "property"
    ID = "id"
    LABELS = "labels"
    TYPE = "type"

    __hash__ = object.__hash__


@record(frozen=True, slots=True)
class Expression:
    """Base of the bound expressions. The span takes no part in equality."""

    type: Type
    span: Span = field(compare=False)
    _hash: int | None = field(default=None, init=False, compare=False, repr=False)


@record(frozen=True, slots=True)
class Constant(Expression):
    """A literal: None, bool, int, float or str; a float that is written beside a decimal is a Decimal."""

    value: bool | int | float | Decimal | str | None


@record(frozen=True, slots=True)
class Parameter(Expression):
    """A parameter; its value is given when the plan runs, its type was seen when the query was bound."""

    name: str


@record(frozen=True, slots=True)
class Column(Expression):
    """An attribute of the graph element bound to `variable`, or the value; `key` is the property's name."""

    variable: str
    attribute: Attribute
    key: str | None = None


@record(frozen=True, slots=True)
class Call(Expression):
    """A scalar function or an operator, by its name in `planner.functions`."""

    function: str
    arguments: tuple[Expression, ...]


@record(frozen=True, slots=True)
class Case(Expression):
    """Conditions (booleans) and values in order, then the default. With a `subject`, values that it is compared with
    stand in place of the conditions."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression
    subject: Expression | None = None


@record(frozen=True, slots=True)
class Aggregate(Expression):
    """count, sum, avg, min, max or collect; `argument` None is `count(*)`."""

    function: str
    argument: Expression | None
    distinct: bool


@record(frozen=True, slots=True)
class Local(Expression):
    """What a comprehension or a reduction that is `depth` deep within others calls an item of its list, or what it has
    of the items before."""

    name: str
    depth: int


@record(frozen=True, slots=True)
class Comprehension(Expression):
    """`list`: the results of the items that meet a condition; `all`, `any`, `none`, `single`: how many of them do. A
    result that is left out is the item; a condition that is left out is true."""

    form: Form
    variable: Local
    items: Expression
    where: Expression | None
    result: Expression | None


@record(frozen=True, slots=True)
class Reduce(Expression):
    """The last `accumulator`: it begins as `initial`, and `step` is the next one for each item."""

    accumulator: Local
    initial: Expression
    variable: Local
    items: Expression
    step: Expression


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands."""
    if isinstance(expression, Call):
        return expression.arguments
    if isinstance(expression, _LEAVES):  # which most are
        return ()
    match expression:
        case Comprehension(items=items, where=where, result=result):
            return tuple(part for part in (items, where, result) if part is not None)
        case Reduce(initial=initial, items=items, step=step):
            return (initial, items, step)
        case Case(subject=subject):
            parts = tuple(part for branch in expression.branches for part in branch)
            return (*(() if subject is None else (subject,)), *parts, expression.default)
        case Aggregate(argument=Expression() as argument):
            return (argument,)
    return ()


_LEAVES = (Column, Constant)


def with_children(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with every direct operand changed."""

    def changed(part: Expression | None) -> Expression | None:
        return None if part is None else change(part)

    match expression:
        case Call(arguments=arguments) if arguments:
            return replace(expression, arguments=tuple(map(change, arguments)))
        case Case(branches=branches, default=default, subject=subject):
            tested = tuple((change(when), change(then)) for when, then in branches)
            return replace(expression, branches=tested, default=change(default), subject=changed(subject))
        case Aggregate(argument=Expression() as argument):
            return replace(expression, argument=change(argument))
        case Comprehension(items=items, where=where, result=result):
            return replace(expression, items=change(items), where=changed(where), result=changed(result))
        case Reduce(initial=initial, items=items, step=step):
            return replace(expression, initial=change(initial), items=change(items), step=change(step))
    return expression


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything below it, in the order of writing."""
    pending = [expression]
    while pending:
        found = pending.pop()
        yield found
        pending.extend(reversed(children(found)))


def columns(expression: Expression) -> tuple[Column, ...]:
    """The distinct columns that the expression reads, in order of appearance."""
    if isinstance(expression, Column):
        return (expression,)
    found: dict[Column, None] = {}
    pending = [expression]
    while pending:
        each = pending.pop()
        if isinstance(each, Column):
            found[each] = None
        elif below := children(each):
            pending.extend(reversed(below))
    return tuple(found)


def variables(expression: Expression) -> frozenset[str]:
    """The graph elements that the expression speaks of."""
    return frozenset([column.variable for column in columns(expression)])


def is_aggregated(expression: Expression) -> bool:
    if isinstance(expression, Column):
        return False
    return any(isinstance(node, Aggregate) for node in walk(expression))


def is_volatile(expression: Expression) -> bool:
    """Whether the expression gives another value each time."""
    return any(isinstance(node, Call) and node.function == "rand" for node in walk(expression))


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """The parts of a conjunction; a row passes when every one of them is true."""
    if not (isinstance(expression, Call) and expression.function == "and"):
        return (expression,)
    return operands(expression)


def operands(call: Call) -> tuple[Expression, ...]:
    """Those of an operator that stands between any number of them, such as AND."""
    found: list[Expression] = []
    pending: list[Expression] = [call]
    while pending:
        part = pending.pop()
        if isinstance(part, Call) and part.function == call.function:
            pending.extend(reversed(part.arguments))
        else:
            found.append(part)
    return tuple(found)
