"""Relationships of variable length: what the random programs of `tests/soak` do not say by themselves."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import gquery
from gquery import Graph
from gquery.executor.expansion import products
from gquery.executor.paths import leading, sweep
from gquery.planner.binding.lengths import alternatives


def graph(edges: list[tuple[int, int]], vertices: int = 0, **weights: list[int]) -> Graph:
    ids = range(max([vertices, *(end + 1 for edge in edges for end in edge)]))
    columns = {"source": [edge[0] for edge in edges], "target": [edge[1] for edge in edges], **weights}
    return gquery.from_arrow(vertices={"P": {"id": list(ids)}}, edges={("P", "K", "P"): columns})


def ask(asked: Graph, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in asked.query(text, parameters).rows())


CHAIN = graph([(place, place + 1) for place in range(1200)])
LADDER = graph([(place, place + step) for place in range(30) for step in (1, 1)])  # 2^n paths
TRIANGLE = graph([(0, 1), (1, 2), (2, 0), (2, 3)], weight=[1, 2, 3, 4])


def test_a_long_chain_has_long_paths() -> None:
    assert ask(CHAIN, "MATCH p = ({id: 0})-[*]->({id: 1200}) RETURN length(p)") == [(1200,)]
    assert ask(CHAIN, "MATCH ({id: 0})-[:K*]->(b) RETURN count(*)") == [(1200,)]
    assert ask(CHAIN, "MATCH (a {id: 5})<-[*..3]-(b) RETURN b.id") == [(2,), (3,), (4,)]


def test_nobody_lists_paths_to_know_where_they_lead() -> None:
    """There are 2^30 paths from end to end."""
    reached = [(place,) for place in range(1, 31)]
    assert ask(LADDER, "MATCH ({id: 0})-[:K*]->(b) RETURN DISTINCT b.id") == reached
    assert ask(LADDER, "MATCH ({id: 0})-[:K*1..30]->(b) WITH DISTINCT b RETURN b.id") == reached
    assert ask(LADDER, "MATCH (a) WHERE EXISTS { (a)-[:K*]->({id: 30}) } RETURN count(*)") == [(30,)]
    assert ask(LADDER, "MATCH (a) WHERE NOT (a)-[:K*]-({id: 30}) RETURN count(*)") == [(0,)]
    assert ask(LADDER, "MATCH p = ANY SHORTEST ({id: 0})-[:K*]->({id: 30}) RETURN length(p)") == [(30,)]
    assert ask(LADDER, "MATCH ({id: 0})-[:K*10]->(b) RETURN b.id, count(*)") == [(10, 1024)]


def test_shortest_paths_are_counted_and_not_listed() -> None:
    """Of the 2^30 from end to end, on as many threads as there are, and beyond what a row can stand for."""
    ends = "MATCH (a {id: 0}), (b {id: 30}) MATCH ALL SHORTEST (a)-[:K]->+(b) RETURN count(*)"
    assert ask(LADDER, ends) == [(2**30,)]
    assert ask(LADDER, ends.replace("->", "-")) == [(2**30,)]
    assert ask(LADDER, "MATCH (a), (b) MATCH ALL SHORTEST (a)-[:K]->+(b) RETURN sum(1), count(DISTINCT a)") == [
        (sum((31 - length) * 2**length for length in range(1, 31)), 30)
    ]
    wide = graph([(place, place + 1) for place in range(70) for _ in (1, 1)])
    with pytest.raises(gquery.ExecutionError, match="one row stands for more than 2"):
        ask(wide, ends.replace("30", "63"))
    assert ask(wide, ends.replace("30", "62")) == [(2**62,)]


@pytest.mark.parametrize("size", [1, 1000])
def test_searches_begin_with_what_is_looked_up(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batch by batch; what is looked up besides the ends, or asked for with them, is joined as before."""
    monkeypatch.setattr(products, "PIECE", size)
    ends = "MATCH (a), (b) WHERE a.id IN $a AND b.id IN $b AND a <> b "
    known = {"a": [0, 2, 3], "b": [3, 0, 7, 1]}
    lengths = ends + "MATCH p = ANY SHORTEST (a)-[:K]->*(b) RETURN a.id, b.id, length(p)"
    pairs = [(0, 1, 1), (0, 3, 3), (2, 0, 1), (2, 1, 2), (2, 3, 1)]
    assert ask(TRIANGLE, lengths, **known) == pairs
    assert ask(TRIANGLE, lengths.replace("length(p)", "size(nodes(p))"), **known) == [(*e, n + 1) for *e, n in pairs]
    plan = TRIANGLE.explain(lengths, known)
    assert plan.startswith("MATCH SHORTEST 1 TRAIL (a)-[relationship 1:K]->(b){0,}\n  Begin with what is looked up")
    others = "MATCH (a), (b), (c) WHERE a.id = 0 AND b.id = 1 AND c.id IN $a MATCH p = (a)-[:K*1..]->(b)"
    assert ask(TRIANGLE, others + " RETURN length(p), c.id", **known) == [(1, 0), (1, 2), (1, 3)]
    assert ask(TRIANGLE, others + " RETURN count(*)", **known) == [(3,)]
    reached = "MATCH (a) WHERE a.id IN $a MATCH p = (a)-[:K*1..]->(b) "
    assert ask(TRIANGLE, reached + "RETURN DISTINCT b.id", **known) == [(0,), (1,), (2,), (3,)]
    assert ask(TRIANGLE, reached + "RETURN count(*), sum(length(p))", **known) == [(9, 20)]


