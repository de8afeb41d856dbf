"""Signatures against the edges that they speak of."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from gquery.storage.graph import Snapshot
from gquery.storage.invariants import SIGNATURE_BITS
from gquery.storage.persist import open_snapshot, save
from gquery.storage.schema import Direction
from gquery.storage.tables import EdgeTable, VertexTable
from tests.storage.snapshots import DIRECTIONS, rich_snapshot


def random_snapshot(random: Random, tables: int, types: int) -> Snapshot:
    """`tables` labels of 0 to 6 vertices; each type has a table of edges between any vertices, and one of none."""
    nothing = pa.table({})
    counts = [random.randrange(7) for _ in range(tables)]
    n = sum(counts)

    def ends(edges: int) -> tuple[np.ndarray, np.ndarray]:
        return tuple(np.array([random.randrange(n) for _ in range(edges)], np.int32) for _ in range(2))

    vertices = [
        VertexTable.from_arrow((f"L{table}",), pa.chunked_array([pa.array(range(count), pa.int64())]), nothing, None)
        for table, count in enumerate(counts)
    ]
    sizes = [random.randrange(2 * n) if n else 0 for _ in range(types)]
    edges = [EdgeTable.from_arrow(f"T{type_}", *ends(size), nothing) for type_, size in enumerate(sizes)]
    return Snapshot(vertices, [*edges, EdgeTable.from_arrow("T0", *ends(0), nothing)])


def has_neighbour(
    snapshot: Snapshot, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]
) -> list[bool]:
    table_of = [table for table, each in enumerate(snapshot.vertex_tables) for _ in range(each.count)]
    found = [False] * snapshot.vertex_count
    for edges in snapshot.edge_tables:
        for source, target in zip(*(end.tolist() for end in edges.ends), strict=True):
            for seen, own, other in (("out", source, target), ("in", target, source)):
                if edges.type in types and direction in (seen, "both") and table_of[other] in tables:
                    found[own] = True
    return found


def check(snapshot: Snapshot, random: Random, asked: int) -> int:
    """Compares what signatures tell with the edges; returns how often they could not."""
    names = snapshot.schema.types
    silent = 0
    for _ in range(asked):
        types = tuple(sorted(random.sample(names, random.randint(1, min(2, len(names))))))
        tables = tuple(sorted(random.sample(range(len(snapshot.vertex_tables)), random.randint(1, 2))))
        for direction in DIRECTIONS:
            bits = snapshot.invariants.signature(types, direction, tables)
            if bits is None:
                silent += 1
                continue
            told = (snapshot.signatures() & np.uint64(bits)) != 0
            assert told.tolist() == has_neighbour(snapshot, types, direction, tables)
    return silent


@pytest.mark.parametrize("seed", range(20))
def test_kinds_with_bits_of_their_own(seed: int) -> None:
    random = Random(f"signatures {seed}")
    snapshot = random_snapshot(random, 5, 3)
    assert len(snapshot.invariants.kinds) <= SIGNATURE_BITS
    assert check(snapshot, random, 20) == 0


@pytest.mark.parametrize("seed", range(5))
def test_what_shares_a_bit_is_not_told(seed: int) -> None:
    random = Random(f"many signatures {seed}")
    snapshot = random_snapshot(random, 12, 6)
    kinds = snapshot.invariants.kinds
    assert len(kinds) > SIGNATURE_BITS
    assert max(kinds.values()) == SIGNATURE_BITS - 1
    assert check(snapshot, random, 60) > 0


def test_nothing_to_tell() -> None:
    assert Snapshot([], []).signatures().tolist() == []
    snapshot = rich_snapshot()
    assert snapshot.invariants.signature(("NEVER",), "out", (0,)) == 0
    for types, direction in product((("KNOWS",), ("KNOWS", "LIKES")), DIRECTIONS):
        assert snapshot.invariants.signature(types, direction, (2,)) == 0


@pytest.mark.parametrize("seed", range(10))
def test_every_saved_graph_agrees_with_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Many types between many tables, verified in blocks that begin and end anywhere."""
    random = Random(seed)
    snapshot = random_snapshot(random, random.randint(1, 9), random.randint(1, 6))
    monkeypatch.setattr("gquery.storage.persist.verify._BLOCK", random.randint(1, 9))
    save(snapshot, tmp_path / "saved.gq")
    opened = open_snapshot(tmp_path / "saved.gq")
    opened.counts.make_sure(opened.schema.types)
    assert opened.counts == snapshot.counts
    assert opened.signatures().tolist() == snapshot.signatures().tolist()


def test_saved_with_the_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(rich_snapshot(), tmp_path / "saved.gq")
    monkeypatch.setattr("gquery.storage.counted.signatures.count_signatures", lambda _: pytest.fail("counted again"))
    assert open_snapshot(tmp_path / "saved.gq").signatures().tolist() != [0] * 8
