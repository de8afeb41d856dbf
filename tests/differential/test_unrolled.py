"""Conditions on lists of a path's elements, which are asked element by element where the path's length is known, beside
the same conditions behind a WITH, where they are asked of lists."""

from __future__ import annotations

import warnings
from random import Random

import pytest

import gquery
from gquery.planner.binding.lengths import alternatives

_PATTERNS = (
    "p = (a)-[r:X*1..3]->(b)",
    "p = (a:P)-[r:X*0..2]-(b)",
    "p = (a)-[r:X*1..1]->(b)",
    "p = (a {id: 0})-[r:X*1..3]->(b)",
    "p = (a)-[r:X*1..3]->(b {id: 1})",
    "p = (a)-[r:X*2..3]->(b)-[s:X]->(c)",
    "p = (a)((x)-[r:X]->(y) WHERE x.v <= y.v OR x.v IS NULL){1,3}",
    "p = TRAIL (a)-[r:X]->{1,3}(a)",
    "p = (a)-[r:X*]->(b)",
    "p = (a)-[r:X*]->(b {id: 0})",
    "p = (a {id: 0})-[r:X*]->(b)",
    "p = (a)-[r:X* WHERE r.t >= a.v]->(b)",
    "p = (a)-[r:X* WHERE r.t <= b.v]-(b)",
    "p = (a)-[r:X]-*(b)-[s:X]->()",
    "p = ACYCLIC (a)((x)-[r:X]->(y))+(b)",
)
_WRITTEN_OUT = "p = (a)((x)-[r:X]->(y)-[s:X]->(z)){1,2}(b)"
_OVER_PLACES = (
    "range(0, size(r) - 2)", "range(1, size(r) - 1)", "range(0, length(p) - 2)", "range(size(r), 3)", "range(-1, 0)",
)  # fmt: skip
_OVER_ELEMENTS = ("r", "r[1..]", "r[..1]", "r[-1..]", "tail(r)", "relationships(p)", "nodes(p)", "nodes(p)[1..3]", "[]")
_OF_PLACE = (
    "r[i].t < r[i + 1].t", "r[i - 1].t <= r[i].t", "r[i].t = i", "relationships(p)[i].t <> nodes(p)[i + 1].v",
    "r[i].t < 0.5 * r[i + 1].t", "r[i + 1].t - r[i].t < 2", "10 / r[i].t > r[i + 1].t OR r[i].t = 0",
    "r[i].t = r[i + 1].t OR r[i].t IS NULL", "r[-i].t > $least", "r[2 * i].t IS NULL", "r[i] = head(r)",
    "any(e IN r[0..i] WHERE e.t > r[i].t)", "r[i].t < r[i + 1].t AND r[i + 1].t > 1",
)  # fmt: skip
_OF_ELEMENT = (
    "e.t > $least", "e.t > head(nodes(p)).v", "e.t = last(r).t", "e.t IS NOT NULL", "e.t < size(r) + length(p)",
    "all(f IN r WHERE f.t >= e.t)", "e = last(relationships(p))", "e IN r", "e.t >= a.v", "e.t > a.v + 1",
    "e.t > 0 OR e.t IS NULL", "10 / e.t > a.v OR e.t = 0", "e.t IN [1, 2, 3]",
)  # fmt: skip


def _condition(random: Random, deep: int = 2) -> str:
    if deep and random.random() < 0.4:
        one, other = (_condition(random, deep - 1) for _ in range(2))
        return random.choice([f"({one} AND {other})", f"({one} OR {other})", f"NOT ({one})", f"({one}) IS NULL"])
    form = random.choice(["all", "any", "none", "single"])
    if random.random() < 0.5:
        return f"{form}(i IN {random.choice(_OVER_PLACES)} WHERE {random.choice(_OF_PLACE)})"
    over, asked = random.choice(_OVER_ELEMENTS), random.choice(_OF_ELEMENT)
    return f"{form}(e IN {over} WHERE {asked.replace('e.t', 'e.v') if 'nodes' in over else asked})"


def _graph(random: Random) -> gquery.Graph:
    """Loops, parallel edges, and nulls."""
    count, edges = random.randint(2, 4), random.randint(3, 7)
    ends = {end: [random.randrange(count) for _ in range(edges)] for end in ("source", "target")}
    numbers = [None, 0, 1, 2, 3]
    return gquery.from_arrow(
        {"P": {"id": list(range(count)), "v": [1, *(random.choice(numbers) for _ in range(count - 1))]}},
        {("P", "X", "P"): {**ends, "t": [2, *(random.choice(numbers) for _ in range(edges - 1))]}},
    )


@pytest.mark.parametrize("way", ["alternatives", "searches"])
@pytest.mark.parametrize("seed", range(20))
def test_as_of_whole_lists(seed: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"{way} {seed}")
    patterns = [_WRITTEN_OUT] if way == "alternatives" else []
    if way == "searches":
        monkeypatch.setattr(alternatives, "MOST_ALTERNATIVES", 0)
    graph = _graph(random)
    for _ in range(4):
        pattern, condition = random.choice([*_PATTERNS, *patterns]), _condition(random)
        rows = [
            sorted(
                graph.query(f"MATCH {pattern} {asked} {condition} RETURN p, r", {"least": 1}, device="cpu").rows(),
                key=repr,
            )
            for asked in ("WHERE", "WITH p, r, a WHERE")
        ]
        assert rows[0] == rows[1], f"seed {seed}: {pattern} {condition}"
        count = graph.query(f"MATCH {pattern} WHERE {condition} RETURN count(*)", {"least": 1}).scalar()
        assert count == len(rows[0]), f"seed {seed}: {pattern} {condition}"