def test_walks_of_several_lengths_are_counted_exactly() -> None:
    """Also beyond 2^63, where a row cannot stand for as many."""
    wide = graph([(place, place + 1) for place in range(13) for _ in range(64)])
    total = sum((14 - length) * 64**length for length in (10, 11))
    assert ask(wide, "MATCH (a)-[:K*10..11]->(b) RETURN count(*)") == [(total,)]
    few = 13 * 64 + 12 * 64**2
    assert ask(wide, "MATCH (a)-[:K*1..2]->(b) RETURN count(*) + 1, 'walks'") == [(few + 1, "walks")]
    assert ask(wide, "MATCH (a)-[:K*1..2]->(b) WITH count(*) AS n RETURN n") == [(few,)]
    assert ask(wide, "MATCH (a {id: -1})-[:K*10..11]->(b) RETURN count(*)") == [(0,)]
    assert "2 rows" not in wide.profile("MATCH (a)-[:K*10..11]->(b) RETURN count(*)")


@pytest.mark.parametrize("link", ["-[:K*30]->", "-[:K*28..31]->", "-[:K]->{28,31}"])
def test_long_walks_are_summed_where_nobody_names_them(link: str) -> None:
    """From 13 relationships on they were listed, if only their number was asked for."""
    pairs = [(0, 1), (0, 1), (1, 2), (2, 0), (2, 2), (1, 3), (3, 0)]
    looped = graph(pairs)
    steps = {end: [target for source, target in pairs if source == end] for end in range(4)}
    walks = [dict.fromkeys(range(4), 1)]  # by the number of relationships, and by where they begin
    for _ in range(31):
        walks.append({end: sum(walks[-1][target] for target in steps[end]) for end in range(4)})
    asked = range(28, 32) if "28" in link else (30,)
    expected = [(end, sum(walks[count][end] for count in asked)) for end in range(4)]
    mode = "MATCH REPEATABLE ELEMENTS"
    assert ask(looped, f"{mode} (a){link}(b) RETURN a.id AS id, count(*) ORDER BY id") == expected
    assert ask(looped, f"{mode} (a){link}(b) RETURN count(*)") == [(sum(count for _, count in expected),)]
    assert ask(looped, f"{mode} (a {{id: 0}}){link}(b) RETURN DISTINCT b.id AS id ORDER BY id") == [
        (0,), (1,), (2,), (3,)
    ]  # fmt: skip
    assert "List paths" not in looped.explain(f"{mode} (a){link}(b) RETURN count(*)")
    assert "List paths" in looped.explain(f"{mode} p = (a){link}(b) RETURN p LIMIT 1")


def test_many_pairs_have_the_same_paths_on_any_number_of_threads() -> None:
    chance = Random("pairs")
    scattered = graph([(chance.randrange(300), chance.randrange(300)) for _ in range(600)], 300)
    text = """UNWIND range(0, 299) AS i MATCH (a {id: i}), (b {id: (i * 7 + 3) % 300})
              MATCH p = ANY SHORTEST (a)-[:K*]->(b) RETURN i, [n IN nodes(p) | n.id]"""
    answers = [scattered.with_settings(threads=threads).query(text).rows() for threads in (1, 2, 5)]
    assert len(answers[0]) > 150
    assert answers[0] == answers[1] == answers[2]


def test_many_pairs_are_asked_whether_they_are_joined() -> None:
    """Each pair, and many that begin at one vertex together; also a vertex and itself."""
    chance = Random("joined")
    scattered = graph([(chance.randrange(60), chance.randrange(60)) for _ in range(70)], 60)
    joined = "WHERE a <> b AND EXISTS { (a)-[:K*]->(b) } RETURN a.id, b.id"
    expected = ask(scattered, "MATCH (a)-[:K*1..60]->(b) WHERE a <> b RETURN DISTINCT a.id, b.id")
    assert len(expected) > 100
    assert ask(scattered, f"MATCH (a), (b) {joined}") == expected
    few = [pair for pair in expected if pair[0] % 7 == pair[1] % 7]
    assert ask(scattered, f"MATCH (a), (b) WHERE a.id % 7 = b.id % 7 WITH a, b {joined}") == few
    round_ = ask(scattered, "MATCH (a)-[:K*]->(a) RETURN DISTINCT a.id")
    assert ask(scattered, "MATCH (a) WHERE EXISTS { (a)-[:K*]->(a) } RETURN a.id") == round_


def test_where_nobody_asks_where_paths_begin_they_begin_everywhere_at_once() -> None:
    text = "MATCH (a)-[:K*1..2]->(b) RETURN DISTINCT b.id"
    assert "all at once" in CHAIN.explain(text)
    assert ask(CHAIN, text) == [(place,) for place in range(1, 1201)]
    assert ask(CHAIN, "MATCH (a)-[:K*3..]->(b {id: 7}) RETURN DISTINCT b.id") == [(7,)]
    assert ask(TRIANGLE, "MATCH (a {id: 0})-[:K*]->(b) RETURN DISTINCT b.id") == [(0,), (1,), (2,), (3,)]
    assert ask(TRIANGLE, "MATCH (a {id: 3})-[:K*0..]->(b) RETURN DISTINCT b.id") == [(3,)]
    pair = graph([(0, 1)])
    assert ask(pair, "MATCH (a)-[:K*]-(b) RETURN DISTINCT b.id") == [(0,), (1,)]
    assert ask(pair, "MATCH (a {id: 0})-[:K*]-(b) RETURN DISTINCT b.id") == [(1,)]
    counted = "MATCH (a), (b) MATCH ANY SHORTEST (a)-[:K]->+(b) RETURN count(*)"
    assert ask(pair, counted) == [(1,)]


