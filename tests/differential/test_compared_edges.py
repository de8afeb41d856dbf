"""Edges that are compared with others, matched as vertices, beside all choices of edges tried one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, product
from random import Random
from typing import Any, NamedTuple

import pytest

import gquery

PAYS = "gquery.planner.passes.rewriting.compared_edges._pays"
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    "=": lambda one, other: one == other,
    "<>": lambda one, other: one != other,
}


class Edge(NamedTuple):
    number: int
    type: str
    source: int
    target: int
    w: int | None


class Link(NamedTuple):
    """A query edge; no types stand for all."""

    name: str
    source: str
    target: str
    types: tuple[str, ...]

    @property
    def written(self) -> str:
        return f"({self.source})-[{self.name}{':' if self.types else ''}{'|'.join(self.types)}]->({self.target})"


class Condition(NamedTuple):
    """`left.w operator right.w + more` of two query edges, or `left.w operator right.x` of an edge and a vertex."""

    left: str
    operator: str
    right: str
    more: int

    @property
    def written(self) -> str:
        if not self.right.startswith("k"):
            return f"{self.left}.w {self.operator} {self.right}.x"
        return f"{self.left}.w {self.operator} {self.right}.w{f' + {self.more}' if self.more else ''}"


class Query(NamedTuple):
    mode: str
    links: list[Link]
    conditions: list[Condition]
    least: dict[str, int]  # values that edges must exceed

    @property
    def written(self) -> str:
        asked = [each.written for each in self.conditions] + [f"{k}.w > {least}" for k, least in self.least.items()]
        return f"MATCH {self.mode} {', '.join(each.written for each in self.links)} WHERE {' AND '.join(asked)}"

    @property
    def vertices(self) -> list[str]:
        return sorted({end for each in self.links for end in (each.source, each.target)})


class Data(NamedTuple):
    values: list[int | None]
    edges: list[Edge]

    @property
    def graph(self) -> gquery.Graph:
        tables = {}
        for name in "KLM":
            own = [each for each in self.edges if each.type == name]
            tables["P", name, "P"] = {
                "source": [each.source for each in own],
                "target": [each.target for each in own],
                "number": [each.number for each in own],
                "w": [each.w for each in own],
            }
        return gquery.from_arrow({"P": {"id": list(range(len(self.values))), "x": self.values}}, tables)

    def matches(self, query: Query) -> Iterator[dict[str, Any]]:
        """What each variable is matched to, by trying all."""
        fitting = [[each for each in self.edges if not link.types or each.type in link.types] for link in query.links]
        for chosen in product(*fitting):
            match: dict[str, Any] = {}
            for link, edge in zip(query.links, chosen, strict=True):
                match[link.name] = edge
                ends = ((link.source, edge.source), (link.target, edge.target))
                if any(match.setdefault(name, vertex) != vertex for name, vertex in ends):
                    break
            else:
                if self._is_allowed(match, query):
                    yield match

    def _is_allowed(self, match: dict[str, Any], query: Query) -> bool:
        edges, vertices = [match[link.name] for link in query.links], [match[name] for name in query.vertices]
        if query.mode == "DIFFERENT EDGES" and len(set(edges)) < len(edges):
            return False
        if query.mode == "DIFFERENT NODES" and len(set(vertices)) < len(vertices):
            return False
        least = all(match[k].w is not None and match[k].w > least for k, least in query.least.items())
        return least and all(self._holds(each, match) for each in query.conditions)

    def _holds(self, condition: Condition, match: dict[str, Any]) -> bool:
        left, right = match[condition.left].w, match[condition.right]
        right = right.w if isinstance(right, Edge) else self.values[right]
        if left is None or right is None:
            return False
        return COMPARED[condition.operator](left, right + condition.more)


def random_data(random: Random) -> Data:
    """With loops, parallel edges and nulls."""
    values = [random.choice([None, 1, 2, 3]) for _ in range(random.randint(1, 6))]
    vertices = range(len(values))
    edges = []
    for number in range(random.randint(0, 11)):
        ends, w = random.choices(vertices, k=2), random.choice([None, 1, 2, 3, 4])
        edges.append(Edge(number, random.choice("KKLM"), *ends, w))
    return Data(values, edges)


def random_query(random: Random) -> Query:
    names, links = ["a"], []
    for number in range(random.randint(2, 3)):
        new, other = "bcdefg"[len(names) - 1 :][:2]
        ends = (random.choice(names), new if random.random() < 0.75 else random.choice(names))
        ends = (new, other) if number and random.random() < 0.15 else ends
        names += [each for each in ends if each not in names]
        ends = ends[::-1] if random.random() < 0.3 else ends
        types = random.choice([(), ("K",), ("K",), ("K", "L"), ("L", "M")])
        links.append(Link(f"k{number}", *ends, types))
    edges = [each.name for each in links]
    conditions = []
    for _ in range(random.randint(1, 4)):
        left, right = random.sample(edges, 2)
        is_vertex = random.random() < 0.2
        right, more = (random.choice(names), 0) if is_vertex else (right, random.choice([0, 0, 0, 1, 2]))
        conditions.append(Condition(left, random.choice(["<", "<", "<=", ">", "=", "<>"]), right, more))
    least = {random.choice(edges): random.randint(1, 3)} if random.random() < 0.3 else {}
    mode = random.choice(["DIFFERENT EDGES", "DIFFERENT EDGES", "REPEATABLE ELEMENTS", "DIFFERENT NODES"])
    return Query(mode, links, conditions, least)


@pytest.mark.parametrize("seed", range(40))
def test_random_comparisons(seed: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PAYS, lambda *_: True)
    random = Random(seed)
    data = random_data(random)
    graph = data.graph
    for _ in range(6):
        query = random_query(random)
        found = list(data.matches(query))
        told = f"{seed}: {query.written}\n{data}"
        assert graph.query(f"{query.written} RETURN count(*)").scalar() == len(found), told
        vertex, edge = random.choice(query.vertices), random.choice(query.links).name
        grouped = graph.query(f"{query.written} RETURN {vertex}.id, count(*)").rows()
        assert Counter(dict(map(tuple, grouped))) == Counter(match[vertex] for match in found), told
        listed = graph.query(f"{query.written} RETURN {edge}.number, {vertex}.id, {edge}.w").rows()
        expected = Counter((match[edge].number, match[vertex], match[edge].w) for match in found)
        assert Counter(map(tuple, listed)) == expected, told
        distinct = graph.query(f"{query.written} RETURN count(DISTINCT {edge})").scalar()
        assert distinct == len({match[edge] for match in found}), told


def payments(vertices: int = 60, edges: int = 1200, seed: int = 5) -> gquery.Graph:
    random = Random(seed)
    table = {
        "source": [random.randrange(vertices) for _ in range(edges)],
        "target": [random.randrange(vertices) for _ in range(edges)],
        "time": list(range(edges)),
        "amount": [random.choice([None, 5, 50, 500]) for _ in range(edges)],
    }
    accounts = {"id": list(range(vertices)), "limit": [random.choice([10, 100]) for _ in range(vertices)]}
    return gquery.from_arrow({"Account": accounts}, {("Account", "PAID", "Account"): table})


CHAIN = "MATCH (a:Account)-[p:PAID]->(b:Account)-[q:PAID]->(c:Account) WHERE p.time < q.time"


def test_the_plan_says_that_edges_are_matched() -> None:
    plan = payments().explain(f"{CHAIN} RETURN count(*)")
    assert "(a)-[p:PAID]->(b): its data edges" in plan
    assert "value at (a)-[p:PAID]->(b) < value at (b)-[q:PAID]->(c)" in plan
    assert "(a:Account)" not in plan  # of which nobody asks anything
    assert "Tell data edges apart" not in plan  # since one is earlier


def test_what_comparisons_say_together_is_asked_sooner() -> None:
    """Nothing is later than the last, and that is soon."""
    body = "MATCH (a)-[p:PAID]->(b)-[q:PAID]->(c)-[r:PAID]->(d) WHERE p.time < q.time < r.time AND r.time < p.time + 40"
    graph = payments()
    plan = graph.explain(f"{body} RETURN count(*)")
    assert "value at (b)-[q:PAID]->(c) < value at (a)-[p:PAID]->(b)" in plan
    texts = (f"{body} RETURN count(*)", f"{body} RETURN p.time, q.time, r.time")
    assert graph.query(texts[0]).scalar() == graph.query(texts[1]).to_arrow().num_rows > 0


def test_equal_edges_meet_at_their_value() -> None:
    """Where nothing else joins them all pairs would be looked at."""
    graph = payments(2000, 50_000)
    body = "MATCH (a)-[p:PAID]->(b), (c)-[q:PAID]->(d) WHERE p.time = q.time + 1"
    assert "(a value): of p.time and q.time + 1" in graph.explain(f"{body} RETURN count(*)")
    assert graph.query(f"{body} RETURN count(*)").scalar() == 49_999


def test_ends_that_are_asked_for_stay() -> None:
    plan = payments().explain(f"{CHAIN} AND a.limit > 50 RETURN count(*)")
    assert "(a:Account): a.limit > 50" in plan
    assert "(c:Account)" not in plan


def test_neighbours_decide_in_triangles() -> None:
    """Few vertices are joined by all edges: these are looked for then."""
    body = "MATCH (a)-[p:PAID]->(b)-[q:PAID]->(c)-[r:PAID]->(a) WHERE p.time < q.time AND q.time < r.time"
    assert "its data edges" not in payments(3000, 9000).explain(f"{body} RETURN count(*)")


def test_few_matches_are_enough() -> None:
    assert "its data edges" not in payments().explain(f"{CHAIN} RETURN p.time LIMIT 3")
    assert payments().query(f"{CHAIN} RETURN p.time, q.time LIMIT 3").to_arrow().num_rows == 3


def test_without_room_for_the_ends_edges_are_compared_afterwards() -> None:
    graph = payments()
    limited = graph.with_settings(memory_limit="64 MiB")
    assert "its data edges" not in limited.explain(f"{CHAIN} RETURN count(*)")
    text = f"{CHAIN} RETURN count(*), sum(p.amount)"
    assert list(limited.query(text).rows()) == list(graph.query(text).rows())


TEXTS = [
    f"{CHAIN} RETURN count(*) AS n",
    f"{CHAIN} AND q.time < p.time + 40 RETURN p.time AS p, q.time AS q, a.id AS a ORDER BY p, q",
    f"{CHAIN} RETURN b.id AS b, count(*) AS n, max(p.amount) AS m ORDER BY b",
    f"{CHAIN} RETURN p.time AS p, count(*) AS n ORDER BY n DESC, p LIMIT 5",
    f"{CHAIN} AND p.amount > b.limit RETURN DISTINCT a.id AS a, p.amount AS m ORDER BY a, m",
    f"{CHAIN} AND p.amount > 10 AND q.amount < 100 RETURN count(*) AS n",
    f"{CHAIN} WITH p, count(*) AS n WHERE n > 10 MATCH (x)-[p]->(y) RETURN x.id AS x, y.id AS y, n ORDER BY x, y, n",
    f"{CHAIN} OPTIONAL MATCH (c)-[r:PAID]->(a) WHERE r.time > 1150 RETURN count(*) AS n, count(r) AS m",
    f"{CHAIN} AND NOT (c)-[:PAID]->(a) RETURN count(*) AS n",
    "MATCH w = (a)-[p:PAID]->(b)-[q:PAID]->(c) WHERE q.time = p.time + 1 RETURN w ORDER BY p.time",
    f"{CHAIN} AND a.id = 3 MATCH (c)-[r:PAID]->(a) WHERE q.time < r.time RETURN count(*) AS n",
    "MATCH (a)-[p:PAID]->(b)<-[q:PAID]-(c) WHERE p.amount = q.amount RETURN count(*) AS n",
    "MATCH (a)-[p:PAID]->(b), (c)-[q:PAID]->(d) WHERE p.amount = q.amount AND p.time < q.time RETURN count(*) AS n",
    "MATCH (a)-[p:PAID]->(b), (c)-[q:PAID]->(d) WHERE p.time = q.time + 1 RETURN a.id, d.id, q.time ORDER BY q.time",
    "MATCH (a)-[p:PAID]->(b) MATCH (b)-[q:PAID]->(c) WHERE p.amount <= q.amount RETURN count(*) AS n",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_as_where_edges_are_compared_afterwards(text: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = payments(40, 300)
    monkeypatch.setattr(PAYS, lambda *_: True)
    found = [tuple(map(str, row)) for row in graph.query(text).rows()]
    monkeypatch.setattr(PAYS, lambda *_: False)
    assert found == [tuple(map(str, row)) for row in graph.query(f"{text} ").rows()]
    assert found


def test_edges_that_are_gone_are_not_matched(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PAYS, lambda *_: True)
    store = gquery.Store(payments(20, 100))
    text = f"{CHAIN} RETURN p.time, q.time"
    store.graph.query(text).to_arrow()  # whose ends are kept
    store.execute("MATCH (a)-[p:PAID]->(b) WHERE p.time % 3 = 0 DELETE p")
    store.execute("MATCH (a {id: 1}), (b {id: 2}) CREATE (a)-[:PAID {time: 1000}]->(b)")
    graph = store.graph
    rows = list(graph.query("MATCH (a)-[p:PAID]->(b) RETURN a.id, b.id, p.time").rows())
    expected = Counter(
        (early[2], late[2]) for one, other in combinations(rows, 2) for early, late in ((one, other), (other, one))
        if early[1] == late[0] and early[2] < late[2]
    )  # fmt: skip
    assert Counter(map(tuple, graph.query(text).rows())) == expected
    assert expected


def test_functional_edges_beside_them_are_composed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vertices of edges get other numbers then."""
    monkeypatch.setattr(PAYS, lambda *_: True)
    tables = {
        ("P", "IN", "C"): {"source": [0, 1, 2], "target": [0, 0, 1]},
        ("C", "OF", "L"): {"source": [0, 1], "target": [0, 0]},
        ("P", "K", "P"): {"source": [0, 1, 0, 2], "target": [1, 2, 2, 0], "w": [1, 2, 3, 4]},
    }
    vertices = {name: {"id": list(range(count))} for name, count in (("P", 3), ("C", 2), ("L", 1))}
    graph = gquery.from_arrow(vertices, tables)
    body = "MATCH (a:P)-[:IN]->(:C)-[:OF]->(l:L)<-[:OF]-(:C)<-[:IN]-(c:P), (a)-[p:K]->(b:P)-[q:K]->(c) WHERE p.w < q.w"
    assert graph.query(f"{body} RETURN count(*)").scalar() == 1
    body = body.replace("MATCH", "MATCH REPEATABLE ELEMENTS")
    assert graph.query(f"{body} RETURN count(*)").scalar() == 3