def test_paths_in_the_order_of_time_are_matched_in_it() -> None:
    """There are about 1,100,000 paths from a vertex; listing all before they are asked took over 30 s."""
    random, count = Random("in time"), 2_000
    ends = [[random.randrange(count) for _ in range(10 * count)] for _ in range(2)]
    times = [random.randrange(1_000_000) for _ in range(10 * count)]
    columns = {"source": ends[0], "target": ends[1], "t": times}
    graph = gquery.from_arrow({"P": {"id": list(range(count))}}, {("P", "X", "P"): columns})
    leaving: dict[int, list[tuple[int, int]]] = {}
    for source, target, time in zip(*ends, times, strict=True):
        leaving.setdefault(source, []).append((target, time))
    reached, expected = [(5, -1)], 0
    for _ in range(6):
        reached = [later for vertex, time in reached for later in leaving.get(vertex, []) if later[1] > time]
        expected += len(reached)
    text = (
        "MATCH p = (a {id: 5})-[r:X*1..6]->(b) "
        "WHERE all(i IN range(0, size(r) - 2) WHERE r[i].t < r[i + 1].t) RETURN count(*)"
    )
    assert graph.query(text, timeout=20).scalar() == expected
    assert "hop by hop" in graph.explain(text)
    unpinned = text.replace(" {id: 5}", "").replace("WHERE", "WHERE a.id > 4 AND a.id < 6 AND", 1)
    assert "hop by hop" not in graph.explain(unpinned)
    assert graph.query(unpinned, timeout=20).scalar() == expected


@pytest.mark.parametrize("length", ["*", "*1..3"])
def test_not_all_nodes_need_have_what_some_have(length: str) -> None:
    graph = gquery.from_arrow(
        {"P": {"id": [1, 2, 3]}, "Q": {"id": [1, 2], "v": [1, 9]}},
        {
            ("P", "X", "P"): {"source": [1, 2], "target": [2, 3]},
            ("P", "X", "Q"): {"source": [3, 3], "target": [1, 2]},
        },
    )
    text = "MATCH p = (a:P)-[:X{}]->(b) WHERE all(n IN nodes(p) WHERE n.v IS NULL OR n.v > 5) RETURN count(*)"
    assert graph.query(text.format(length)).scalar() == 6


@pytest.mark.parametrize("form", ["all", "any", "none"])
def test_names_that_do_not_exist_are_told_of_no_item_too(form: str) -> None:
    graph = _graph(Random(0))
    text = f"MATCH (a)-[r:X*1..1]->(b) WHERE {form}(i IN range(0, size(r) - 2) WHERE r[i].since > 1) RETURN count(*)"
    with pytest.raises(gquery.BindError, match="no property `since`"):
        graph.query(text).scalar()


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("all(e IN r WHERE e.t < 3)", 5),
        ("none(e IN relationships(p) WHERE e.t >= 3)", 5),
        ("all(n IN nodes(p) WHERE n.v = 0)", 22),
        ("all(e IN r WHERE e.t < 3 + 0.5 * a.v)", 5),
        ("a.id = 0 AND all(i IN range(1, size(r) - 1) WHERE r[i].t > r[i - 1].t)", 18_589),
        ("b.id = 7 AND all(i IN range(0, length(p) - 2) WHERE 2.0 * r[i].t < r[i + 1].t)", 65),
    ],
)
def test_nothing_is_searched_for_behind_what_does_not_fit(condition: str, count: int) -> None:
    """There are more trails in a complete graph of eight vertices than anybody could look at."""
    ends = [(one, other) for one in range(8) for other in range(8)]
    columns = {"source": [one for one, _ in ends], "target": [other for _, other in ends], "t": [*range(len(ends))]}
    graph = gquery.from_arrow({"P": {"id": list(range(8)), "v": [0, 0, *[1] * 6]}}, {("P", "X", "P"): columns})
    assert graph.query(f"MATCH p = (a)-[r:X*]->(b) WHERE {condition} RETURN count(*)", timeout=20).scalar() == count


@pytest.mark.parametrize(
    "condition",
    [
        "all(e IN r WHERE 10 / e.t > 1)",
        "all(n IN nodes(p) WHERE 10 / n.x > 1)",
        "all(i IN range(0, size(r) - 2) WHERE 10 / (r[i].t - r[i + 1].t) < 0)",
        "all(i IN range(0, size(r) - 2) WHERE r[i].t < r[i + 1].t AND none(i IN [0] WHERE r[i].t = 2))",
    ],
)
def test_what_fails_for_others_does_not_matter(condition: str) -> None:
    """A relationship and a node from which nothing that is asked for begins have zeros; another list counts from 0."""
    edges = {"source": [1, 2, 4], "target": [2, 3, 1], "t": [1, 2, 0]}
    graph = gquery.from_arrow({"P": {"id": [1, 2, 3, 4], "x": [1, 2, 3, 0]}}, {("P", "X", "P"): edges})
    assert graph.query(f"MATCH p = (a {{id: 1}})-[r:X*]->(b) WHERE {condition} RETURN count(*)").scalar() == 2


def test_of_no_item_nothing_is_compared_with_null() -> None:
    graph, condition = _graph(Random(0)), "all(i IN range(0, size(r) - 2) WHERE r[i].t = r[i + 1].t)"
    with warnings.catch_warnings(action="error"):
        graph.query(f"MATCH (a)-[r:X*1..2]->(b) WHERE {condition} RETURN count(*)").scalar()