@pytest.mark.parametrize("length", ["*", "*0..2", "*1..2", "*2..3", "*0..5"])
@pytest.mark.parametrize("arrow", ["-", "->"])
def test_paths_end_at_another_vertex(arrow: str, length: str) -> None:
    """However they are searched for: `id(a) <> id(b)` is asked of the rows that a search has found."""
    chance = Random(f"{arrow} {length}")
    looped = graph([(chance.randrange(9), chance.randrange(9)) for _ in range(12)], 9)
    hop = f"-[:K{length}]{arrow}"
    for pattern in (f"(a){hop}(b)", f"p = (a){hop}(b)", f"p = shortestPath((a){hop}(b))", f"(a){hop}(b {{id: 3}})",
                    f"p = SHORTEST 3 (a){hop}(b)", f"ACYCLIC (a){hop}(b)"):  # fmt: skip
        for begin in ("", "MATCH (a) WHERE a.id < 7 ", "OPTIONAL MATCH (a {id: 99}) "):
            for answer in ("a.id, b.id", "DISTINCT b.id", "count(*)", "a.id, count(*)"):
                text = f"{begin}MATCH {pattern} WHERE CONDITION RETURN {answer}"
                expected = ask(looped, text.replace("CONDITION", "id(a) <> id(b)"))
                assert ask(looped, text.replace("CONDITION", "b <> a")) == expected, text
    plan = looped.explain(f"MATCH (a)-[:K*]{arrow}(b) WHERE a <> b AND a.id < 3 RETURN DISTINCT b.id")
    assert "(b): <> (a)" in plan


def test_the_way_back_takes_another_edge() -> None:
    pendant = graph([(0, 1), (1, 2), (2, 3), (3, 1), (4, 4), (5, 6), (6, 5), (7, 8), (7, 8)])
    rounds = "MATCH (a)-[:K*]-(a) RETURN DISTINCT a.id"
    assert ask(pendant, rounds) == [(1,), (2,), (3,), (4,), (5,), (6,), (7,), (8,)]
    assert ask(pendant, "MATCH (a)-[:K*..2]-(a) RETURN DISTINCT a.id") == [(4,), (5,), (6,), (7,), (8,)]
    assert ask(pendant, "MATCH (a)-[:K*]->(a) RETURN DISTINCT a.id") == [(1,), (2,), (3,), (4,), (5,), (6,)]
    text = "MATCH REPEATABLE ELEMENTS (a)-[:K*..2]-(a) RETURN DISTINCT a.id"
    assert ask(pendant, text) == [(number,) for number in range(9)]
    lengths = ask(pendant, "MATCH p = ALL SHORTEST (a)-[:K*]-(a) RETURN a.id, length(p), count(*)")
    assert lengths == [(1, 3, 2), (2, 3, 2), (3, 3, 2), (4, 1, 1), (5, 2, 2), (6, 2, 2), (7, 2, 2), (8, 2, 2)]


def test_a_path_without_a_vertex_twice_does_not_come_back() -> None:
    for mode, expected in (("ACYCLIC", 1), ("SIMPLE", 2), ("", 2)):
        for length in ("*0..2", "*0.."):
            text = f"MATCH DIFFERENT NODES {mode} (a)-[:K{length}]->(a) RETURN count(*)"
            assert ask(graph([(0, 0)]), text) == [(expected,)], (mode, length)


