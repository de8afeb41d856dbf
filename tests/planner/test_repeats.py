"""Which patterns a relationship of few lengths is bound as: hop by hop, as a sweep, or both."""

from __future__ import annotations

import pytest

from gquery.grammar.parser import parse
from gquery.planner.binding.clauses import bind
from gquery.planner.ir.segments import Apply, Paths, Segment
from tests.planner.town import town


def _shapes(segments: tuple[Segment, ...]) -> set[str]:
    """Of all that is bound for relationships of variable length."""
    found = {"search" for each in segments if isinstance(each, Paths)}
    for apply in (each for each in segments if isinstance(each, Apply)):
        found |= {"hops"} if len(apply.branches) > 1 else _shapes(apply.branches[0])
        found |= {"sweep"} if apply.swept else set()
    return found


@pytest.mark.parametrize(
    ("query", "shapes"),
    [
        ("{lengths} RETURN b", {"hops"}),
        ("{lengths} RETURN count(*)", {"hops"}),
        ("{lengths} WITH b.name AS name LIMIT 3 RETURN DISTINCT name", {"hops"}),
        ("{lengths} RETURN DISTINCT b", {"search"}),
        ("{lengths} RETURN a, max(b.age), count(DISTINCT b)", {"search"}),
        ("{lengths} WITH b MATCH (b)-[:LIVES_IN]->(c) RETURN DISTINCT c", {"search"}),
        ("{lengths} RETURN max(b.age), count(b)", {"hops"}),
        ("{named} RETURN DISTINCT b", {"hops", "sweep"}),
        ("CALL () {{ {lengths} RETURN b }} RETURN DISTINCT b", {"hops", "sweep"}),
        ("CALL () {{ {lengths} RETURN count(b) AS n }} RETURN DISTINCT n", {"hops"}),
    ],
)
def test_only_what_may_be_asked_is_bound(query: str, shapes: set[str]) -> None:
    tree = parse(query.format(lengths="MATCH (a:Person)-[:KNOWS*1..3]->(b)", named="MATCH (a)-[r:KNOWS*1..3]->(b)"))
    schema = town().snapshot.schema
    assert _shapes(bind(tree, schema, {}, "different edges").segments) == shapes
    told = _shapes(bind(tree, schema, {}, "different edges", stands=True).segments)
    assert "hops" in told