def test_a_self_loop_that_is_asked_for_is_no_number_of_its_vertex(device: str) -> None:
    """Two self-loops of a vertex that others lead to are two rows, whatever else is only counted."""
    tables = {("P", "K", "P"): {"source": [0, 0, 1, 2], "target": [0, 0, 0, 0], "w": [1, 2, 3, 4]}}
    graph = gquery.from_arrow({"P": {"id": [0, 1, 2], "x": [5, 1, 2]}}, tables)
    body = "MATCH DIFFERENT NODES (a)-[:K]->(b), (b)-[k:K]->(b)"
    assert sorted(map(tuple, graph.query(f"{body} WHERE a.x < b.x RETURN k.w, count(*)").rows())) == [(1, 2), (2, 2)]
    assert list(graph.query(f"{body} WHERE a.x < b.x AND k.w + b.x > 6 RETURN b.id, count(*)").rows()) == [(0, 2)]


def test_graphs_with_fewer_vertices_than_edges_have_room_for_these(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PAYS, lambda *_: True)
    graph = payments(3, 1000)
    text = "MATCH (a)-[p:PAID]->(b)-[q:PAID]->(c) WHERE p.amount < q.amount RETURN p.time AS p, count(*) AS n"
    rows = dict(map(tuple, graph.query(text).rows()))
    monkeypatch.setattr(PAYS, lambda *_: False)
    assert rows == dict(map(tuple, graph.query(f"{text} ").rows()))