@pytest.mark.parametrize("mode", ["ACYCLIC", "SIMPLE", "TRAIL", "WALK"])
def test_path_modes_are_about_the_whole_path(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any length too, where it is searched for in parts."""
    chance = Random(mode)
    scattered = graph([(chance.randrange(6), chance.randrange(6)) for _ in range(11)], 6)
    for match in ("", "REPEATABLE ELEMENTS"):
        text = (
            f"MATCH {match} {mode} (a)-[:K]->(b)-[:K*1..3]-(c)<-[:K*0..2]-(d) RETURN a.id, b.id, c.id, d.id, count(*)"
        )
        expected = ask(scattered, text)
        with monkeypatch.context() as patched:
            patched.setattr(alternatives, "MOST_ALTERNATIVES", 0)
            assert ask(scattered, f"{text} AS n") == expected, match  # another text, which is bound anew
        assert len(expected) > 10


@pytest.mark.parametrize(
    ("text", "count"),
    [
        # Over no relationship two names are one node, which a pattern of different nodes does not take for two.
        ("MATCH (a)-[*0..1]-(b) WHERE EXISTS { MATCH DIFFERENT NODES (a)-->(b) } RETURN count(*)", 0),
        ("MATCH (a)-[*0..1]-(b) WHERE EXISTS { MATCH (a)-->(b) } RETURN count(*)", 2),
        # The way out and back over one relationship has no vertex twice, but for its ends.
        ("MATCH REPEATABLE ELEMENTS SIMPLE (a)-[*2]-(b) RETURN count(*)", 0),
        ("MATCH REPEATABLE ELEMENTS SIMPLE (a)--(b)--(c) RETURN count(*)", 0),
        ("MATCH REPEATABLE ELEMENTS ACYCLIC (a)<--(b) RETURN count(*)", 0),
        # The mode of a pattern of fixed length holds beside one that is searched for.
        ("MATCH REPEATABLE ELEMENTS ACYCLIC (a)<--(b), ALL SHORTEST (b) RETURN count(*)", 0),
        ("MATCH REPEATABLE ELEMENTS SIMPLE (a)<--(b), ALL SHORTEST (b) RETURN count(*)", 1),
    ],
)
def test_one_vertex_with_a_loop(text: str, count: int) -> None:
    assert ask(graph([(0, 0)]), text) == [(count,)]


@pytest.mark.parametrize("length", ["*1..2", "*1.."])
def test_out_and_back_over_one_edge_is_simple(length: str) -> None:
    one = graph([(0, 1)])
    assert ask(one, f"MATCH REPEATABLE ELEMENTS SIMPLE (a)-[{length}]-(b) RETURN a.id, b.id") == [
        (0, 0), (0, 1), (1, 0), (1, 1)
    ]  # fmt: skip
    assert ask(one, "MATCH REPEATABLE ELEMENTS SIMPLE (a)--(b)--(c) RETURN count(*)") == [(2,)]
    assert ask(one, "MATCH SIMPLE (a)--(b)--(c) RETURN count(*)") == [(0,)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("MATCH (a)-[:K*3..1]->(b) RETURN count(*)", 0),
        ("MATCH (a)-[*30..10]->(b)-[*]->(c) RETURN count(*)", 0),
        ("MATCH p = ANY SHORTEST (a)-[:K*3..1]->(b) RETURN count(p)", 0),
        ("MATCH REPEATABLE ELEMENTS (a) OPTIONAL MATCH (a)-[:K*3..1]->(b) RETURN count(*) - count(b)", 4),
        ("MATCH (a) WHERE NOT EXISTS { (a)-[:K*3..1]->() } RETURN count(*)", 4),
        ("MATCH (a) WITH a CALL (a) { MATCH (a)<-[r:K*3..1]-() RETURN r } RETURN count(*)", 0),
    ],
)
def test_lengths_that_no_path_has_are_warned_of(text: str, count: int) -> None:
    """openCypher finds nothing there, and gquery said nothing."""
    at_most = 10 if "10" in text else 1
    with pytest.warns(gquery.QueryWarning, match=f"at most {at_most} relationships: never matched") as told:
        assert TRIANGLE.query(text).scalar() == count
    assert len(told) == 1
    assert "hint: the lower bound comes first" in str(told[0].message)
    with pytest.warns(gquery.QueryWarning, match="a lower bound that is not written is 1"):
        assert TRIANGLE.query("MATCH (a)-[*..0]->(b) RETURN count(*)").scalar() == 0
    assert TRIANGLE.query("MATCH (a)-[*0..0]->(b) RETURN count(*)").scalar() == 4


@pytest.mark.filterwarnings("ignore:Warning. no path has:gquery.QueryWarning")
def test_lengths_that_nothing_has_are_not_built() -> None:
    """2^31 relationships took all memory."""
    for length in ("*2147483648..4", "*2147483648..", "*2000000..3000000"):
        assert ask(TRIANGLE, f"MATCH p = (a)-[{length}]->(b) RETURN count(p)") == [(0,)]


@pytest.mark.parametrize("length", ["*1..3", "*"])
def test_relationships_are_compared_with_what_else_is_matched(length: str) -> None:
    """Where paths are searched for, those that are found are asked."""
    larger = f"MATCH (a)-[k]->() MATCH (a)-[r{length} WHERE r.weight >= k.weight]->(b) RETURN a.id, k.weight, b.id"
    assert ask(TRIANGLE, larger) == [
        (0, 1, 0), (0, 1, 1), (0, 1, 2), (0, 1, 3), (1, 2, 0), (1, 2, 2), (1, 2, 3), (2, 3, 0), (2, 3, 3), (2, 4, 3),
    ]  # fmt: skip
    text = larger.replace("RETURN a.id, k.weight,", "RETURN DISTINCT")
    assert ask(TRIANGLE, text) == [(0,), (1,), (2,), (3,)]
    same = f"MATCH (a)-[k]->() MATCH (a)-[{length} {{weight: k.weight}}]->(b) RETURN k.weight, b.id"
    assert ask(TRIANGLE, same) == [(1, 1), (2, 2), (3, 0), (4, 3)]


def test_the_relationships_stand_in_the_order_of_the_pattern() -> None:
    for left, right in (("{id: 0}", ""), ("", "{id: 3}")):
        text = f"MATCH ({left})-[r:K*3..]->({right}) UNWIND r AS k RETURN r, collect(k.weight) AS w"
        found = sorted(row[1] for row in TRIANGLE.query(text).rows())
        assert found == ([[1, 2, 4], [3, 1, 2, 4]] if right else [[1, 2, 3], [1, 2, 4]])
    text = "MATCH p = (a {id: 3})<-[r:K*3..]-({id: 0}) UNWIND nodes(p) AS n RETURN collect(n.id) AS ids"
    assert ask(TRIANGLE, text) == [([3, 2, 1, 0],)]


@pytest.mark.parametrize("length", ["*1..3", "*1.."])
def test_what_is_asked_of_each_relationship(length: str) -> None:
    assert ask(TRIANGLE, f"MATCH (a)-[r:K{length} {{weight: 2}}]->(b) RETURN a.id, b.id") == [(1, 2)]
    text = f"MATCH (a {{id: 0}})-[r:K{length} WHERE r.weight < $most]->(b) RETURN b.id, size(r)"
    assert ask(TRIANGLE, text, most=3) == [(1, 1), (2, 2)]


@pytest.mark.parametrize("length", ["*1..2", "*1.."])
def test_edges_of_one_clause_differ(length: str) -> None:
    text = f"MATCH (a {{id: 2}})-[k:K]->(b), (c)-[r:K{length}]->(b) RETURN b.id, k.weight, size(r)"
    assert ask(TRIANGLE, text) == []
    text = f"MATCH (a {{id: 2}})-[k:K]->(b) MATCH (c)-[r:K{length}]->(b) RETURN b.id, k.weight, size(r)"
    assert len(ask(TRIANGLE, text)) > 3


def test_one_relationship_is_no_list() -> None:
    shortest = "MATCH p = ALL SHORTEST (a {id: 2})-[k:K]->(b) "
    assert ask(TRIANGLE, shortest + "RETURN b.id, k.weight, length(p)") == [(0, 3, 1), (3, 4, 1)]
    assert ask(TRIANGLE, shortest.replace("k:K", "k:K*1") + "RETURN b.id, size(k)") == [(0, 1), (3, 1)]


def test_a_known_list_is_matched_again() -> None:
    text = "MATCH ({id: 0})-[j]->()-[k]->() WITH [j, k] AS r MATCH (a)-[r*]->(b) RETURN a.id, b.id"
    assert ask(TRIANGLE, text) == [(0, 2)]
    assert ask(TRIANGLE, text.replace("r*", "r*2")) == [(0, 2)]
    assert ask(TRIANGLE, text.replace("r*", "r*1")) == []


REPEATED = [
    "((a:P)-[r:K]->(b))", "((a)-[r:K]->(b:Q))", "((a:P)<-[:K]-(b))", "((a)-[r:K]->(b) WHERE a.v < b.v)",
    "((a {v: 1})-[r:K]->(b))", "((a)-[r:K]->(b WHERE b.v > 1))", "((a)-[r:K]->(b) WHERE a.v <= x.v)",
    "((a:P WHERE a.v > 0)-[r:K WHERE r.w > 1]->(b) WHERE b.v <> a.v OR r.w = 3)", "((:P)-[:K]->(:P|Q))",
    "((a)<-[r:K]-(b) WHERE b.v IN [1, 2] AND r.w < 4)", "((a)-[r:K]->(b {v: x.v}))",
]  # fmt: skip


@pytest.mark.parametrize("pattern", REPEATED)
def test_what_is_asked_of_nodes_each_time(pattern: str) -> None:
    """However often it is repeated: over six edges there are no paths of more than six."""
    for seed in range(6):
        chance = Random(f"repeated {seed}")
        ids = {"P": [0, 1, 2], "Q": [10, 11]}
        every = [(label, number) for label, numbers in ids.items() for number in numbers]
        edges: dict[tuple[str, str, str], dict[str, list[int]]] = {}
        for _ in range(6):
            (one, source), (other, target) = chance.choice(every), chance.choice(every)
            columns = edges.setdefault((one, "K", other), {"source": [], "target": [], "w": []})
            for name, value in (("source", source), ("target", target), ("w", chance.randint(1, 4))):
                columns[name].append(value)
        vertices = {label: {"id": each, "v": [chance.randint(1, 3) for _ in each]} for label, each in ids.items()}
        asked = gquery.from_arrow(vertices=vertices, edges=edges)
        lists = [f"size({name})" for name in "ar" if f"({name}" in pattern or f"[{name}" in pattern]
        for answer in ("x.id, y.id", "DISTINCT y.id", ", ".join(["count(*)", *lists])):
            text = f"MATCH (x){pattern}{{}}(y) RETURN {answer}"
            assert ask(asked, text.replace("{}", "+")) == ask(asked, text.replace("{}", "{1,6}")), (seed, text)


def test_limits_stop_the_search() -> None:
    many = "MATCH ({id: 0})-[r:K*]->(b) RETURN b.id LIMIT 5"
    assert len(LADDER.query(many).rows()) == 5
    assert len(LADDER.query(many.replace("*", "*1..8")).rows()) == 5


def test_a_search_can_be_stopped() -> None:
    with pytest.raises(gquery.QueryTimeout):
        LADDER.query("MATCH ({id: 0})-[r:K*]->(b) RETURN count(r)", timeout=0.2).rows()


def test_a_small_budget_is_enough_for_many_paths() -> None:
    text = "MATCH ({id: 0})-[:K*13]->(b) RETURN b.id, count(*)"
    longer = "MATCH p = ({id: 0})-[:K*13..]->({id: 13}) RETURN length(p), count(*)"
    assert ask(LADDER, text) == [(13, 2**13)]
    rows = [tuple(row) for row in LADDER.query(longer, memory_limit="64MB").rows()]
    assert rows == [(13, 2**13)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [None, "40MB"])
def test_sweeps_from_many_vertices_on_several_threads(
    seed: int, limit: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows as on one thread, in tasks of few sources, with a memory limit and without."""
    random = Random(f"sweeps {seed}")
    drawn = graph([(random.randrange(300), random.randrange(300)) for _ in range(500)], 300)
    monkeypatch.setattr(sweep, "TASK", 3)
    for text in (
        "MATCH (a)-[:K*1..3]->(b) WITH DISTINCT a, b RETURN id(a), id(b)",
        "MATCH (a)-[:K*..4]-(b) WHERE a <> b WITH DISTINCT a, b RETURN id(a), id(b)",
        "MATCH (a)-[:K*0..]->(b {id: 7}) WITH DISTINCT a, b RETURN id(a), id(b)",
        "MATCH (a), (b) WHERE a.id % 50 = 0 AND EXISTS { (a)-[:K*]->(b) } RETURN id(a), id(b)",
    ):
        one, three = (drawn.with_settings(threads=threads, memory_limit=limit) for threads in (1, 3))
        assert ask(three, text) == ask(one, text), f"seed {seed}: {text}"


def test_a_sweep_on_several_threads_can_be_stopped() -> None:
    random = Random("stopped")
    large = graph([(random.randrange(20_000), random.randrange(20_000)) for _ in range(100_000)], 20_000)
    with pytest.raises(gquery.QueryTimeout):
        large.with_settings(threads=3).query(
            "MATCH (a)-[:K*]->(b) WITH DISTINCT a, b RETURN count(*)", timeout=0.3
        ).rows()


def test_shortest_walks_end_where_nothing_leads_to_the_end() -> None:
    """Walks round a cycle have no end, and one beside it is never met."""
    cycles = graph([(0, 1), (1, 0), (2, 3), (3, 2)])
    walks = "MATCH REPEATABLE ELEMENTS p = SHORTEST 2 (a)-[:K*2..]->(b) WHERE a.id = 0 RETURN b.id, length(p)"
    assert ask(cycles, walks) == [(0, 2), (0, 4), (1, 3), (1, 5)]
    known = "MATCH (a), (b) WHERE a.id = 0 " + walks.replace("WHERE a.id = 0 ", "")
    assert ask(cycles, known) == [(0, 2), (0, 4), (1, 3), (1, 5)]
    every = walks.replace("SHORTEST 2", "ALL SHORTEST").replace("->", "-")
    assert ask(graph([(0, 1), (0, 1), (1, 2)]), every) == [(0, 2)] * 4 + [(1, 3)] * 10 + [(2, 2)] * 2


def test_shortest_paths_of_several_relationships_are_made_of_shortest_ones() -> None:
    """There are 2^30 paths from end to end."""
    columns = {
        "source": [place for place in range(30) for _ in (1, 1)],
        "target": [1 + place for place in range(30) for _ in (1, 1)],
    }
    edges = {("P", "K", "P"): columns, ("P", "L", "P"): {"source": [30, 5], "target": [31, 31]}}
    asked = gquery.from_arrow(vertices={"P": {"id": list(range(32))}}, edges=edges)
    text = "MATCH p = ANY SHORTEST ({id: 0})-[:K*]->(b)-[:L]->(c) RETURN c.id, b.id, length(p)"
    assert ask(asked, text) == [(31, 5, 6)]


def test_shortest_walks_of_repeated_patterns_and_others_are_found() -> None:
    """There is no end of walks, and of shortest ones there is."""
    text = "MATCH REPEATABLE ELEMENTS p = ANY SHORTEST {} RETURN x.id, z.id, length(p)"
    rising = "(x)((a)-[:K]->(b) WHERE a.id < 2)+(y)-->(z)"
    assert ask(TRIANGLE, text.format(rising)) == [(0, 0, 3), (0, 2, 2), (0, 3, 3), (1, 0, 2), (1, 3, 2)]
    pairs = "(x)(()-[:K]->()-[:K]->()){1,2}(y)-[:K*]->(z)"
    assert ask(TRIANGLE, text.format(pairs)) == [
        (0, 0, 3), (0, 1, 4), (0, 2, 5), (0, 3, 3), (1, 0, 5), (1, 1, 3), (1, 2, 4), (1, 3, 5),
        (2, 0, 4), (2, 1, 5), (2, 2, 3), (2, 3, 4),
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["p = ", "p = SIMPLE ", "SIMPLE "])
def test_what_is_asked_between_two_searches_leaves_paths_their_parts(path: str) -> None:
    """The relationship before the first search is a part of a path that is put together after the second."""
    pattern = f"{path}(a {{id: 0}})-[r]->(b)-[s* WHERE s.weight > r.weight]->(c), (c)-[*]->(d)"
    asked = "[n IN nodes(p) | n.id]" if path.startswith("p") else "[0, 1, 2]"
    found = [([0, 1, 2], 0), ([0, 1, 2], 3)]
    assert ask(TRIANGLE, f"MATCH {pattern} RETURN {asked}, d.id") == found


@pytest.mark.parametrize("mode", ["", "REPEATABLE ELEMENTS", "DIFFERENT NODES"])
def test_the_shortest_are_chosen_whatever_other_patterns_share_with_them(mode: str) -> None:
    """From 0 to 3 by way of 1: what leads on from 2, by way of which it takes longer, is nothing to it."""
    asked = graph([(0, 1), (1, 3), (0, 2), (2, 4), (4, 3), (2, 5), (1, 6)])
    shortest = "ALL SHORTEST (a {id: 0})-->(b)-[*]->(c {id: 3})"
    for end, found in ((5, []), (6, [(1,)])):
        for way in ("(b)-->", "(b)-[*1..3]->", "ALL SHORTEST (b)-[*]->"):
            other = f"{way}({{id: {end}}})"
            for patterns in (f"{shortest}, {other}", f"{other}, {shortest}"):
                assert ask(asked, f"MATCH {mode} {patterns} RETURN b.id") == found
    other = "ALL SHORTEST (d {id: 0})-[*]->(b)-->(e {id: 5})"
    assert ask(asked, f"MATCH REPEATABLE ELEMENTS {shortest}, {other} RETURN b.id") == []
    assert ask(asked, f"MATCH (b {{id: 2}}) MATCH {mode} p = {shortest} RETURN length(p)") == [(3,)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MATCH WALK (a)-[*]->(b) RETURN 1", None),
        ("MATCH REPEATABLE ELEMENTS (a)-[*]->(b) RETURN 1", "there is no end of walks of any length"),
        ("MATCH INDUCED (a)-[*0..]->(b)-[*]->(c) RETURN 1", "gquery has no DIFFERENT NODES or INDUCED over several"),
        ("MATCH (a)-[r*]->(b)-[r*]->(c) RETURN 1", "relationship `r` stands twice in one MATCH"),
        ("MATCH (r)-[r*]->(b) RETURN 1", "`r` is a node already, it cannot be a list of relationships too"),
        ("WITH 1 AS r MATCH (a)-[r*]->(b) RETURN 1", "`r` is of type INTEGER already"),
        (
            "MATCH ()-[k]->() MATCH ANY SHORTEST ()-[r* WHERE r.weight > k.weight]->() RETURN 1",
            "no condition on relation",
        ),
        ("MATCH (a)((b)-[r]->(c)){1,2}() WHERE d.x = 1 RETURN 1", "in scope are `a`, `c`, `r`$"),
        ("MATCH (a) WHERE (a)-[*]->(b) RETURN a", "variable `b` is not defined, and a pattern used as"),
    ],
)
def test_errors(text: str, message: str | None) -> None:
    if message is None:
        TRIANGLE.query(text).rows()
        return
    with pytest.raises(gquery.GQueryError, match=message):
        TRIANGLE.query(text)


