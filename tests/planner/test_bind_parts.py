"""OPTIONAL MATCH and patterns as conditions: which part of the query graph gets what."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gquery import Graph
from gquery.grammar import parse
from gquery.planner.binding.clauses import bind
from gquery.planner.ir.expr import Call, Expression
from gquery.planner.ir.query_graph import Part, QueryGraph
from gquery.planner.ir.segments import Apply, BoundQuery, Exists, Match, NotExists, OptionalMatch, Project
from tests.planner.town import town

Bound = Callable[[str], QueryGraph]


@pytest.fixture(scope="module")
def graph() -> Graph:
    return town()


@pytest.fixture
def query(graph: Graph) -> Callable[[str], BoundQuery]:
    return lambda text: bind(parse(text), graph.schema, {"who": {"age": 30}}, "different edges")


@pytest.fixture
def bound(query: Callable[[str], BoundQuery]) -> Bound:
    """The query graph of these clauses."""
    return lambda clauses: query(f"{clauses} RETURN count(*)").segments[0].graph


def sketch(part: Part) -> tuple[object, ...]:
    return part.kind, part.vertices, part.edges, part.within


def functions(conditions: tuple[Expression, ...]) -> list[str]:
    return [condition.function for condition in conditions if isinstance(condition, Call)]


def test_a_graph_without_parts(bound: Bound) -> None:
    found = bound("MATCH (a)-->(b) MATCH (b)-->(c)")
    assert found.parts == ()
    assert [scope.part for scope in found.scopes] == [None, None]


def test_optional_match(bound: Bound) -> None:
    found = bound("MATCH (a:Person) OPTIONAL MATCH (a)-[:KNOWS]->(b:Person)<--(:City)")
    (part,) = found.parts
    assert sketch(part) == ("optional", (1, 2), (0, 1), None)
    assert part.described == "OPTIONAL MATCH (a)-[:KNOWS]->(b:Person)<-[]-(:City)"
    assert [(scope.vertices, scope.edges, scope.part) for scope in found.scopes] == [
        ((0,), (), None),
        ((0, 1, 2), (0, 1), 0),
    ]


def test_conditions_of_optional_match(bound: Bound) -> None:
    """What speaks of an own element stands there; what speaks of earlier ones filters the part and nothing else."""
    found = bound("""
        MATCH (a:Person) WHERE a.age > 1
        OPTIONAL MATCH (a {age: 4})-[k:KNOWS {since: 2}]->(b:Person $who)
        WHERE a.age < 2 AND b.age <> 3 AND a.age <= b.age""")
    assert functions(found.vertices[0].predicates) == [">"]
    assert functions(found.vertices[1].predicates) == ["=", "<>"]
    assert functions(found.edges[0].predicates) == ["="]
    assert functions(found.parts[0].predicates) == ["=", "<", "<="]
    assert found.predicates == ()


def test_labels_of_earlier_vertices(bound: Bound) -> None:
    """They narrow the part only, and what they cannot narrow is no condition."""
    found = bound("MATCH (a)-->(c:City) OPTIONAL MATCH (a:Person)-->(b:City), (c:City)-->(b)")
    a, c, b = found.vertices
    assert (len(a.tables), len(b.tables)) == (3, 1)
    assert functions(found.parts[0].predicates) == ["in"]
    assert (a.described, c.described, b.described) == ("(a)", "(c:City)", "(b:City)")


def test_label_conditions(bound: Bound) -> None:
    found = bound("MATCH (a) OPTIONAL MATCH (a)-->(b) WHERE a:Person AND b:Person MATCH (a) WHERE a:Person|City")
    assert [vertex.described for vertex in found.vertices] == ["(a:Person|City)", "(b:Person)"]
    assert functions(found.parts[0].predicates) == ["in"]


@pytest.mark.parametrize(
    ("condition", "kind", "described"),
    [
        ("(a)-[:KNOWS]->()", "exists", "(a)-[:KNOWS]->()"),
        ("NOT (a)-[:KNOWS]->(:Person {age: 3})", "absent", "NOT (a)-[:KNOWS]->(:Person)"),
        ("NOT NOT (a)<--(:City|Company)", "exists", "(a)<-[]-(:City|Company)"),
        ("NOT (NOT (NOT (a)--()))", "absent", "NOT (a)-[]-()"),
        ("EXISTS { MATCH (a)-[k]->(b:City) WHERE b.name = 'x' }", "exists", "EXISTS { (a)-[k]->(b:City) }"),
        ("NOT EXISTS { p = (a)-->(b) }", "absent", "NOT EXISTS { (a)-[]->(b) }"),
    ],
)
def test_patterns_as_conditions(bound: Bound, condition: str, kind: str, described: str) -> None:
    (part,) = bound(f"MATCH (a:Person) WHERE {condition} AND a.age > 1").parts
    assert (*sketch(part), part.described) == (kind, (1,), (0,), None, described)


def test_conditions_in_a_row(bound: Bound) -> None:
    """Parts in order of appearance, each with its scope; patterns inside node brackets count too."""
    found = bound("MATCH (a WHERE (a)-->(:City))--(b) WHERE a.name = b.name AND NOT (a)-->(b) AND (b)-->()")
    assert [sketch(part) for part in found.parts] == [
        ("exists", (2,), (1,), None),
        ("absent", (), (2,), None),
        ("exists", (3,), (3,), None),
    ]
    assert [scope.part for scope in found.scopes] == [None, 0, 1, 2]
    assert functions(found.predicates) == ["="]


def test_conditions_of_a_pattern(bound: Bound) -> None:
    found = bound("MATCH (a:Person), (c) WHERE (a {age: 1})-->(:City {name: 'x'})<--(c:Company)")
    assert functions(found.parts[0].predicates) == ["=", "in"]
    assert functions(found.vertices[2].predicates) == ["="]


def test_a_condition_of_an_optional_match_hangs_on_it(bound: Bound) -> None:
    found = bound("MATCH (a), (c) OPTIONAL MATCH (a)-->(b) WHERE NOT (b)-->(c) AND EXISTS { (a)-->(x)-->(c) }")
    assert [sketch(part) for part in found.parts] == [
        ("optional", (2,), (0,), None),
        ("absent", (), (1,), 0),
        ("exists", (3,), (2, 3), 0),
    ]


def test_optional_matches_that_build_on_one_another(bound: Bound) -> None:
    found = bound("""
        MATCH (a)
        OPTIONAL MATCH (a)-->(b)
        OPTIONAL MATCH (a)-->(c)
        OPTIONAL MATCH (b)-->(d)
        OPTIONAL MATCH (a)-->(e)<--(d)--(b)
        OPTIONAL MATCH (c)-->(f) WHERE NOT (f)--(a)""")
    assert [part.within for part in found.parts] == [None, None, 0, 2, 1, 4]


def test_match_after_optional_match(bound: Bound) -> None:
    found = bound("OPTIONAL MATCH (a:City) MATCH (b)-->(c) WHERE NOT (c)-->(b)")
    assert [sketch(part) for part in found.parts] == [("optional", (0,), (), None), ("absent", (), (1,), None)]


def test_modes(bound: Bound) -> None:
    """A pattern has the mode of its clause, an EXISTS may have its own."""
    found = bound("""
        MATCH DIFFERENT NODES (a)-->(b) WHERE (a)-->() AND EXISTS { (b)-->(x) } AND EXISTS { MATCH INDUCED (b)-->(x) }
        OPTIONAL MATCH (a)-->(c)""")
    modes = ["different nodes", "different nodes", "different nodes", "induced", "different edges"]
    assert [scope.mode for scope in found.scopes] == modes


def test_a_relationship_bound_before(bound: Bound) -> None:
    """A MATCH finds it again as an edge of its own that must be the same, an OPTIONAL MATCH in a segment of its own."""
    found = bound("MATCH (a)-[r]->(b) MATCH (x)-[r]->(y)-[s]->(a)")
    assert functions(found.predicates) == ["="]
    assert not bound("MATCH (a)-[r]->(b) OPTIONAL MATCH (x)-[r]->(y)-[s]->(a)").parts


def test_names_inside_exists(query: Callable[[str], BoundQuery]) -> None:
    """They are nobody else's, and names outside keep their meaning inside."""
    found = query("""
        MATCH (a:Person) WHERE EXISTS { p = (a)-[k]->(b:City) WHERE b.name = a.name }
                           AND NOT EXISTS { (a)-->(b:Company) WHERE b.name = 'x' }
        MATCH (a)-->(b) RETURN *""")
    graph = found.segments[0].graph
    assert [item.name for item in found.segments[-1].projection.items] == ["a", "b"]
    assert [vertex.described for vertex in graph.vertices] == ["(a:Person)", "(b:City)", "(b:Company)", "(b)"]
    assert len({vertex.variable for vertex in graph.vertices}) == 4
    assert [functions(part.predicates) for part in graph.parts] == [["="], []]
    assert functions(graph.vertices[2].predicates) == ["="]


