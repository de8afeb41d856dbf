"""Answers that are ids and numbers of nodes alone: they are gathered where the matches are found."""

from __future__ import annotations

import ctypes
import sys
from itertools import product
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.executor.gathered import Turns
from tests.differential.test_counting import WAYS

PEOPLE = pa.table(
    {"id": [7, 3, 9, 4, 1], "age": [30, 20, 50, 40, 10], "name": list("abcde"), "height": [1.5, 2, 3, 4, 5]}
)
CITIES = pa.table({"id": [100, 101], "age": pa.array([1000, None], pa.int64())})
KNOWS = pa.table({"source": [7, 3, 9, 4, 7, 3], "target": [3, 9, 7, 1, 4, 4]})
LIVES = pa.table({"source": [7, 3, 3], "target": [100, 101, 100]})

GATHERED = {
    "ids": "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN id(a), id(b)",
    "numbers": "MATCH (a:Person)-[:KNOWS]-(b:Person) WHERE a.age > 15 RETURN b.age AS age, a.height, id(a)",
    "one column twice": "MATCH (a:Person) RETURN id(a) AS one, id(a) AS other",
    "turned matches": "MATCH (a:Person)-[:KNOWS]-(b:Person)-[:KNOWS]-(c)-[:KNOWS]-(a) RETURN id(c), id(a), a.age",
    "one vertex": "MATCH (a:Person) RETURN id(a), a.age",
    "none": "MATCH (a:Person)-[:KNOWS]->(b:Person) WHERE a.age > 1000 RETURN id(a), b.height",
}
OTHERS = {
    "nulls": "MATCH (a:Person)-[:LIVES]->(b:City) RETURN id(a), b.age",
    "texts": "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN a.name, id(b)",
    "nodes": "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN a, id(b)",
    "a limit": "MATCH (a:Person) RETURN id(a) LIMIT 0",
    "distinct": "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN DISTINCT b.age",
    "an order": "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN id(a), id(b) ORDER BY id(b)",
    "an edge": "MATCH (a:Person)-[e:KNOWS]->(b:Person) RETURN id(a), id(b), type(e)",
    "a sum": "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN id(a), count(*)",
    "a second clause": "MATCH (a:Person) WITH a, rand() AS r MATCH (a)-[:KNOWS]->(b) RETURN id(a), id(b)",
}


@pytest.fixture
def graph() -> gquery.Graph:
    types = {("Person", "KNOWS", "Person"): KNOWS, ("Person", "LIVES", "City"): LIVES}
    return gquery.from_arrow(vertices={"Person": PEOPLE, "City": CITIES}, edges=types)


@pytest.fixture
def gathered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The columns that were gathered of each batch."""
    seen: list[int] = []
    before = Turns.batches

    def batches(self: Turns, schema: pa.Schema) -> object:
        seen.append(len(self.columns))
        return before(self, schema)

    monkeypatch.setattr(Turns, "batches", batches)
    return seen


def sorted_rows(answer: pa.Table) -> list[str]:
    return sorted(map(str, answer.to_pylist()))


@pytest.mark.parametrize("text", [*GATHERED.values(), *OTHERS.values()], ids=[*GATHERED, *OTHERS])
def test_the_rows_are_those_of_the_cpu(graph: gquery.Graph, text: str, device: str) -> None:
    plain = graph.query(text, device="cpu", memory_limit="1GB").to_arrow()  # under a limit nothing is gathered
    found = graph.query(text, device=device).to_arrow()
    assert found.schema == plain.schema
    assert sorted_rows(found) == sorted_rows(plain)


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_what_is_no_number_of_every_vertex_goes_its_usual_way(
    graph: gquery.Graph, text: str, device: str, gathered: list[int]
) -> None:
    graph.query(text, device=device).to_arrow()
    assert not gathered


def test_what_several_columns_ask_is_gathered_once(
    graph: gquery.Graph, device: str, gathered: list[int], request: pytest.FixtureRequest
) -> None:
    graph.query(GATHERED["one column twice"], device=device).to_arrow()
    gathers = request.node.callspec.params["device"] != "reference"
    assert set(gathered) == ({1} if gathers else set())


def test_rows_with_sums_in_the_candidate_graph(
    graph: gquery.Graph, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The candidate edges of a run are made when it begins: one that was got ready in vain must leave none behind."""
    for patch in WAYS["candidate graph"]:
        monkeypatch.setattr(*patch)
    text = "MATCH (a:Person)-[:KNOWS]-(b:Person)-[:KNOWS]-(c:Person) RETURN id(a)"
    plain = graph.query(text, device="cpu", memory_limit="1GB").to_arrow()
    assert sorted_rows(graph.query(text, device=device).to_arrow()) == sorted_rows(plain)


NUMBERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64)
PATTERNS = (
    "(a:A)-[]->(b:A)", "(a:A)-[]-(b:B)-[]-(c:A)", "(a:B)<-[]-(b:A)-[]->(c:B)", "(a:A)-[]-(b:A)-[]-(c:A)-[]-(a)",
    "(a:B)", "(a:A)-[]->(b:B) WHERE a.n3 > 0 AND b.n4 < 200",
)  # fmt: skip


def numbered(random: np.random.Generator, counts_up: bool) -> gquery.Graph:
    """A graph of two tables with numbers of all types."""
    vertices, ids = {}, {}
    for label, count in (("A", 40), ("B", 25)):
        ids[label] = np.arange(1000, 1000 + count) if counts_up else random.permutation(10 * count)[:count]
        columns = {f"n{place}": random.integers(0, 120, count).astype(kind) for place, kind in enumerate(NUMBERS)}
        vertices[label] = pa.table({"id": ids[label], **columns})
    edges = {}
    for source, target in ("AA", "AB", "BA"):
        ends = {"source": random.choice(ids[source], 90), "target": random.choice(ids[target], 90)}
        edges[source, f"{source}{target}", target] = pa.table(ends)
    return gquery.from_arrow(vertices=vertices, edges=edges)


def compare_numbers(random: np.random.Generator, counts_up: bool, device: str) -> None:
    """Numbers that are gathered, and those that are not."""
    graph = numbered(random, counts_up)
    for pattern in PATTERNS:
        names = [name for name in "abc" if f"({name}:" in pattern]
        asked = [f"id({name})" for name in names]
        asked += [f"{name}.n{random.integers(len(NUMBERS))} AS x{place}" for place, name in enumerate(2 * names)]
        text = f"MATCH {pattern} RETURN {', '.join(random.permutation(asked))}"
        plain = graph.query(text, device="cpu", memory_limit="1GB").to_arrow()
        found = graph.with_settings(threads=int(random.integers(1, 4))).query(text, device=device).to_arrow()
        assert found.schema == plain.schema, text
        assert sorted_rows(found) == sorted_rows(plain), text


@pytest.mark.parametrize("seed", range(6))
def test_numbers_of_any_type(seed: int, device: str) -> None:
    compare_numbers(np.random.default_rng(seed), seed % 2 == 0, device)


def test_numbers_of_a_graph_that_has_changed(device: str) -> None:
    store = gquery.Store(numbered(np.random.default_rng(3), True))
    for change in (
        "MATCH (a:A) WHERE a.n3 < 20 DETACH DELETE a",
        "CREATE (:A {id: 5000, n3: 7})-[:AB]->(:B {id: 5001, n3: 8})",
        "MATCH (b:B) WHERE b.n3 > 60 SET b.n3 = 1000",
    ):
        store.execute(change)
        graph = store.graph
        for answer in ("id(a), id(b)", "a.n3, id(b), b.n3"):
            text = f"MATCH (a:A)-[:AB]->(b:B) RETURN {answer}"
            plain = graph.query(text, device="cpu", memory_limit="1GB").to_arrow()
            assert sorted_rows(graph.query(text, device=device).to_arrow()) == sorted_rows(plain)


def test_parallel_edges_give_a_row_each(device: str) -> None:
    edges = pa.table({"source": [1, 1, 2], "target": [2, 2, 1]})
    graph = gquery.from_arrow(vertices={"P": pa.table({"id": [1, 2]})}, edges={("P", "E", "P"): edges})
    answer = graph.query("MATCH (a)-[:E]->(b) RETURN id(a), id(b)", device=device).to_arrow()
    assert sorted(zip(*(column.to_pylist() for column in answer.columns), strict=True)) == [(1, 2), (1, 2), (2, 1)]