@pytest.mark.parametrize("most", ["", "..2", "1..3"])
@pytest.mark.parametrize("words", ["ANY SHORTEST", "ALL SHORTEST"])
def test_many_ends_of_one_vertex_are_looked_for_together(
    words: str, most: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pairs one by one; an end may come twice, be the beginning itself, or be out of reach."""
    chance = Random("ends")
    scattered = graph([(chance.randrange(40), chance.randrange(40)) for _ in range(110)], 45)
    ends = [*range(45), 3, 3, 7]
    text = f"""UNWIND $ends AS e MATCH (a {{id: 7}}), (b {{id: e}}) MATCH p = {words} (a)-[:K*{most}]->(b)
               RETURN e, length(p), count(*), count(DISTINCT p), min(nodes(p)[0].id), min(nodes(p)[length(p)].id)"""
    monkeypatch.setattr(leading, "SHARED", 1000)
    expected = ask(scattered, text, ends=ends)
    assert len(expected) > 4
    monkeypatch.setattr(leading, "SHARED", 2)
    assert ask(scattered, text, ends=ends) == expected


@pytest.mark.parametrize("length", ["*0..1", "*0..2", "*1..", "*0..9"])
def test_patterns_asked_for_beside_lengths_keep_the_mode(length: str) -> None:
    """The two relationships of the pattern may be one, where the clause says so."""
    mode = "REPEATABLE ELEMENTS TRAIL" if length.endswith("..") else "REPEATABLE ELEMENTS"
    star = graph([(0, 1), (0, 2)], 3)
    asked = f"MATCH {mode} (a)-[:K{length}]-(b) WHERE (b)<-[:K]-()-[:K]->({{id: 1}})"
    one = "EXISTS { MATCH REPEATABLE ELEMENTS (b)<-[:K]-()-[:K]->({id: 1}) }"
    other = f"MATCH {mode} (a)-[:K{length}]-(b) WITH a, b WHERE {one} RETURN a.id, b.id"
    assert (0, 1) in ask(star, f"{asked} RETURN a.id, b.id") == ask(star, other)


@pytest.mark.parametrize("mode", ["INDUCED", "DIFFERENT NODES", "DIFFERENT EDGES", "REPEATABLE ELEMENTS"])
def test_nodes_known_before_are_one_over_no_relationship(mode: str) -> None:
    """They are one query vertex then, and not two that have to differ."""
    inner = f"MATCH {mode} (a)<-[:K]-(b)-[*0..1]-(a)"
    assert ask(graph([(0, 0)]), f"MATCH (a), (b) WHERE EXISTS {{ {inner} }} RETURN a.id, b.id") == [(0, 0)]
    assert ask(graph([(0, 0)]), f"MATCH (a), (b) CALL (a, b) {{ {inner} RETURN 1 AS x }} RETURN a.id, b.id, x")[:1] == [
        (0, 0, 1)
    ]


@pytest.mark.parametrize("mode", ["", "REPEATABLE ELEMENTS"])
@pytest.mark.parametrize(
    ("inside", "where"),
    [("", "WHERE (x)-->(y)"), ("", "WHERE EXISTS { (y)--(z) WHERE z.id > 1 }"), ("WHERE EXISTS { (b)-->(c) }", "")],
)
def test_patterns_that_repeat_from_none_on_beside_patterns_asked_for(mode: str, inside: str, where: str) -> None:
    """What is asked of no time, of one and of two."""
    looped = graph([(0, 1), (1, 2), (2, 0), (0, 0)])
    text = "MATCH {} (x)((a)-->()--(b) {}){} (y) {} RETURN id(x), id(y), size(a)"
    parts = [ask(looped, text.format(mode, inside, length, where)) for length in ("{0}", "{1}", "{2}")]
    assert parts[0]
    assert parts[1]
    assert ask(looped, text.format(mode, inside, "{0,2}", where)) == sorted(row for part in parts for row in part)


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ("(x)-[r:K{0}]->(y WHERE size(r) > 1)", "(x)-[r:K{0}]->(y) WHERE size(r) > 1"),
        ("(x)((a)-[r:K]->(b)){0}(y WHERE a[0].id < y.id)", "(x)((a)-[r:K]->(b)){0}(y) WHERE a[0].id < y.id"),
        (
            "(x)((a)-[r:K]->(b)){0}(y)((c)-[s:K]->(d) WHERE size(r) = 1){0}",
            "(x)((a)-[r:K]->(b)){0}(y)((c)-[s:K]->(d)){0} WHERE size(r) = 1",
        ),
        ("(x)-[r:K{0}]->(y)-[{{weight: size(r)}}]->()", "(x)-[r:K{0}]->(y)-[s]->() WHERE s.weight = size(r)"),
        ("(x)-[r:K{0}]->(y)-[s WHERE s.weight > size(r)]->()", "(x)-[r:K{0}]->(y)-[s]->() WHERE s.weight > size(r)"),
        ("(x)-[r:K{0}]->(y {{id: x.id + 1}})", "(x)-[r:K{0}]->(y) WHERE y.id = x.id + 1"),
        ("(x {{id: y.id - 1}})-[r:K{0}]->(y)", "(x)-[r:K{0}]->(y) WHERE y.id = x.id + 1"),
        ("(z {{id: y.id}})-->(), (x)-[r:K{0}]->(y)", "(z)-->(), (x)-[r:K{0}]->(y) WHERE z.id = y.id"),
        ("()-[s {{weight: y.id}}]->(), (x)-[r:K{0}]->(y)", "()-[s]->(), (x)-[r:K{0}]->(y) WHERE s.weight = y.id"),
        ("()-[s WHERE s.weight < y.id]->(), (x)-[r:K{0}]->(y)", "()-[s]->(), (x)-[r:K{0}]->(y) WHERE s.weight < y.id"),
        ("ALL SHORTEST (x)-[r:K{0}]->(y {{id: x.id + 1}})", "ALL SHORTEST (x)-[r:K{0}]->(y) WHERE y.id = x.id + 1"),
        ("(x)((a)-[{{weight: a.id + 1}}]->()){0}(y)", "(x)((a)-[r]->() WHERE r.weight = a.id + 1){0}(y)"),
        ("(x)((a)<-[r {{weight: 2}}]-(b:P)){0}(y)", "(x)((a)<-[r]-(b) WHERE r.weight = 2){0}(y)"),
    ],
)
def test_brackets_may_speak_of_what_else_the_clause_has(inside: str, outside: str) -> None:
    for length in ("*1..2", "*") if "-[r:K{0}]->" in inside else ("{1,2}", "+"):
        told = [ask(TRIANGLE, f"MATCH {each.format(length)} RETURN id(x), id(y)") for each in (inside, outside)]
        assert told[0] == told[1] != []


@pytest.mark.parametrize("words", ["ALL SHORTEST", "ANY SHORTEST", "SHORTEST 5"])
def test_the_shortest_of_a_repeated_pattern(words: str) -> None:
    """Of several relationships, or of one without a direction whose nodes are asked."""
    for inside in ("(a)-[:K]->()-[:K]-(b)", "(a)-[:K]-(b WHERE a.id <> b.id)"):
        found = {}
        for begin, end, length in sorted(
            ask(TRIANGLE, f"MATCH p = (x)({inside}){{1,3}}(y) RETURN id(x), id(y), length(p)")
        ):
            found.setdefault((begin, end), []).append(length)
        kept = {"ALL": lambda all_: [each for each in all_ if each == all_[0]], "ANY": lambda all_: all_[:1]}
        keep = kept.get(words.split()[0], lambda all_: all_[:5])
        expected = sorted((*pair, length) for pair, all_ in found.items() for length in keep(all_))
        text = f"MATCH p = {words} (x)({inside}){{1,3}}(y) RETURN id(x), id(y), length(p)"
        assert ask(TRIANGLE, text) == expected != []


@pytest.mark.parametrize("mode", ["", "DIFFERENT NODES", "INDUCED", "REPEATABLE ELEMENTS"])
def test_repeated_patterns_beside_relationships_of_any_length(mode: str) -> None:
    """What cannot be searched for is written out beside what is."""
    line = graph([(0, 1), (1, 2), (2, 3), (3, 4), (3, 5), (5, 5)])
    text = "MATCH {} p = TRAIL (x)((a)-[:K]-(b)-[:K]->()){{1,2}}(y)-[r:K]->{}(z) RETURN nodes(p), size(a), size(r)"
    found, expected = (sorted(map(repr, line.query(text.format(mode, each)).rows())) for each in ("+", "{1,4}"))
    assert found == expected != []


def test_counts_of_written_out_patterns_within_others() -> None:
    """There are too many relationships for all to be written out at once."""
    text = "MATCH ((a)-[:K]->()-[:K]->(b)){2,3}()((c)-[:K]->()-[:K]->(d)){1,2}(), ()((e)-[:K]->()){2,3}() "
    assert ask(TRIANGLE, f"{text} RETURN count(*)") == [(len(ask(TRIANGLE, f"{text} RETURN a")),)]


def test_what_a_length_has_taken_is_given_back_before_the_next() -> None:
    """Each of the 18 takes a part of what is left, and all of it together would be more than the limit."""
    text = "MATCH INDUCED SIMPLE (a)-[*1..3]->(b)<-[*1..3]-(c)-[*1..2]->(d) RETURN a.id, d.id"
    limited = sorted(tuple(row) for row in TRIANGLE.query(text, memory_limit="64MB").rows())
    assert limited == ask(TRIANGLE, text)


@pytest.mark.parametrize("where", ["", " WHERE EXISTS { (z) }", " WHERE false OR EXISTS { (z)-->() }"])
def test_a_clause_without_names_is_told_apart_too(where: str) -> None:
    """What it asks of all its nodes is behind a WITH of nothing."""
    named, unnamed = "(x)-[:K*]->(y)", "()-[:K*]->()"
    texts = [f"MATCH INDUCED ALL SHORTEST {pattern}{where} RETURN count(*)" for pattern in (named, unnamed)]
    assert ask(TRIANGLE, texts[0]) == ask(TRIANGLE, texts[1]) != [(0,)]


@pytest.mark.parametrize("words", ["ANY SHORTEST", "ALL SHORTEST", "SHORTEST 2", "SHORTEST 2 TRAIL"])
def test_a_node_alone_is_the_only_path_of_itself(words: str) -> None:
    looped = graph([(0, 0), (0, 1)], 3)
    for mode, found in (("", [0, 1, 2]), ("INDUCED", [1, 2]), ("DIFFERENT NODES", [0, 1, 2])):
        assert ask(looped, f"MATCH {mode} p = {words} (a) RETURN id(a), length(p)") == [(each, 0) for each in found]
    assert ask(looped, f"MATCH INDUCED {words} (a), (b)-[*0..1]->(c) RETURN id(a), id(b)") == [(1, 2), (2, 1)]


@pytest.mark.parametrize(
    "condition",
    [
        "EXISTS { (x) WHERE x.id > r.weight - 1 }",
        "COUNT { (x) WHERE x.id < r.weight } > 2",
        "r.weight < 2 OR (b)-[:K]->()",
        "EXISTS { (a)-[s:K]->() WHERE s.weight < 2 }",
    ],
)
def test_conditions_on_relationships_of_any_length_may_have_subqueries(condition: str) -> None:
    """There are no more than four of them in a path."""
    text = f"MATCH (a)-[r:K* WHERE {condition}]->(b) RETURN a.id, b.id, size(r)"
    assert ask(TRIANGLE, text) == ask(TRIANGLE, text.replace("*", "*1..4")) != []


def test_conditions_on_relationships_of_shortest_paths_have_none() -> None:
    for condition in ("EXISTS { (x) WHERE x.id > r.weight }", "(a)-->()", "COUNT { (x) } > r.weight"):
        with pytest.raises(gquery.UnsupportedError, match="on relationships of shortest paths"):
            TRIANGLE.query(f"MATCH ANY SHORTEST (a)-[r:K WHERE {condition}]->+(b) RETURN b.id")


def test_paths_know_their_directions_where_ids_are_alike() -> None:
    graph = gquery.from_arrow(
        {"P": {"id": [1, 2]}, "M": {"id": [1, 2]}}, {("P", "R", "M"): {"source": [1, 1], "target": [1, 2]}}
    )
    pattern = "MATCH p = (m:M {id: 1})<-[:R]-(a)-[:R]->(n {id: 2})"
    ((path,),) = graph.query(f"{pattern} RETURN p").rows()
    assert repr(path) == "<(:M {id: 1})<-[:R]-(:P {id: 1})-[:R]->(:M {id: 2})>"
    ((paths,),) = graph.query("MATCH p = (m:M)-[:R*0..2]-(n:M) RETURN collect(p)").rows()
    assert sorted(each.forward for each in paths) == [(), (), (False, True), (False, True)]
    (begin, known), _ = graph.query(
        "MATCH (a:P) OPTIONAL MATCH p = (a)-[:R]->({id: 1}) RETURN a.id, p ORDER BY a.id"
    ).rows()
    assert (begin, known.forward) == (1, (True,))
