"""Texts of the language and the trees that they stand for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from gquery.errors import Span
from gquery.grammar import ast, keywords, parse


def sketch(node: object) -> str:
    """A tree as one short line: `(operator operand ...)`, the names of nodes only where they are needed."""
    match node:
        case ast.Literal(value=value):
            return repr(value)
        case ast.Variable(name=name) | ast.LabelName(name=name):
            return name
        case ast.Parameter(name=name):
            return f"${name}"
        case ast.Property(subject=subject, key=key):
            return f"{sketch(subject)}.{key}"
        case ast.Unary(operator=operator, operand=operand):
            return f"({operator} {sketch(operand)})"
        case ast.Binary(operator=operator, left=left, right=right):
            return f"({operator} {sketch(left)} {sketch(right)})"
        case ast.LabelWildcard():
            return "%"
        case ast.LabelNot(operand=operand):
            return f"!{sketch(operand)}"
        case ast.LabelAnd(left=left, right=right):
            return f"({sketch(left)} & {sketch(right)})"
        case ast.LabelOr(left=left, right=right):
            return f"({sketch(left)} | {sketch(right)})"
        case ast.LabelTest(subject=subject, labels=labels):
            return f"({sketch(subject)} is {sketch(labels)})"
        case ast.ListLiteral(items=items):
            return f"[{' '.join(map(sketch, items))}]"
        case ast.MapLiteral(entries=entries):
            return "{" + " ".join(f"{entry.key}:{sketch(entry.value)}" for entry in entries) + "}"
        case ast.Index(subject=subject, index=index):
            return f"{sketch(subject)}[{sketch(index)}]"
        case ast.Slice(subject=subject, start=start, end=end):
            return f"{sketch(subject)}[{sketch(start)}..{sketch(end)}]"
        case ast.FunctionCall(name=name, arguments=arguments, distinct=distinct, star=star):
            inside = ["distinct"] * distinct + ["*"] * star + [sketch(argument) for argument in arguments]
            return f"{name}<{' '.join(inside)}>"
        case ast.Case(subject=subject, branches=branches, default=default):
            told = " ".join(f"{sketch(branch.condition)}:{sketch(branch.value)}" for branch in branches)
            return f"(case {sketch(subject)} {told} else {sketch(default)})"
        case ast.PatternPredicate(pattern=pattern):
            return f"<{sketch(pattern)}>"
        case ast.Exists(match=match):
            told = [match.mode or "", ", ".join(map(sketch, match.patterns)), f"?{sketch(match.where)}"]
            return f"exists<{' '.join(told[: 2 + (match.where is not None)]).strip()}>"
        case ast.NodePattern(variable=variable, labels=labels, properties=properties, where=where):
            return f"({_details(variable, labels, properties, where)})"
        case ast.RelationshipPattern(inside=ast.PathPattern() as inside, where=where, length=ast.Length() as length):
            told = f"?{sketch(where)}" if where else ""
            return f"<{sketch(inside)}{told}>*{length.least}..{length.most}"
        case ast.RelationshipPattern(variable=variable, types=types, properties=properties, where=where):
            signs = {"out": "-[%s]->", "in": "<-[%s]-", "both": "-[%s]-"}
            length = "" if node.length is None else f"*{node.length.least}..{node.length.most}"
            return signs[node.direction] % (_details(variable, types, properties, where) + length)
        case ast.PathPattern(variable=variable, nodes=nodes, relationships=relationships):
            rest = "".join(sketch(r) + sketch(n) for r, n in zip(relationships, nodes[1:], strict=True))
            words = "".join(f"{word} " for word in (node.shortest, node.mode) if word is not None)
            return (f"{sketch(variable)}=" if variable else "") + words + sketch(nodes[0]) + rest
        case None:
            return "-"
    raise TypeError(node)


def _details(variable: object, labels: object, properties: object, where: object) -> str:
    told = [
        f"{sign}{sketch(part)}"
        for sign, part in (("", variable), (":", labels), ("", properties), ("?", where))
        if part
    ]
    return " ".join(told)


def returned(text: str) -> ast.Expression:
    """The expression that `text` writes."""
    clause = parse(f"RETURN {text}").clauses[-1]
    assert isinstance(clause, ast.Return)
    return clause.items[0].expression


def matched(text: str) -> ast.Match:
    """The MATCH clause whose part after the keyword is `text`."""
    clause = parse(f"MATCH {text} RETURN *").clauses[0]
    assert isinstance(clause, ast.Match)
    return clause


EXPRESSIONS = {
    # precedence
    "a OR b XOR c AND NOT d": "(or a (xor b (and c (not d))))",
    "NOT a = b": "(not (= a b))",
    "(a)--+(b)": "(- a (- (+ b)))",  # a subtraction, where a pattern has to be in EXISTS { ... }
    "(a)--+(:A) AND (a)<--+() AND (a)--*(b)<--*(c)": (
        "(and (and <(a)-[*1..None]-(:A)> <(a)<-[*1..None]-()>) <(a)-[*0..None]-(b)<-[*0..None]-(c)>)"
    ),
    "(a)--{2}(b) AND (a)-->+(b)": "(and <(a)-[*2..2]-(b)> <(a)-[*1..None]->(b)>)",
    "NOT NOT a": "(not (not a))",
    "a = b IN c": "(= a (in b c))",
    "a IN b + c": "(in a (+ b c))",
    "a + b * c ^ d": "(+ a (* b (^ c d)))",
    "a - b - c": "(- (- a b) c)",
    "a / b % c": "(% (/ a b) c)",
    "2 ^ 3 ^ 2": "(^ (^ 2 3) 2)",
    "-a ^ 2": "(^ (- a) 2)",
    "-a.x[0]": "(- a.x[0])",
    "(a OR b) AND c": "(and (or a b) c)",
    "a.x IS NULL OR a.y IS NOT NULL": "(or (is null a.x) (is not null a.y))",
    "a + 1 IS NULL": "(is null (+ a 1))",
    "a STARTS WITH 'x' + 'y'": "(starts with a (+ 'x' 'y'))",
    "a ends with b contains c": "(contains (ends with a b) c)",
    "a =~ '.*'": "(=~ a '.*')",
    "a AND b AND c AND d": "(and (and a b) (and c d))",
    "a OR b OR c": "(or (or a b) c)",
    # comparison chains
    "1 < a.x <= 5": "(and (< 1 a.x) (<= a.x 5))",
    "a = b <> c > d": "(and (and (= a b) (<> b c)) (> c d))",
    "(a < b) < c": "(< (< a b) c)",
    # signs next to each other
    "a.x<-1": "(< a.x -1)",
    "1--1": "(- 1 -1)",
    "a - -b": "(- a (- b))",
    "(a.x)--(b.x)": "(- a.x (- b.x))",
    "(a) - (b)": "(- a b)",
    "(a) - [1, 2][0]": "(- a [1 2][0])",
    "(a)<-[b][0]": "(< a (- [b][0]))",
    "(a)-[b]-(c)": "<(a)-[b]-(c)>",
    "(a)(()-[:X]->()){1,2}(b)": "<(a)<()-[:X]->()>*1..2(b)>",
    "(a)(()-->(c) WHERE c.x > 1)+": "<(a)<()-[]->(c)?(> c.x 1)>*1..None()>",
    "(()-->()){2}(a) AND b": "(and <()<()-[]->()>*2..2(a)> b)",
    "((a)-->()<--(b))*(c)": "<()<(a)-[]->()<-[]-(b)>*0..None(c)>",
    "((a)-->())+(c)": "<()<(a)-[]->()>*1..None(c)>",
    "((a)-->()) + c": "(+ <(a)-[]->()> c)",
    "((a) - (b)) * (c)": "(* (- a b) c)",
    "(a)<-1": "(< a -1)",
    "(a IS NULL) - [1]": "(- (is null a) [1])",
    "($a + 1) - [1]": "(- (+ $a 1) [1])",
    "($a.b) - [1]": "(- $a.b [1])",
    # literals
    "1": "1",
    "-1": "-1",
    "-(1)": "(- 1)",
    "--1": "(- -1)",
    "+1": "(+ 1)",
    "0xFF": "255",
    "-0x8000000000000000": "-9223372036854775808",
    "0o17": "15",
    "1_000_000": "1000000",
    "9223372036854775807": "9223372036854775807",
    "-9223372036854775808": "-9223372036854775808",
    "1.5": "1.5",
    ".5": "0.5",
    "1e3": "1000.0",
    "1.5E-3": "0.0015",
    "TRUE": "True",
    "False": "False",
    "nULL": "None",
    r"'a\'b\"c\\d\n\t\r\b\f'": repr("a'b\"c\\d\n\t\r\b\f"),
    r'"it\'s"': repr("it's"),
    r"'\u00e9\U0001F600\uD83D\uDE00'": repr("é😀😀"),
    "[]": "[]",
    "[1, 'a', [b]]": "[1 'a' [b]]",
    "{}": "{}",
    "{match: 1, `odd key`: {x: 2}}": "{match:1 odd key:{x:2}}",
    # parameters and names
    "$x": "$x",
    "$1": "$1",
    "$`odd ``name`": "$odd `name",
    "`odd name`.`odd key`": "odd name.odd key",
    "`a``b`": "a`b",
    "größe": "größe",
    # postfix
    "a.b.c": "a.b.c",
    "a[0].x[i + 1]": "a[0].x[(+ i 1)]",
    "a[1..2]": "a[1..2]",
    "a[..2]": "a[-..2]",
    "a[1..]": "a[1..-]",
    "a[..]": "a[-..-]",
    "[1, 2][0]": "[1 2][0]",
    "{k: 1}.k": "{k:1}.k",
    "n:Person": "(n is Person)",
    "n:A|B": "(n is (A | B))",
    "n:A&!B AND m": "(and (n is (A & !B)) m)",
    "n IS Person": "(n is Person)",
    "n IS A|B": "(n is (A | B))",
    "n:%": "(n is %)",
    "NOT n:A = true": "(not (= (n is A) True))",
    # functions
    "count(*)": "count<*>",
    "COUNT(DISTINCT a.x)": "count<distinct a.x>",
    "rand()": "rand<>",
    "coalesce(a, 1)": "coalesce<a 1>",
    "apoc . text.Join(a)": "apoc.text.join<a>",
    "exists(a.x)": "exists<a.x>",
    "nodes(p)": "nodes<p>",
    # CASE
    "CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END": "(case - a:1 b:2 else 3)",
    "CASE a.x WHEN 1 THEN 'one' END": "(case a.x 1:'one' else -)",
    # patterns
    "(a)-->(b)": "<(a)-[]->(b)>",
    "(a)--(b)": "<(a)-[]-(b)>",
    "NOT (a)-[:X]-(b) AND c": "(and (not <(a)-[:X]-(b)>) c)",
    "(a:A {x: 1})<-[r]-()<--(b)": "<(a :A {x:1})<-[r]-()<-[]-(b)>",
    "exists((a)-[:X]->())": "exists<(a)-[:X]->()>",
    "EXISTS { (a)-->(b) }": "exists<(a)-[]->(b)>",
    "NOT exists { p = (a)--(b), (c) WHERE NOT (b)-->(c) }": "(not exists<p=(a)-[]-(b), (c) ?(not <(b)-[]->(c)>)>)",
    "EXISTS { MATCH INDUCED (a) } = b": "(= exists<induced (a)> b)",
    "exists + exists.exists": "(+ exists exists.exists)",
    "{exists: exists}": "{exists:exists}",
    "((a)-->(b)) = true": "(= <(a)-[]->(b)> True)",
    # words that are keywords elsewhere
    "n.order + n.limit": "(+ n.order n.limit)",
    "order + limit": "(+ order limit)",
    "n.null": "n.null",
    "end": "end",
    "[(x IN xs)]": "[(in x xs)]",
    # comments and white space
    "a /* one\ntwo */ + // three\n b": "(+ a b)",
    "a.x / 2": "(/ a.x 2)",
}


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS.items())
def test_expression(text: str, expected: str) -> None:
    assert sketch(returned(text)) == expected


PATTERNS = {
    "()": "()",
    "(a)": "(a)",
    "(:A)": "(:A)",
    "(a:A:B)": "(a :(A & B))",
    "(a:A|B)": "(a :(A | B))",
    "(a:A|:B)": "(a :(A | B))",
    "(a:A&!B)": "(a :(A & !B))",
    "(a:A|B&C)": "(a :(A | (B & C)))",
    "(a:(A|B)&C)": "(a :((A | B) & C))",
    "(a:!(A|B))": "(a :!(A | B))",
    "(a:%)": "(a :%)",
    "(a IS A)": "(a :A)",
    "(a:`odd label`)": "(a :odd label)",
    "(a:Order)": "(a :Order)",
    "(order:Match {where: 1})": "(order :Match {where:1})",
    "(a {k: 1} WHERE a.x > 1)": "(a {k:1} ?(> a.x 1))",
    "(a $props)": "(a $props)",
    "(WHERE true)": "(?True)",
    "(a)-[r:X|Y {w: 1} WHERE r.t]->(b)": "(a)-[r :(X | Y) {w:1} ?r.t]->(b)",
    "(a)<-[:X]-(b)": "(a)<-[:X]-(b)",
    "(a)-[:X]-(b)": "(a)-[:X]-(b)",
    "(a)-->(b)<--(c)--(d)": "(a)-[]->(b)<-[]-(c)-[]-(d)",
    "(a)<-->(b)<-[r]->(c)": "(a)-[]-(b)-[r]-(c)",
    "(a) - [ r ] - > (b)": "(a)-[r]->(b)",
    "p = (a)-->(b)": "p=(a)-[]->(b)",
    "(match)-[return]->(as)": "(match)-[return]->(as)",
    # lengths
    "(a)-[*]->(b)": "(a)-[*1..None]->(b)",
    "(a)-[r:X*2]-(b)": "(a)-[r :X*2..2]-(b)",
    "(a)<-[:X|Y*1..3 {k: 1}]-(b)": "(a)<-[:(X | Y) {k:1}*1..3]-(b)",
    "(a)-[*..3]->(b)-[*2..]->(c)-[*0..0]->(d)": "(a)-[*1..3]->(b)-[*2..None]->(c)-[*0..0]->(d)",
    "(a)-[* .. ]->(b)": "(a)-[*1..None]->(b)",
    "(a)-[r* $p WHERE r.w > 1]->(b)": "(a)-[r $p ?(> r.w 1)*1..None]->(b)",
    "(a)-->{1,3}(b)-[:X]-{2}(c)": "(a)-[*1..3]->(b)-[:X*2..2]-(c)",
    "(a)-->{,3}(b)<--{1,}(c)": "(a)-[*0..3]->(b)<-[*1..None]-(c)",
    "(a)-->+(b)-->*(c)--+(d)": "(a)-[*1..None]->(b)-[*0..None]->(c)-[*1..None]-(d)",
    "(a)-[r WHERE r.w > 1]->{1,2}(b)": "(a)-[r ?(> r.w 1)*1..2]->(b)",
    # repeated patterns
    "((a)-->(b)){1,3}": "()<(a)-[]->(b)>*1..3()",
    "(x)((a)-[r]->()<--(b) WHERE a.x < b.x){,2}(y)": "(x)<(a)-[r]->()<-[]-(b)?(< a.x b.x)>*0..2(y)",
    "((a)--(b))+((c)--(d))*(y)-->(z)": "()<(a)-[]-(b)>*1..None()<(c)-[]-(d)>*0..None(y)-[]->(z)",
    # shortest paths and path modes
    "shortestPath((a)-[*]-(b))": "1 (a)-[*1..None]-(b)",
    "p = allShortestPaths((a)-[*..5]->(b))": "p=all (a)-[*1..5]->(b)",
    "ANY SHORTEST (a)-->*(b)": "1 (a)-[*0..None]->(b)",
    "p = ALL SHORTEST PATHS (a)-->(b)": "p=all (a)-[]->(b)",
    "SHORTEST 3 PATHS (a)-->(b)": "3 (a)-[]->(b)",
    "ANY PATH (a)-->(b)": "1 (a)-[]->(b)",
    "ANY 2 (a)-->(b)": "2 (a)-[]->(b)",
    "p = any shortest trail paths (a)-->(b)": "p=1 trail (a)-[]->(b)",
    "WALK (a)-->(b)": "walk (a)-[]->(b)",
    "ACYCLIC PATH (a)-->(b)": "acyclic (a)-[]->(b)",
    "simple = SIMPLE (a)-->(b)": "simple=simple (a)-[]->(b)",
    "any = (a)-->(b)": "any=(a)-[]->(b)",
    "shortestPath = (a)": "shortestPath=(a)",
}


@pytest.mark.parametrize(("text", "expected"), PATTERNS.items())
def test_pattern(text: str, expected: str) -> None:
    assert sketch(matched(text).patterns[0]) == expected


@pytest.mark.parametrize(
    ("words", "mode"),
    [
        ("", None),
        ("DIFFERENT EDGES", "different edges"),
        ("different edge", "different edges"),
        ("DIFFERENT RELATIONSHIPS", "different edges"),
        ("Different Relationship", "different edges"),
        ("DIFFERENT NODES", "different nodes"),
        ("DIFFERENT NODE", "different nodes"),
        ("REPEATABLE ELEMENTS", "repeatable elements"),
        ("REPEATABLE ELEMENT", "repeatable elements"),
        ("INDUCED", "induced"),
    ],
)
def test_match_mode(words: str, mode: str | None) -> None:
    assert matched(f"{words} (a), (b)").mode == mode


def test_clauses() -> None:
    query = parse(
        """
        profile match (a:A), p = (a)-->(b) where a.x
        OPTIONAL MATCH (c) WHERE c.y
        RETURN DISTINCT *, a.x + 1 AS `the sum`, b ORDER BY a.x DESC, b ASCENDING, c SKIP $s LIMIT 10;
        """
    )
    first, second, last = query.clauses
    assert query.command == "profile"
    assert isinstance(first, ast.Match)
    assert isinstance(second, ast.Match)
    assert isinstance(last, ast.Return)
    assert [len(first.patterns), first.optional, sketch(first.where)] == [2, False, "a.x"]
    assert [len(second.patterns), second.optional, sketch(second.where)] == [1, True, "c.y"]
    assert (last.distinct, last.star) == (True, True)
    assert [(item.alias, item.text) for item in last.items] == [("the sum", "a.x + 1"), (None, "b")]
    assert [(sketch(item.expression), item.descending) for item in last.order_by] == [
        ("a.x", True),
        ("b", False),
        ("c", False),
    ]
    assert (sketch(last.skip), sketch(last.limit)) == ("$s", "10")


def test_smallest_query() -> None:
    query = parse("RETURN *")
    assert query.command is None
    assert query.clauses == (
        ast.Return(items=(), star=True, distinct=False, order_by=(), skip=None, limit=None, span=Span(0, 0)),
    )


def test_offset_is_skip() -> None:
    assert parse("RETURN a OFFSET 2") == parse("RETURN a SKIP 2")


def test_column_name_is_the_source_text() -> None:
    clause = parse("RETURN ( a.x )  +  1 , count( * ) AS n").clauses[-1]
    assert isinstance(clause, ast.Return)
    assert [item.text for item in clause.items] == ["( a.x )  +  1", "count( * )"]


def test_keywords_are_words_in_upper_case() -> None:
    assert {"MATCH", "RETURN", "INDUCED"} <= keywords()
    assert all(word.isalpha() and word.isupper() for word in keywords())


@pytest.mark.parametrize("keyword", sorted(keywords()))
def test_keywords_are_not_reserved(keyword: str) -> None:
    word = keyword.lower()
    query = parse(f"MATCH (a:{word} {{{word}: 1}})-[:{word}]->(b) WHERE a.{word} = b:{word} RETURN a.{word} AS {word}")
    assert sketch(query.clauses[0].patterns[0]) == f"(a :{word} {{{word}:1}})-[:{word}]->(b)"  # type: ignore[attr-defined]


def test_key_span_and_name_span_underline_one_word() -> None:
    text = "RETURN a.name, apoc.text.join(a)"
    clause = parse(text).clauses[-1]
    assert isinstance(clause, ast.Return)
    key, call = (item.expression for item in clause.items)
    assert isinstance(key, ast.Property)
    assert isinstance(call, ast.FunctionCall)
    assert text[key.key_span.start : key.key_span.end] == "name"
    assert text[call.name_span.start : call.name_span.end] == "apoc.text.join"


def descendants(node: ast.Node) -> Iterator[ast.Node]:
    """The node and all below it."""
    yield node
    for part in dataclasses.fields(node):
        value = getattr(node, part.name)
        for child in value if isinstance(value, tuple) else (value,):
            if isinstance(child, ast.Node):
                yield from descendants(child)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_spans_of_expressions(text: str) -> None:
    """The words of every expression, parsed alone, are that expression."""
    query = f" \n RETURN  {text} AS x"
    for node in descendants(parse(query)):
        words = query[node.span.start : node.span.end]
        if isinstance(node, ast.Expression):
            assert returned(words) == node
        elif isinstance(node, ast.PathPattern | ast.NodePattern):
            pattern = matched(words).patterns[0]
            assert node in (pattern, pattern.nodes[0])
        elif isinstance(node, ast.RelationshipPattern):
            assert matched(f"(){words}()").patterns[0].relationships == (node,)
        elif isinstance(node, ast.LabelExpression):
            assert matched(f"(:{words})").patterns[0].nodes[0].labels == node


def test_spans_of_clauses() -> None:
    query = "EXPLAIN MATCH INDUCED (a) WHERE a.x OPTIONAL MATCH (b) RETURN a.x AS y ORDER BY a DESC LIMIT 2 ; // end"
    tree = parse(query)

    def words(node: ast.Node) -> str:
        return query[node.span.start : node.span.end]

    assert words(tree) == query.removesuffix(" // end")
    assert [words(clause) for clause in tree.clauses] == [
        "MATCH INDUCED (a) WHERE a.x",
        "OPTIONAL MATCH (b)",
        "RETURN a.x AS y ORDER BY a DESC LIMIT 2",
    ]
    last = tree.clauses[-1]
    assert isinstance(last, ast.Return)
    assert words(last.items[0]) == "a.x AS y"
    assert words(last.order_by[0]) == "a DESC"