@pytest.mark.parametrize("text", GATHERED.values(), ids=GATHERED)
def test_columns_on_a_card(
    graph: gquery.Graph, text: str, device: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if request.node.callspec.params["device"] != "gpu":
        monkeypatch.setitem(sys.modules, "cupy", np)  # what is asked of it NumPy has, too
    columns = graph.query(text, device=device).to_cupy()
    host = [column.get() if hasattr(column, "get") else column for column in columns.values()]
    plain = graph.query(text, device="cpu").to_arrow()
    assert list(columns) == plain.column_names
    assert [column.dtype for column in host] == [column.type.to_pandas_dtype() for column in plain.columns]
    assert sorted(zip(*(column.tolist() for column in host), strict=True)) == sorted(
        zip(*(column.to_pylist() for column in plain.columns), strict=True)
    )


LONG = (
    "(a:A)-[]->(b:A)-[]->(c)-[]->(d)", "(a)-[]-(b)-[]->(c:B)", "(a:A)-[]->(b)-[]->(c)-[]->(a)",
    "(a:B)-[]->(b:A), (c:B)", "(a:A {n2: 7})-[]->(b)-[]->(c)-[]->(d)-[]->(e)",
)  # fmt: skip
MODES = "REPEATABLE ELEMENTS", "DIFFERENT NODES", ""


def compare_columns(random: np.random.Generator, device: str) -> None:
    """Columns that stay where they are, whose length is counted first, with those of the CPU."""
    graph = numbered(random, counts_up=False)
    for pattern, mode in product(LONG, MODES):
        names = [name for name in "abcde" if f"({name}" in pattern]
        asked = [f"id({name})" for name in names] + [f"{names[0]}.id AS i"]
        text = f"MATCH {mode} {pattern} RETURN {', '.join(random.permutation(asked))}"
        columns = graph.query(text, device=device).to_cupy()
        host = [column.get() if hasattr(column, "get") else column for column in columns.values()]
        plain = graph.query(text, device="cpu").to_arrow()
        found = sorted(zip(*(column.tolist() for column in host), strict=True))
        assert found == sorted(zip(*(column.to_pylist() for column in plain.columns), strict=True)), text


@pytest.mark.parametrize("seed", range(2))
def test_columns_whose_length_is_counted_first(
    seed: int, device: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if request.node.callspec.params["device"] != "gpu":
        monkeypatch.setitem(sys.modules, "cupy", np)
    compare_columns(np.random.default_rng(seed), device)


@pytest.mark.parametrize("text", GATHERED.values(), ids=GATHERED)
def test_columns_of_arrow_where_they_are(
    graph: gquery.Graph, text: str, device: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    on_card = request.node.callspec.params["device"] == "gpu"
    if not on_card:
        stream = SimpleNamespace(synchronize=lambda: None)
        cuda = SimpleNamespace(get_current_stream=lambda: stream)
        monkeypatch.setitem(
            sys.modules, "cupy", SimpleNamespace(asarray=np.asarray, concatenate=np.concatenate, cuda=cuda)
        )
    schema, columns = graph.query(text, device=device).__arrow_c_device_array__()
    if on_card:
        assert device_of(columns) == (2, 0)  # CUDA's first
        return
    found = pa.RecordBatch._import_from_c_device_capsule(schema, columns)
    plain = graph.query(text, device="cpu").to_arrow()
    assert found.schema == plain.schema
    assert sorted_rows(pa.table(found)) == sorted_rows(plain)


def device_of(capsule: object) -> tuple[int, int]:
    """The type and the number of the device that an `ArrowDeviceArray` says."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    words = (ctypes.c_int64 * 12).from_address(pointer(capsule, b"arrow_device_array"))
    return words[11] & 0xFFFFFFFF, words[10]


def test_other_columns_than_numbers_are_refused(graph: gquery.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", np)
    with pytest.raises(gquery.ExecutionError, match=r"`a\.name` has values of type string"):
        graph.query("MATCH (a:Person) RETURN a.name").to_cupy()
    with pytest.raises(gquery.ExecutionError, match=r"`b\.age` has nulls"):
        graph.query(OTHERS["nulls"]).to_cupy()


def test_what_is_kept_is_copied(graph: gquery.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", np)
    result = graph.query("MATCH (a:Person) RETURN rand() AS r")
    table = result.to_arrow()
    assert result.to_cupy()["r"].tolist() == table.column("r").to_pylist()