def test_a_part_asks_cases_of_what_it_hangs_on(graph: Graph) -> None:
    """The subject of CASE goes to the copy of the vertex too."""
    case = "CASE a.name WHEN 'person 3' THEN true ELSE false END"
    text = f"MATCH (a:Person) WHERE EXISTS {{ MATCH (a)-[:KNOWS]->(b:Person) WHERE {case} }} RETURN a.name"
    assert graph.query(text).rows() == [("person 3",)]


def test_optional_variables_are_returned(query: Callable[[str], BoundQuery]) -> None:
    found = query("MATCH (a) OPTIONAL MATCH p = (a)-[k:KNOWS]->(b) RETURN *, b.name, k.since, count(*)")
    names = [item.name for item in found.segments[-1].projection.items]
    assert names == ["a", "b", "k", "p", "b.name", "k.since", "count(*)"]


@pytest.mark.parametrize(
    "returned", ["a.name, p IS NULL AS none", "count(DISTINCT p)", "a.name ORDER BY length(p)", "*"]
)
def test_a_path_of_an_optional_match_is_a_segment_of_its_own(query: Callable[[str], BoundQuery], returned: str) -> None:
    found = query(f"MATCH (a:Person) OPTIONAL MATCH p = (a)-[:KNOWS]->() RETURN {returned}")
    assert [type(segment) for segment in found.segments] == [Match, OptionalMatch, Project]
    found = query("MATCH p = (a:Person) OPTIONAL MATCH (a)-[:KNOWS]->() RETURN count(p)")
    assert [type(segment) for segment in found.segments] == [Match, Project]


