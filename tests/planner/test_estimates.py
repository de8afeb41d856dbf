"""Estimates where few vertices have most of the neighbours."""

from __future__ import annotations

import re

import numpy as np

import gquery
from gquery.planner.ir.match_plan import Counted
from gquery.planner.search.cardinality import estimate
from gquery.session import Prepared

PEOPLE, RARE, KNOWN = 2_000, 20, 1_000


def test_who_is_known_is_known_by_more_than_the_mean() -> None:
    """A twentieth of the vertices has most edges: by means there would be a tenth of the paths that there are."""
    random = np.random.default_rng(5)
    source = np.concatenate([np.repeat(np.arange(20), 150), np.repeat(np.arange(20, 400), 3)])
    pairs = np.unique(np.column_stack([source, random.integers(0, 400, len(source))]), axis=0)
    graph = gquery.from_arrow(
        vertices={"Person": {"id": np.arange(400)}},
        edges={("Person", "KNOWS", "Person"): {"source": pairs[:, 0], "target": pairs[:, 1]}},
    )
    plan = graph.explain("MATCH (a)<-[:KNOWS]-(b)-[:KNOWS]->(c) RETURN id(a), id(b), id(c)")
    estimated = float(re.findall(r"estimated ([\d,]+)", plan)[-1].replace(",", ""))
    paths = (np.bincount(pairs[:, 0]) ** 2).sum() / 2  # each match stands for two
    assert paths / 1.5 < estimated < paths * 1.5


def payments(accounts: int, number: int) -> gquery.Graph:
    """Who is paid often pays often: few accounts have most payments of either side, some of them repeated."""
    random = np.random.default_rng(5)
    shares = 1 / np.arange(1, accounts + 1) ** 0.8
    ends = random.choice(accounts, (number, 2), p=shares / shares.sum())
    ends = np.concatenate([ends, ends[: number // 3]])
    return gquery.from_arrow(
        vertices={"Account": {"id": np.arange(accounts)}},
        edges={("Account", "PAID", "Account"): {"source": ends[:, 0], "target": ends[:, 1]}},
    )


def test_who_is_paid_often_pays_often() -> None:
    graph = payments(2_000, 10_000)
    text = "MATCH REPEATABLE ELEMENTS (a)-[:PAID]->(b)-[:PAID]->(c) RETURN"
    found = graph.query(f"{text} count(*)").scalar()
    estimates = re.findall(r"estimated ([\d,]+)", graph.explain(f"{text} id(a), id(b), id(c)"))
    estimated = max(float(each.replace(",", "")) for each in estimates)
    assert found / 1.5 < estimated < found * 1.5


def test_a_candidate_graph_that_leaves_almost_everything_is_not_built() -> None:
    """It would make nothing cheaper, and sums cannot be pushed along it."""
    graph = payments(20_000, 100_000)
    text = "MATCH (a)-[:PAID]->(b)-[:PAID]->(d)<-[:PAID]-(c)<-[:PAID]-(a) RETURN count(*)"
    lines = [row[0] for row in graph.query(f"PROFILE {text}")]
    assert any(line.startswith("Walk the raw adjacency") for line in lines)
    assert any("pushed" in line for line in lines)


def test_who_knows_somebody_rare_knows_many_of_all() -> None:
    """A filter along one edge leaves those who have most neighbours: they have most edges of other kinds, too, and
    long rows. By the share of the vertices alone there would be a quarter of the edges that there are."""
    random = np.random.default_rng(7)
    degrees = (600 / (1 + np.arange(PEOPLE)) ** 0.8).astype(int)
    pairs = np.column_stack([np.repeat(np.arange(PEOPLE), degrees), random.integers(0, KNOWN, degrees.sum())])
    pairs = np.unique(pairs, axis=0)
    rare, common = pairs[pairs[:, 1] < RARE], pairs[pairs[:, 1] >= RARE]
    ids = {"Person": range(PEOPLE), "Rare": range(RARE), "Common": range(RARE, KNOWN)}
    graph = gquery.from_arrow(
        vertices={label: {"id": np.array(each)} for label, each in ids.items()},
        edges={
            ("Person", "KNOWS", label): {"source": found[:, 0], "target": found[:, 1]}
            for label, found in (("Rare", rare), ("Common", common))
        },
    )
    text = "MATCH (r:Rare)<-[:KNOWS]-(p:Person)-[:KNOWS]->(c:Common) RETURN count(*)"
    (plan,) = Prepared(graph.snapshot, text, {}, graph.settings).plan.matches
    to_rare, to_common = plan.graph.edges
    left = np.unique(rare[:, 0])
    share = len(left) / PEOPLE
    sizes = (RARE, len(left), KNOWN - RARE)  # of r, p and c
    counted = Counted(sizes, {}, {(to_common.source, to_rare.index): share})
    known = estimate(plan.graph, graph.snapshot.statistics, counted)
    edges = np.isin(common[:, 0], left).sum()
    assert edges > 4 * share * len(common)
    assert edges / 2 < known.edges[to_common.index] < edges * 2
    assert edges / len(left) / 2 < known.degrees[to_common.index][0] < edges / len(left) * 2
