"""Random queries over random graphs of mixed types, held against the evaluator. The long version is `make soak`.

The seeds are fixed: chunk c has the graphs c * GRAPHS and on. GQUERY_SLOW=1 takes ten times as many.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from gquery.executor.paths import hops, leading, listing, sides, sweep
from gquery.planner.binding.lengths import alternatives
from gquery.storage import indexes
from tests.evaluator.answers import Answer
from tests.soak.__main__ import REFUSED
from tests.soak.check import Make
from tests.soak.compare import agrees
from tests.soak.queries import (
    calling_chain,
    counting_chain,
    looking_up,
    random_chain,
    random_lengths,
    random_query,
)
from tests.soak.run import reproduction, soaked
from tests.soak.tree import Aggregate, Projection, Property, Query, Variable

CHUNKS = 6
MORE = 10 if os.environ.get("GQUERY_SLOW") else 1
GRAPHS = 10 * MORE  # a chunk, of eight queries each
CHAINED = 5 * MORE
COUNTED = 3 * MORE
LOOKED_UP = 4 * MORE
LONG = 2 * MORE
CALLED = 2 * MORE


def test_a_list_that_was_collected_has_no_order_in_another() -> None:
    once = Projection(((Property(Variable("a"), "p"), "p"), (Aggregate("collect", Variable("a")), "x")))
    twice = Query((once, Projection(((Aggregate("collect", Variable("x")), "x"),))))
    expected = Answer(((([[1, 2], [3]],),),), 0, 1)
    assert agrees(twice, expected, [([[3], [2, 1]],)])
    assert not agrees(twice, expected, [([[3, 2], [1]],)])
    assert not agrees(Query(twice.clauses[1:]), expected, [([[3], [2, 1]],)])


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_gquery_agrees_with_the_evaluator(chunk: int) -> None:
    _soak(random_query, range(chunk * GRAPHS, (chunk + 1) * GRAPHS))


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_chains_of_clauses_agree_with_the_evaluator(chunk: int, device: str) -> None:
    """MATCH, OPTIONAL MATCH and WITH in any order and number."""
    _soak(random_chain, range(chunk * CHAINED, (chunk + 1) * CHAINED), device)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_what_need_not_be_listed_is_multiplied(chunk: int, device: str) -> None:
    """Chains whose rows are counted, with patterns that share nothing with the rows before."""
    _soak(counting_chain, range(chunk * COUNTED, (chunk + 1) * COUNTED), device)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_values_of_rows_are_looked_up(chunk: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By scanning, and in indexes, which these graphs are too small for."""
    for name in ("FEWEST", "ENOUGH", "_PROBE") if chunk % 2 else ():
        monkeypatch.setattr(indexes, name, 0)
    _soak(looking_up, range(chunk * LOOKED_UP, (chunk + 1) * LOOKED_UP), device)


@pytest.mark.parametrize("pieces", ["large", "small"])
@pytest.mark.parametrize("way", ["alternatives", "searches"])
@pytest.mark.parametrize("chunk", range(2))
def test_relationships_of_variable_length(way: str, pieces: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In both ways that they are answered, and in pieces so small that they are often cut."""
    if way == "searches":
        monkeypatch.setattr(alternatives, "MOST_ALTERNATIVES", 0)
    if pieces == "small":
        for module, name in ((hops, "AT_ONCE"), (listing, "PIECE"), (listing, "FEWEST"), (sides, "PIECE")):
            monkeypatch.setattr(module, name, 2)
        monkeypatch.setattr(sweep, "ROOM", 20)
        monkeypatch.setattr(leading, "SHARED", 2)
    begin = 4 * chunk + 2 * (pieces == "small") + (way == "searches")
    _soak(random_lengths, range(begin * LONG, (begin + 1) * LONG), refused=0.4)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_subqueries_agree_with_the_evaluator(chunk: int, device: str) -> None:
    """CALL and UNION among the clauses of a chain."""
    _soak(calling_chain, range(chunk * CALLED, (chunk + 1) * CALLED), device)


def _soak(make: Make, seeds: range, device: str = "auto", refused: float = REFUSED) -> None:
    kinds: Counter[str] = Counter()
    for seed in seeds:
        for outcome in soaked(seed, make, device):
            kinds[outcome.verdict.kind] += 1
            assert not outcome.verdict.bad, reproduction(outcome)
    print(f"{make.__name__}, graphs {seeds}: {dict(kinds)}")
    assert kinds["refused"] <= refused * kinds.total(), kinds
    assert kinds["same"] >= (0.85 - refused) * kinds.total(), kinds
