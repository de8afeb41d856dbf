"""Binds expressions: names to columns, operators and functions to calls with a known type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gquery.errors import BindError, Span, UnsupportedError, did_you_mean
from gquery.grammar import ast
from gquery.planner.binding.expressions import elements, maps, moments
from gquery.planner.binding.expressions.comparisons import COMPARISONS, notices, read_texts
from gquery.planner.binding.expressions.each_time import has_several_times, of_each_time
from gquery.planner.binding.expressions.items import bind_comprehension, bind_reduce
from gquery.planner.binding.scope import Names
from gquery.planner.ir.expr import (
    BOOLEAN,
    INTEGER,
    NULL,
    STRING,
    Aggregate,
    Attribute,
    Call,
    Case,
    Column,
    Constant,
    Expression,
    Kind,
    Local,
    Parameter,
    Type,
    is_aggregated,
    is_volatile,
)
from gquery.planner.ir.functions.calls import is_aggregate, is_operator, prepared, resolve
from gquery.planner.ir.functions.operators import PERCENTILES, TEXT_TESTS
from gquery.planner.ir.functions.rules import arithmetic
from gquery.planner.ir.types.elements import ELEMENTS
from gquery.planner.ir.types.value_types import expect_told_apart, type_of_value
from gquery.records import replace
from gquery.stopping import Check
from gquery.storage.schema import Schema
from gquery.values.time_functions import FUNCTIONS

_DEEPEST = 10  # names of items within each other; DuckDB takes twice as long for each


class ExpressionBinder:
    """Binds expressions over the elements in `names`.

    `aggregates`: whether count() and its kin may stand here; `place` names the place for the message when not.
    """

    def __init__(
        self,
        schema: Schema,
        names: Names,
        parameters: Mapping[str, object],
        *,
        aggregates: bool,
        place: str,
        check: Check,
    ) -> None:
        self.schema = schema
        self.names = names
        self.parameters = parameters
        self.aggregates = aggregates
        self.place = place
        self.check = check
        self.aliases: dict[str, Expression] = {}
        self.locals: dict[str, Local] = {}

    def bind(self, tree: ast.Expression) -> Expression:
        self.check()
        match tree:
            case ast.Literal(value=value):
                return Constant(type_of_value(value, tree.span), tree.span, value)
            case ast.Parameter(name=name):
                return self.parameter(name, tree.span)
            case ast.Variable(name=name):
                return self._local(name, tree.span) or self.aliases.get(name) or self.variable(name, tree.span)
            case ast.Property():
                return self._property(tree)
            case ast.ListLiteral(items=items):
                return self.call("list", tuple(self.bind(item) for item in items), tree.span)
            case ast.MapLiteral(entries=entries):
                return maps.map_of([(entry.key, self.bind(entry.value)) for entry in entries], tree.span)
            case ast.Unary(operator=operator, operand=operand):
                return self._unary(operator, operand, tree.span)
            case ast.Binary(operator=operator, left=left, right=right):
                return self.call(operator, (self.bind(left), self.bind(right)), tree.span)
            case ast.LabelTest():
                return elements.bind_label_test(self, tree)
            case ast.Index(subject=subject, index=index):
                return self._index(subject, index, tree.span)
            case ast.Slice():
                return self._slice(tree)
            case ast.FunctionCall():
                return self._function(tree)
            case ast.Case():
                return self._case(tree)
            case ast.Comprehension():
                return bind_comprehension(self, tree)
            case ast.Reduce():
                return bind_reduce(self, tree)
            case ast.MapProjection():
                return maps.bind_projection(self, tree)
            case ast.PatternPredicate() | ast.Exists() | ast.Subquery():
                raise no_pattern(tree.span)
        raise AssertionError(tree)

    def _local(self, name: str, span: Span) -> Local | None:
        known = self.locals.get(name)
        return None if known is None else replace(known, span=span)

    def local(self, name: str, type_: Type, span: Span, place: int = 0) -> Local:
        """A name of an item, deeper than those in sight."""
        depth = max((each.depth + 1 for each in self.locals.values()), default=0) + place
        if depth >= _DEEPEST:
            raise UnsupportedError(f"gquery has {_DEEPEST} names of items within each other at most", span=span)
        return Local(type_, span, name, depth)

    @contextmanager
    def with_locals(self, *locals_: Local) -> Iterator[None]:
        """What is bound meanwhile is asked of each item of a list."""
        before = self.locals, self.aggregates, self.place
        self.locals = {**self.locals, **{each.name: each for each in locals_}}
        self.aggregates, self.place = False, "what is asked of each item"
        try:
            yield
        finally:
            self.locals, self.aggregates, self.place = before

    def parameter(self, name: str, span: Span) -> Parameter:
        if name not in self.parameters:
            raise BindError(
                f"parameter `${name}` has no value",
                span=span,
                hint=did_you_mean(name, self.parameters) or "give it in the query's parameters",
            )
        type_ = type_of_value(self.parameters[name], span, f"parameter `${name}`", self.check)
        return Parameter(type_, span, name)

    def call(
        self, function: str, given: tuple[Expression, ...], span: Span, name_span: Span | None = None
    ) -> Expression:
        """A call with its type, or what it gives where all is known. Raises BindError when the arguments do not fit."""
        folded = moments.folded(function, given, span)
        if folded is not None:
            return folded
        if function in ("+", "-") and has_several_times(given):
            return of_each_time(self, given, span, lambda each: self.call(function, each, span, name_span))
        if function == "in" or function in COMPARISONS:
            given = self._compared(function, given, span)
        if function == "nullif" and len(given) == 2:
            given = given[0], self._compared("=", given, span)[1]
        if function in TEXT_TESTS:
            given = tuple(map(_text, given))
        arguments = prepared(function, given)
        result = resolve(function, tuple([argument.type for argument in arguments]), name_span or span)
        if result.kind is Kind.NODE and not result.tables:  # an end of a relationship
            if arguments[0].type.kind is Kind.NULL:
                return Constant(NULL, span, None)
            result = replace(result, tables=tuple(range(len(self.schema.vertex_tables))))
        return Call(result, span, function, arguments)

    def _compared(self, function: str, arguments: tuple[Expression, ...], span: Span) -> tuple[Expression, ...]:
        """The operands of a comparison, texts among them read as dates where they meet dates."""
        for each in arguments:
            expect_told_apart(each.type, span)
        read = read_texts(function, arguments, self.parameters)
        self.names.notices.extend(notices(function, read, span))
        return read

    def variable(self, name: str, span: Span) -> Expression:
        """The column of a variable itself."""
        if name in self.names.vertices:
            return Column(self._node_type(name), span, name, Attribute.ELEMENT)
        if name in self.names.edges:
            return Column(self._relationship_type(name), span, name, Attribute.ELEMENT)
        if name in self.names.paths:
            path = self.names.paths[name]
            nodes, relationships = self._node_type(*path.vertices), self._relationship_type(*path.edges)
            fields = (("nodes", Type(Kind.LIST, None, nodes)), ("relationships", Type(Kind.LIST, None, relationships)))
            return Column(Type(Kind.PATH, None, None, fields), span, name, Attribute.ELEMENT)
        if name in self.names.incoming:
            known = self.names.incoming[name]
            if known.constant is not None:
                return replace(known.constant, span=span)
            return Column(known.type, span, name, known.attribute)
        raise self.names.unknown(name, span)

    def _node_type(self, *variables: str) -> Type:
        known = [self.names.vertices[variable].described_tables for variable in variables]
        return Type(Kind.NODE, tables=known[0] if len(known) == 1 else tuple(sorted(set().union(*known))))

    def _relationship_type(self, *variables: str) -> Type:
        types = {type_ for variable in variables for type_ in self.names.edges[variable].types}
        tables = (index for index, table in enumerate(self.schema.edge_tables) if table.type in types)
        return Type(Kind.RELATIONSHIP, tables=tuple(tables))

    def _property(self, tree: ast.Property) -> Expression:
        subject = self.bind(tree.subject)
        if subject.type.kind in ELEMENTS:
            return elements.bind_element_property(self, subject, tree.key, tree.key_span, tree.span)
        if subject.type.kind is Kind.NULL:
            return Constant(NULL, tree.span, None)
        if maps.has_keys(subject.type):
            return maps.bind_field(self, subject, tree.key, tree.key_span, tree.span)
        if subject.type.kind in _ITEMS:
            message = f"a value of type {subject.type} has no `{tree.key}`"
            raise BindError(message, span=tree.span, hint=_ITEMS[subject.type.kind].format(tree.key))
        key = Constant(STRING, tree.key_span, tree.key)
        if subject.type.kind is Kind.TEMPORAL and tree.key in ("timezone", "offset"):
            return Call(STRING, tree.span, "field", (subject, key))
        return self.call("field", (subject, key), tree.span)

    def _unary(self, operator: str, operand: ast.Expression, span: Span) -> Expression:
        bound = self.bind(operand)
        if operator == "+":
            if arithmetic((bound.type,)) is None:
                raise BindError(f"`+` before a value takes a number, not {bound.type}", span=span)
            return bound
        number = bound.value if isinstance(bound, Constant) and not isinstance(bound.value, bool) else None
        if operator == "-" and isinstance(number, int | float):
            return Constant(bound.type, span, -number)
        return self.call("negate" if operator == "-" else operator, (bound,), span)

    def _slice(self, tree: ast.Slice) -> Expression:
        """A bound that is left out is a null to the function; one that is written as null makes the whole null."""
        subject = self.bind(tree.subject)
        bounds = [bound and self.bind(bound) for bound in (tree.start, tree.end)]
        if any(isinstance(bound, Constant) and bound.value is None for bound in bounds):
            return Constant(NULL, tree.span, None)
        left_out = Constant(NULL, tree.span, None)
        return self.call("slice", (subject, *(bound or left_out for bound in bounds)), tree.span)

    def _index(self, subject: ast.Expression, index: ast.Expression, span: Span) -> Expression:
        if isinstance(index, ast.Literal) and isinstance(index.value, str):  # n["name"] is n.name
            return self._property(ast.Property(subject=subject, key=index.value, key_span=index.span, span=span))
        of, at = self.bind(subject), self.bind(index)
        if all(map(maps.has_keys, of.type.members or (of.type,))):
            return maps.bind_lookup(self, of, at, span)
        if of.type.kind is Kind.NULL:
            return Constant(NULL, span, None)
        return self.call("index", (of, at), span)

    def _function(self, tree: ast.FunctionCall) -> Expression:
        if is_aggregate(tree.name):
            return self._aggregate(tree, tree.name)
        if tree.name in PERCENTILES:
            return self._percentile(tree)
        if tree.distinct or tree.star:
            word = "*" if tree.star else "DISTINCT"
            raise BindError(f"`{word}` goes with aggregates only, {tree.name}() is not one", span=tree.span)
        if is_operator(tree.name):
            hint = "NOT binds looser than what stands before it: (NOT ...)" if tree.name == "not" else None
            raise BindError(f"there is no function `{tree.name}`", span=tree.name_span, hint=hint)
        arguments = tuple(self.bind(argument) for argument in tree.arguments)
        if tree.name in FUNCTIONS:
            return of_each_time(self, arguments, tree.span, lambda each: moments.bind_function(self, tree, each))
        if tree.name in elements.FUNCTIONS or tree.name in _OF_ONE:
            if len(arguments) != 1:
                raise BindError(f"{tree.name}() takes one argument, not {len(arguments)}", span=tree.span)
            if tree.name in _OF_ONE:
                return _OF_ONE[tree.name](self, arguments[0], tree.span)
            return elements.bind_attribute(self, arguments[0], tree.name, tree.span)
        return self.call(tree.name, arguments, tree.span, tree.name_span)

    def _aggregate(self, tree: ast.FunctionCall, function: str) -> Aggregate:
        """`function`: what the call is of."""
        if not self.aggregates:
            raise BindError(
                f"{tree.name}() cannot stand in {self.place}",
                span=tree.span,
                hint="aggregates belong to RETURN and WITH",
            )
        if tree.star:
            if function != "count":
                raise BindError(f"only count takes `*`, {tree.name}() does not", span=tree.span)
            return Aggregate(INTEGER, tree.span, "count", None, False)
        arguments = tuple(self.bind(argument) for argument in tree.arguments)
        if len(arguments) != 1:
            raise BindError(f"{tree.name}() takes one argument, not {len(arguments)}", span=tree.span)
        if is_aggregated(arguments[0]):
            raise BindError("an aggregate cannot stand inside another", span=tree.arguments[0].span)
        if is_volatile(arguments[0]):
            raise BindError("an aggregate cannot take what is random for every row", span=tree.arguments[0].span)
        (argument,) = prepared(tree.name, arguments)
        if function == "count" and not tree.distinct and self._is_always_there(argument):
            return Aggregate(INTEGER, tree.span, "count", None, False)
        result = resolve(function, (argument.type,), tree.name_span)
        return Aggregate(result, tree.span, function, argument, tree.distinct)

    def _percentile(self, tree: ast.FunctionCall) -> Expression:
        """Of all values in the group, at a share that is one for the group."""
        if len(tree.arguments) != 2:
            raise BindError(f"{tree.name}() takes 2 arguments, not {len(tree.arguments)}", span=tree.span)
        values, share = tree.arguments
        listed = self._aggregate(replace(tree, arguments=(values,)), "collect")
        return self.call(tree.name, (listed, self.bind(share)), tree.span, tree.name_span)

    def _is_always_there(self, argument: Expression) -> bool:
        """Whether it is an element that a row cannot lack."""
        element = isinstance(argument, Column) and argument.attribute is Attribute.ELEMENT
        known = self.names.incoming.get(argument.variable) if isinstance(argument, Column) else None
        return element and known is not None and not known.nullable

    def _case(self, tree: ast.Case) -> Case:
        subject = None if tree.subject is None else self.bind(tree.subject)
        branches = []
        for branch in tree.branches:
            condition = self.bind(branch.condition)
            if subject is not None:
                _, condition = self._compared("=", (subject, condition), branch.condition.span)
            elif condition.type.kind not in (Kind.BOOLEAN, Kind.NULL):
                raise BindError(f"WHEN needs a condition, not {condition.type}", span=branch.condition.span)
            branches.append((condition, self.bind(branch.value)))
        default = Constant(NULL, tree.span, None) if tree.default is None else self.bind(tree.default)
        *values, default = prepared("coalesce", (*(value for _, value in branches), default))
        result = resolve("coalesce", tuple(value.type for value in (*values, default)), tree.span)
        tests = (test for test, _ in branches)
        return Case(result, tree.span, tuple(zip(tests, values, strict=True)), default, subject)


_OF_ONE = {**maps.FUNCTIONS, "elementid": elements.bind_element_id}


def no_pattern(span: Span) -> UnsupportedError:
    """The error for a pattern that is a condition where nothing can ask for it."""
    return UnsupportedError(
        "gquery has no patterns as conditions in the property maps of patterns, nor on relationships of shortest paths",
        span=span,
        hint="write it in WHERE, or ask for it in a MATCH before",
    )


def _text(argument: Expression) -> Expression:
    """What is asked of a text is null of every other value. What is written, given or stored as no text is a slip,
    which is left to be said."""
    kinds = {each.kind for each in argument.type.members or (argument.type,)}
    if Kind.STRING in kinds and len(kinds) > 1:
        return Call(STRING, argument.span, "text", (argument,))
    slip = isinstance(argument, Constant | Parameter)
    slip = slip or (isinstance(argument, Column) and argument.attribute is not Attribute.VALUE)
    return argument if slip or kinds <= _TEXTS else Constant(NULL, argument.span, None)


_TEXTS = frozenset({Kind.STRING, Kind.NULL})
_ITEMS = {
    Kind.LIST: "its items may: [x IN list | x.{}]",
    Kind.PATH: "its nodes and relationships may: [x IN nodes(path) | x.{}]",
}
"""What has no properties, and where they may be."""


def expect_boolean(expression: Expression, place: str) -> Expression:
    """The expression itself when it can be a condition."""
    if expression.type not in (BOOLEAN, NULL):
        raise BindError(f"{place} needs a condition, not {expression.type}", span=expression.span)
    return expression
