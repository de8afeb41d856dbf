"""Changes that are large beside the graph: all matches are counted, before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gquery
from gquery.continuous import standing
from gquery.continuous.numbers import totals
from gquery.continuous.numbers.totals import Totals
from gquery.continuous.standing import Standing
from gquery.errors import MemoryLimitError, QueryTimeout
from gquery.settings import Settings
from tests.continuous.batches import random_batch, random_edges, random_graph, random_steps
from tests.continuous.queries import FALLING_APART, JOINED, MODES, NUMBER
from tests.continuous.rerun import Rerun

pytestmark = pytest.mark.filterwarnings("ignore::gquery.QueryWarning")


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every change is large, and terms are thought to take long."""
    monkeypatch.setattr(standing, "_FEW", 0)
    monkeypatch.setattr(totals, "_SHARE", 0.0)
    monkeypatch.setattr(totals, "_TERM", 60.0)


def _without_totals(text: str, settings: Settings) -> Standing:
    found = Standing(text, {}, settings, "counts")
    found._thought = lambda *_: None  # type: ignore[method-assign]
    return found


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("mode", MODES[:3])
@pytest.mark.parametrize("seed", range(8))
def test_what_comes_and_goes_is_what_terms_find(seed: int, mode: Any, device: Any) -> None:
    random = np.random.default_rng([seed, 7, MODES.index(mode)])
    settings = Settings(mode=mode, device=device, strict=False)
    snapshot = random_graph(random).snapshot
    patterns = random.choice([*JOINED, *FALLING_APART], 3, replace=False).tolist()
    chosen = [f"MATCH {pattern} {NUMBER}" for pattern in patterns]
    watched = [Rerun(text, "counts", settings, snapshot) for text in chosen]
    pairs = [(_without_totals(text, settings), Standing(text, {}, settings, "counts")) for text in chosen]
    for between in random_steps(random, snapshot, 4, random_edges if seed % 2 else random_batch):
        for rerun, (terms, by_totals) in zip(watched, pairs, strict=True):
            rerun.follow(between)
            assert terms.change(between) == by_totals.change(between), f"{terms.text}, {mode}, seed {seed}"


WEDGES = "MATCH (a:A)-[:X]->(b:B)-[:Y]->(c:C) RETURN count(*) AS n"


class _Watched:
    """How many versions were counted for what is told of each change."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ids = {"id": [1, 2, 3]}
        edges = {("A", "X", "B"): {"source": [1], "target": [1]}, ("B", "Y", "C"): {"source": [1], "target": [1]}}
        self.store = gquery.Store(gquery.from_arrow(dict.fromkeys("ABC", ids), edges))
        self._watch = self.store.watch(WEDGES, emit="counts")
        self._counted = 0
        answer_again = self._watch._standing._answering.answer_again

        def counting(*given: Any) -> Any:
            self._counted += 1
            return answer_again(*given)

        monkeypatch.setattr(self._watch._standing._answering, "answer_again", counting)

    def told(self) -> tuple[int, int, int]:
        """What is new, what is gone, and how many versions were counted."""
        before, change = self._counted, self._watch.next()
        assert change is not None
        added, removed = (int(each["n"][0].as_py()) for each in (change.added, change.removed))
        return added, removed, self._counted - before


def _x(*sources: int) -> dict[Any, Any]:
    return {("A", "X", "B"): {"source": list(sources), "target": [1] * len(sources)}}


@pytest.mark.usefixtures("all_large")
def test_the_number_of_the_last_version_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """But after a compaction; and what comes and goes in one change needs what both versions have."""
    watched = _Watched(monkeypatch)
    watched.store.apply(insert=_x(2, 3))
    assert watched.told() == (2, 0, 2)
    watched.store.apply(delete=_x(3))
    assert watched.told() == (0, 1, 1)
    watched.store.apply(insert=_x(3, 3), delete=_x(1))
    assert watched.told() == (2, 1, 2)
    watched.store.compact()
    watched.store.apply(insert=_x(1))
    assert watched.told() == (1, 0, 2)
    watched.store.apply(insert={"C": {"id": [7]}})
    assert watched.told() == (0, 0, 0)


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("error", [QueryTimeout("late"), MemoryLimitError("no room")])
def test_what_cannot_be_counted_is_told_by_terms(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = _Watched(monkeypatch)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(watched._watch._standing._answering, "answer_again", fail)
    watched.store.apply(insert=_x(2, 3))
    assert watched.told() == (2, 0, 0)


def test_small_changes_are_told_by_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few edges there are beside them, and however long terms are thought to take."""
    monkeypatch.setattr(totals, "_TERM", 60.0)
    watched = _Watched(monkeypatch)
    watched.store.apply(insert=_x(2, 3))
    assert watched.told() == (2, 0, 0)
    monkeypatch.setattr(standing, "_FEW", 1)
    watched.store.apply(insert=_x(2, 2))
    assert watched.told() == (2, 0, 2)


def test_a_watch_tells_of_totals() -> None:
    graph = gquery.from_arrow({"A": {"id": [1]}}, {("A", "X", "A"): {"source": [1], "target": [1]}})
    line = "Of a change that is large beside the graph, count all matches where that is done sooner"
    told = {end: gquery.Store(graph).watch(f"MATCH (a)-[:X]->(b) RETURN {end}", emit="counts").explain()
            for end in ("count(*) AS n", "a.id AS a, count(*) AS n", "count(DISTINCT b) AS n")}  # fmt: skip
    assert [line in each for each in told.values()] == [True, False, False]


def test_the_way_that_is_sooner_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what either took; where counting was ended, it is tried again for a change that is worth more."""
    clock = iter(range(100))
    monkeypatch.setattr(totals.time, "perf_counter", lambda: float(next(clock)))
    graph = gquery.from_arrow({"A": {"id": [1]}}, {})
    old, new = graph.snapshot, gquery.from_arrow({"A": {"id": [1]}}, {}).snapshot
    numbers = {old: 3, new: 5}
    known = Totals()

    def late(_: object) -> int:
        raise QueryTimeout("late")

    with pytest.raises(QueryTimeout):
        known.changed((old, old, new), 0.25, late)
    assert known.changed((old, old, new), 0.25, numbers.__getitem__) is None
    assert known.changed((old, old, new), 0.5, numbers.__getitem__) == (2, 0)
    assert known.changed((new, old, old), 0.75, numbers.__getitem__) == (0, 2)