SEGMENTS = {
    "OPTIONAL MATCH (a) RETURN count(*)": "O P",
    "MATCH (a) OPTIONAL MATCH (a)-->(b) OPTIONAL MATCH (b)-->(c) RETURN a": "M P",
    "MATCH (a) OPTIONAL MATCH (a)-->(b) OPTIONAL MATCH (b)-->(c) RETURN b": "M O O P",
    "MATCH (a) OPTIONAL MATCH (a)-->(b) OPTIONAL MATCH (b)-->(c) RETURN c": "M O O P",
    "MATCH (a) OPTIONAL MATCH (a)-->(b) OPTIONAL MATCH (a)-->(c) RETURN c": "M O P",
    "MATCH (a) OPTIONAL MATCH (a)-->(b) MATCH (b)-->(c) RETURN a": "M O M P",
    "MATCH (a) OPTIONAL MATCH (a)-->(b) MATCH (a)-->(c) RETURN *": "M O M P",
    "MATCH (a) OPTIONAL MATCH (a)-->(b) OPTIONAL MATCH (a)-->(c) OPTIONAL MATCH (b)-->(c) RETURN a": "M O O O P",
    "MATCH (a) OPTIONAL MATCH (a)-->(b) OPTIONAL MATCH (a)-->(c) WHERE b.name = c.name RETURN a": "M O O P",
    "MATCH (a) OPTIONAL MATCH (a)-->(b) WHERE a.name + b.name = 'x' RETURN a": "M O P",
    "MATCH (a) OPTIONAL MATCH (a)-->(b) WHERE rand() >= 0.5 RETURN a": "M O P",
    "MATCH (a) WHERE EXISTS { (a)-->(b) WHERE a.age + b.age > 40 } MATCH (a)-->(c) RETURN a": "M E P",
    "MATCH (a) WITH DISTINCT a OPTIONAL MATCH (a)-->(b) RETURN count(*)": "M P O P",
    "MATCH (a) WITH DISTINCT a MATCH (a)-->(b) OPTIONAL MATCH (a)-->(c) RETURN count(*)": "M P M P",
    "MATCH (a) WITH a, 1 AS x MATCH (a)-->(b) OPTIONAL MATCH (b)-->(c) WHERE c.age = x RETURN count(*)": "M P M O P",
    "MATCH (a) WITH a WHERE (a)-->() AND NOT (a)<--() RETURN a": "M P E N P",
    "MATCH (a) WITH DISTINCT a MATCH (b) WHERE (a)-->() AND (b)-->() RETURN a": "M P M E P",
    # a WITH that only carries names on is left out
    "MATCH (a) WITH a OPTIONAL MATCH (a)-->(b) RETURN count(*)": "M P",
    "MATCH (a) WITH a AS a MATCH (a)-->(b) OPTIONAL MATCH (a)-->(c) RETURN count(*)": "M P",
    "MATCH (a) WITH a MATCH (b) WHERE (a)-->() AND (b)-->() RETURN a": "M P",
    "MATCH (a) WITH * MATCH (b) WITH a, b WHERE a.age > b.age MATCH (a)-->(b) WITH a RETURN a.name": "M P",
    "MATCH (a) OPTIONAL MATCH (a)-->(b) WITH a, b MATCH (b)-->(c) RETURN c": "M O M P",
    "MATCH (a)-->(b) WITH a MATCH (c) RETURN count(*)": "M P",
    # and stays where what is dropped is named anew, where more is said of what is known, or of edges again
    "MATCH (a)-->(b) WITH a MATCH (b) RETURN count(*)": "M P M P",
    "MATCH (a)-->(b) WITH a MATCH (c) RETURN *": "M P M P",
    "MATCH (a)-->(b) WITH a MATCH (c) WHERE EXISTS { (c)-->(b) } RETURN a": "M P M P",
    "MATCH (a) WITH a MATCH (a:Person) RETURN a": "M P M P",
    "MATCH (a)-[k]->(b) WITH a, k, b MATCH (a)-[k]->(c) RETURN c": "M P M P",
    "MATCH (a) WITH a AS b MATCH (c) RETURN c": "M P M P",
    "MATCH (a) WITH a LIMIT 3 MATCH (c) RETURN c": "M P M P",
    "MATCH (a) WITH a WHERE rand() < 0.5 MATCH (b) RETURN a": "M P M P",
    "OPTIONAL MATCH (a) WITH a WHERE a.name = 'x' MATCH (b) RETURN a": "O P M P",
}


