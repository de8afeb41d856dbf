"""`parse(unparse(tree)) == tree`, for trees made at random and for a few texts where the canonical form matters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from gquery.errors import Span
from gquery.grammar import ast, parse, unparse

NOWHERE = Span(0, 0)

ODD_NAMES = ["a", "b1", "größe", "odd name", "1st", "`", "a`b", "match", "NULL", "In", "distinct", "with", "all"]
FUNCTIONS = ["count", "sum", "coalesce", "apoc.text.join", "labels", "exists", "nodes", "elements"]


def build(kind: type[ast.Node], **parts: SearchStrategy[object]) -> SearchStrategy[ast.Node]:
    return st.builds(kind, span=st.just(NOWHERE), **parts)  # type: ignore[arg-type]


def maybe(strategy: SearchStrategy[object]) -> SearchStrategy[object]:
    return st.none() | strategy


def tuples(strategy: SearchStrategy[object], least: int = 0, most: int = 3) -> SearchStrategy[object]:
    return st.lists(strategy, min_size=least, max_size=most).map(tuple)


characters = st.characters(exclude_categories=["Cs"])
names = st.sampled_from(ODD_NAMES) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=5
)
here = st.just(NOWHERE)

literals = build(
    ast.Literal,
    value=st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(characters, max_size=8),
)
variables = build(ast.Variable, name=names)
parameters = build(ast.Parameter, name=names | st.sampled_from(["1", "42"]))
labels = st.recursive(
    build(ast.LabelName, name=names) | build(ast.LabelWildcard),
    lambda inner: (
        build(ast.LabelNot, operand=inner)
        | build(ast.LabelAnd, left=inner, right=inner)
        | build(ast.LabelOr, left=inner, right=inner)
    ),
    max_leaves=6,
)
operators = st.sampled_from(
    [*"=<>+-*/%^", "<>", "<=", ">=", "=~", "or", "xor", "and", "in", "starts with", "ends with", "contains"]
)


def maps(values: SearchStrategy[object]) -> SearchStrategy[ast.Node]:
    return build(ast.MapLiteral, entries=tuples(build(ast.MapEntry, key=names, value=values)))


def nodes(values: SearchStrategy[object]) -> SearchStrategy[ast.Node]:
    return build(
        ast.NodePattern,
        variable=maybe(variables),
        labels=maybe(labels),
        properties=maybe(maps(values) | parameters),
        where=maybe(values),
    )


lengths = st.integers(0, 3).flatmap(
    lambda least: build(ast.Length, least=st.just(least), most=maybe(st.integers(least, 3)))
)


def relationships(values: SearchStrategy[object], length: SearchStrategy[object]) -> SearchStrategy[ast.Node]:
    return build(
        ast.RelationshipPattern,
        variable=maybe(variables),
        types=maybe(labels),
        direction=st.sampled_from(["out", "in", "both"]),
        properties=maybe(maps(values) | parameters),
        where=maybe(values),
        length=length,
    )


def repeated(values: SearchStrategy[object]) -> SearchStrategy[ast.Node]:
    """Patterns in brackets. What stands there is as long as it is."""
    inside = st.lists(relationships(values, st.none()), min_size=1, max_size=2).flatmap(
        lambda steps: build(
            ast.PathPattern,
            variable=st.none(),
            nodes=tuples(nodes(values), len(steps) + 1, len(steps) + 1),
            relationships=st.just(tuple(steps)),
        )
    )
    no = st.none()
    return build(
        ast.RelationshipPattern,
        variable=no, types=no, direction=st.just("both"), properties=no,
        where=maybe(values), length=lengths, inside=inside,
    )  # fmt: skip


@st.composite
def paths(draw: st.DrawFn, values: SearchStrategy[object], least: int, named: bool) -> ast.PathPattern:
    step = relationships(values, maybe(lengths))
    steps = draw(tuples(step | repeated(values) if named else step, least, 2))
    assert isinstance(steps, tuple)
    return ast.PathPattern(
        variable=draw(maybe(variables)) if named else None,  # type: ignore[arg-type]
        nodes=tuple(draw(nodes(values)) for _ in range(len(steps) + 1)),  # type: ignore[misc]
        relationships=steps,
        shortest=draw(st.sampled_from([None, 1, 2, "all"])) if named else None,  # type: ignore[arg-type]
        mode=draw(st.sampled_from([None, "walk", "trail", "acyclic", "simple"])) if named else None,  # type: ignore[arg-type]
        span=NOWHERE,
    )


def larger(inner: SearchStrategy[ast.Node]) -> SearchStrategy[ast.Node]:
    branches = tuples(build(ast.CaseBranch, condition=inner, value=inner), 1)
    return (
        build(ast.Binary, operator=operators, left=inner, right=inner)
        | build(ast.Unary, operator=st.sampled_from(["not", "-", "+", "is null", "is not null"]), operand=inner)
        | build(ast.Property, subject=inner, key=names, key_span=here)
        | build(ast.ListLiteral, items=tuples(inner))
        | maps(inner)
        | build(ast.LabelTest, subject=inner, labels=labels)
        | build(ast.Index, subject=inner, index=inner)
        | build(ast.Slice, subject=inner, start=maybe(inner), end=maybe(inner))
        | build(ast.Case, subject=maybe(inner), branches=branches, default=maybe(inner))
        | build(ast.PatternPredicate, pattern=paths(inner, 1, named=False))
        | build(ast.Exists, match=matches(inner, st.just(False)))
        | calls(inner)
        | build(
            ast.Comprehension,
            form=st.just("list"),
            variable=variables,
            items=inner,
            where=maybe(inner),
            result=maybe(inner),
        )
        | build(
            ast.Comprehension,
            form=st.sampled_from(["all", "any", "none", "single"]),
            variable=variables,
            items=inner,
            where=inner,
            result=st.none(),
        )
        | build(ast.Reduce, accumulator=variables, initial=inner, variable=variables, items=inner, step=inner)
        | build(
            ast.MapProjection,
            subject=variables,
            entries=tuples(build(ast.MapEntry, key=names, value=inner)),
            star=st.booleans(),
        )
    )


@st.composite
def calls(draw: st.DrawFn, inner: SearchStrategy[ast.Node]) -> ast.FunctionCall:
    arguments = draw(tuples(inner))
    assert isinstance(arguments, tuple)
    star = not arguments and draw(st.booleans())
    asks_pattern = any(isinstance(argument, ast.PatternPredicate) for argument in arguments)
    names = [name for name in FUNCTIONS if name != "exists" or not asks_pattern]  # `exists((a)-->())` is no call
    return ast.FunctionCall(
        name="count" if star else draw(st.sampled_from(names)),
        arguments=arguments,
        distinct=bool(arguments) and draw(st.booleans()),
        star=star,
        name_span=NOWHERE,
        span=NOWHERE,
    )


def matches(values: SearchStrategy[object], optional: SearchStrategy[bool]) -> SearchStrategy[ast.Node]:
    return build(
        ast.Match,
        patterns=tuples(paths(values, 0, named=True), 1),
        where=maybe(values),
        mode=st.sampled_from([None, "different edges", "different nodes", "repeatable elements", "induced"]),
        optional=optional,
        hints=tuples(build(ast.OrderHint, nodes=tuples(variables, 1)) | build(ast.DeviceHint, device=names), most=2),
    )


expressions = st.recursive(literals | variables | parameters, larger, max_leaves=12)
items = build(ast.ProjectionItem, expression=expressions, alias=maybe(names), text=st.just(""))

targets = build(ast.Property, subject=expressions, key=names, key_span=here)
set_labels = build(ast.SetLabels, subject=expressions, labels=tuples(build(ast.LabelName, name=names), 1))
set_items = tuples(
    build(ast.SetProperty, target=targets, value=expressions)
    | build(
        ast.SetProperties,
        subject=expressions.filter(lambda each: not isinstance(each, ast.Property)),
        value=expressions,
        adding=st.booleans(),
    )
    | set_labels,
    1,
)
no_items = st.just(())
updates = st.recursive(
    build(ast.Create, patterns=tuples(paths(expressions, 0, named=True), 1))
    | build(
        ast.Merge,
        pattern=paths(expressions, 0, named=True),
        on_create=no_items | set_items,
        on_match=no_items | set_items,
    )
    | build(ast.Set, items=set_items)
    | build(ast.Remove, items=tuples(targets | set_labels, 1))
    | build(ast.Delete, items=tuples(expressions, 1), detach=st.booleans()),
    lambda inner: build(ast.Foreach, variable=variables, items=expressions, updates=tuples(inner, 1)),
    max_leaves=3,
)


ends = st.sampled_from([None, "first", "last"])
sort_items = build(ast.SortItem, expression=expressions, descending=st.booleans(), nulls=ends)


@st.composite
def queries(draw: st.DrawFn) -> ast.Query:
    star = draw(st.booleans())
    last = build(
        ast.Return,
        items=tuples(items, 0 if star else 1),
        star=st.just(star),
        distinct=st.booleans(),
        order_by=tuples(sort_items),
        skip=maybe(expressions),
        limit=maybe(expressions),
    )
    unwind = build(ast.Unwind, items=expressions, variable=variables)
    column = build(ast.ProjectionItem, expression=variables, alias=names, text=st.just(""))
    alone = build(ast.Procedure, name=st.sampled_from(FUNCTIONS), columns=st.none(), where=st.none())
    yielding = build(
        ast.Procedure, name=st.sampled_from(FUNCTIONS), columns=tuples(column, 1), where=maybe(expressions)
    )
    clause = matches(expressions, st.booleans()) | unwind | alone | yielding
    clauses = (*draw(st.lists(clause, max_size=2)), draw(last))
    command = draw(st.sampled_from([None, "explain", "profile"]))
    return ast.Query(clauses=clauses, command=command, span=NOWHERE)  # type: ignore[arg-type]


@given(updates)
def test_updates(update: ast.Update) -> None:
    text = unparse(update)
    assert parse(text).clauses == (update,)
    assert unparse(parse(text).clauses[0]) == text


@given(expressions)
def test_expressions(expression: ast.Expression) -> None:
    clause = parse(f"RETURN {unparse(expression)}").clauses[-1]
    assert isinstance(clause, ast.Return)
    assert clause.items[0].expression == expression


@given(queries())
def test_queries(query: ast.Query) -> None:
    text = unparse(query)
    assert parse(text) == query
    assert unparse(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("match (a:A:B)-->(b) return a.x as y;", "MATCH (a:A&B)-[]->(b)\nRETURN a.x AS y"),
        (
            "match (a) using start a using order a, b using device GPU where a.x return a",
            "MATCH (a) USING START a USING ORDER a, b USING DEVICE GPU WHERE a.x\nRETURN a",
        ),
        ("return a and (b and (c or d))", "RETURN a AND (b AND (c OR d))"),
        ("return a and b and c and d and e", "RETURN a AND b AND c AND d AND e"),
        ("return 1 < a <= 2", "RETURN 1 < a AND a <= 2"),
        ("return (((a))) - (b - c)", "RETURN a - (b - c)"),
        ('return "it\'s" + $`p`', "RETURN 'it\\'s' + $p"),
        ("return -(1), - 1, -a, - -a", "RETURN -(1), -1, -a, --a"),
        ("explain return `a`, `match`, a.`match`", "EXPLAIN RETURN a, `match`, a.match"),
        ("return [(x in y)]", "RETURN [(x IN y)]"),
        ("return [x in y], [x in y, z]", "RETURN [x IN y], [x IN y, z]"),
        ("return [null in y]", "RETURN [(null IN y)]"),
        (
            "return ALL(x in y where x:(A|B)), [x in y where x:A|x]",
            "RETURN all(x IN y WHERE x:(A|B)), [x IN y WHERE x:A | x]",
        ),
        ("return a{.x, .*, b, c:1}", "RETURN a {x: a.x, b: b, c: 1, .*}"),
        ("return any(x), reduce", "RETURN any(x), reduce"),
        ("return exists{(a)--()}.x", "RETURN EXISTS { MATCH (a)-[]-() }.x"),
        ("return exists", "RETURN `exists`"),
        ("match (a)-[*..]->(b)-[*2..2]-(c)-->{,1}(d) return *", "MATCH (a)-[*]->(b)-[*2]-(c)-[*0..1]->(d)\nRETURN *"),
        ("match p=shortestPath((a)-[r:X*..]-(b)) return p", "MATCH p = ANY SHORTEST (a)-[r:X*]-(b)\nRETURN p"),
        ("match any = any 2 walk (a)-->+() return 1", "MATCH `any` = SHORTEST 2 WALK (a)-[*]->()\nRETURN 1"),
        (
            "return [p=shortest 2 trail paths (a)-->+(b)|p], [ANY WALK (a)--(b)|1], [all=(a)--(b)|all]",
            "RETURN COLLECT { MATCH p = SHORTEST 2 TRAIL (a)-[*]->(b)\nRETURN p }, "
            "COLLECT { MATCH ANY SHORTEST WALK (a)-[]-(b)\nRETURN 1 }, "
            "COLLECT { MATCH `all` = (a)-[]-(b)\nRETURN `all` }",
        ),
        ("return '\u2028'", "RETURN '\\u2028'"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert unparse(parse(text)) == canonical


def test_every_part_has_a_text() -> None:
    query = parse("MATCH p = (a:A {k: 1})-[r]->() RETURN CASE WHEN a.x THEN 1 END AS y ORDER BY y DESC")
    match, last = query.clauses
    assert isinstance(match, ast.Match)
    assert isinstance(last, ast.Return)
    case = last.items[0].expression
    properties = match.patterns[0].nodes[0].properties
    assert isinstance(case, ast.Case)
    assert isinstance(properties, ast.MapLiteral)
    parts = {
        match: "MATCH p = (a:A {k: 1})-[r]->()",
        match.patterns[0].relationships[0]: "-[r]->",
        match.patterns[0].nodes[0].labels: "A",
        properties.entries[0]: "k: 1",
        case.branches[0]: "WHEN a.x THEN 1",
        last.order_by[0]: "y DESC",
        last.items[0]: "CASE WHEN a.x THEN 1 END AS y",
    }
    for part, text in parts.items():
        assert part is not None
        assert unparse(part) == text


@pytest.mark.parametrize("operator", ["AND", "OR", "XOR"])
def test_long_chains(operator: str) -> None:
    text = "RETURN " + f" {operator} ".join(f"a.x{i} = {i}" for i in range(5000))
    assert unparse(parse(text)) == text


def test_deepest_trees_can_be_written() -> None:
    for text in (
        "RETURN " + "(" * 95 + "a" + " OR b) AND c" * 95,
        "RETURN " + "f([" * 95 + "])" * 95,
        "RETURN " + "NOT " * 190 + "a",
        "RETURN a" + " - b" * 190,
    ):
        assert parse(unparse(parse(text))) == parse(text)
