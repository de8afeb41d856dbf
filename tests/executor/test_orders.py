"""Orders of vertices by numbers of neighbours, in which the CPU counts symmetric matches where that pays."""

from __future__ import annotations

from random import Random

import pytest

import gquery
from gquery.executor.cpu.candidates import ranked
from gquery.executor.cpu.candidates.ranked import RankedSets
from gquery.storage.cache import Cache
from tests.differential.test_neighbourhoods import WAYS
from tests.executor.test_gpu_orders import CLIQUES, PUSHED, TWO_KINDS, skewed, written

NEVER = float("inf")
INSIDE = {
    "wheels": "0-1 0-2 0-3 0-4 1-2 2-3 3-4 4-1",
    "6-cliques less an edge": "0-1 0-2 0-3 0-4 1-2 1-3 1-4 2-3 2-4 3-4 5-0 5-1 5-2 5-3",
}
PATTERNS = {**CLIQUES, **PUSHED, **INSIDE}


@pytest.fixture(autouse=True)
def few_looks_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranked, "_LEAST", 0.0)


def counted(graph: gquery.Graph, text: str, pays: float, monkeypatch: pytest.MonkeyPatch) -> int:
    """The count by a graph that has made nothing before."""
    with monkeypatch.context() as patched:
        patched.setattr(ranked, "_PAYS", pays)
        graph.snapshot.cache = Cache()
        count: int = gquery.Graph(graph.snapshot).query(text, device="cpu").scalar()
        return count


@pytest.mark.parametrize("label", ["", ":A"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_counts_are_the_same(pattern: str, label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, seen = written(PATTERNS[pattern], label), set[str]()
    made = RankedSets.__init__

    def noted(self: RankedSets, *arguments: object) -> None:
        seen.add("ranked")
        made(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(RankedSets, "__init__", noted)
    for way in ("pushed", "inside", "as planned"):
        for seed in range(4):
            graph = skewed(Random(f"orders {seed}"))
            expected = counted(graph, text, NEVER, monkeypatch)
            with monkeypatch.context() as patched:
                for owner, name, value in WAYS[way]:
                    patched.setattr(owner, name, value)
                assert counted(graph, text, 0.0, monkeypatch) == expected, f"{way}, seed {seed}: {text}"
    assert label or seen


@pytest.mark.parametrize("pattern", PATTERNS)
def test_asked_again(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands by for the next run is among ranks, too."""
    graph, text = skewed(Random("again")), written(PATTERNS[pattern])
    expected = counted(graph, text, NEVER, monkeypatch)
    monkeypatch.setattr(ranked, "_PAYS", 0.0)
    again = gquery.Graph(graph.snapshot)
    peaks = []
    for _ in range(5):
        result = again.query(text, device="cpu")
        assert result.scalar() == expected
        assert result.progress.memory.used == 0
        peaks.append(result.progress.memory.peak)
    assert peaks[1:] == [peaks[1]] * 4


def test_vertices_that_may_be_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = skewed(Random("two kinds"))
    assert counted(graph, TWO_KINDS, 0.0, monkeypatch) == counted(graph, TWO_KINDS, NEVER, monkeypatch)


def test_a_graph_that_has_changed_is_ordered_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranked, "_PAYS", 0.0)
    store = gquery.Store(skewed(Random("changing")))
    text = written(CLIQUES["4-cliques"])
    for seed in range(5):
        random = Random(seed)
        ends = [random.sample(range(45), 2) for _ in range(20)]
        store.apply(insert={("A", "E", "A"): {"source": [a for a, _ in ends], "target": [b for _, b in ends]}})
        found = store.graph.query(text, device="cpu").scalar()
        assert found == counted(gquery.Graph(store.graph.snapshot), text, NEVER, monkeypatch)


def test_rows_are_kept_for_the_next_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranked, "_PAYS", 0.0)
    graph, made = skewed(Random("kept")), list[object]()
    write = ranked._ranked_rows
    monkeypatch.setattr(ranked, "_ranked_rows", lambda *given: made.append(write(*given)) or made[-1])
    for pattern in ("triangles", "4-cliques", "5-cliques", "triangles"):
        graph.query(written(CLIQUES[pattern]), device="cpu").scalar()
    assert len(made) == 1


def test_little_memory_changes_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """What there is no room for is not made."""
    monkeypatch.setattr(ranked, "_PAYS", 0.0)
    graph, text = skewed(Random("little")), written(CLIQUES["4-cliques"])
    expected = graph.query(text, device="cpu").scalar()
    limits = []
    for limit in (20_000, 50_000, 200_000, 1_000_000):
        graph.snapshot.cache = Cache()
        try:
            assert gquery.Graph(graph.snapshot).query(text, device="cpu", memory_limit=limit).scalar() == expected
            limits.append(limit)
        except gquery.MemoryLimitError:
            pass
    assert limits


def test_what_takes_little_is_counted_by_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    graph = skewed(Random("little to do"))
    assert graph.query(written(CLIQUES["triangles"]), device="cpu").scalar()
    assert not any(isinstance(key, tuple) and key[0] == "ranked" for key in graph.snapshot.cache._kept)