@pytest.mark.parametrize("text", SEGMENTS)
def test_segments(query: Callable[[str], BoundQuery], text: str) -> None:
    letter = {Match: "M", OptionalMatch: "O", Exists: "E", NotExists: "N", Project: "P"}
    assert " ".join(letter[type(segment)] for segment in query(text).segments) == SEGMENTS[text]


@pytest.mark.parametrize(
    ("pattern", "returned", "is_counted"),
    [
        ("(a)-[:KNOWS]->(b)", "a.name, count(b)", True),
        ("p = (a)-[k:KNOWS]->(b) WHERE b.age > a.age", "count(p) + 1 AS n, max(a.age)", True),
        ("(a)-[:KNOWS]->(b)", "a.name AS name, count(b) AS n ORDER BY n", True),
        ("(a)-[:KNOWS]->(b)", "count(a)", False),
        ("(a)-[:KNOWS]->(b)", "count(b), count(*)", False),
        ("(a)-[:KNOWS]->(b)", "count(b), sum(a.age)", False),
        ("(a)-[:KNOWS]->(b)", "count(b), count(b) + 1 AS m", False),
        ("(a)-[:KNOWS]->(b)", "b.name, count(b)", False),
        ("(a)-[:KNOWS]->(b)", "count(DISTINCT b)", False),
        ("(a)-[:KNOWS*1..2]->(b)", "count(b)", False),
    ],
)
def test_an_optional_match_that_is_only_counted_lists_nothing(
    query: Callable[[str], BoundQuery], pattern: str, returned: str, is_counted: bool
) -> None:
    found = query(f"MATCH (a:Person) OPTIONAL MATCH {pattern} RETURN {returned}")
    assert any(isinstance(segment, Apply) and segment.asked == "count" for segment in found.segments) == is_counted
