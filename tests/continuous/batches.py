"""Random small graphs with parallel edges, self-loops and several labels, and random batches of changes for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import gquery
from gquery.continuous.between import Between
from gquery.storage.changes.applied import applied
from gquery.storage.changes.batch import Batch, NewEdges, NewLabels, NewValues, NewVertices
from gquery.storage.graph import Snapshot

Random = np.random.Generator

LABELS: tuple[tuple[str, ...], ...] = (("A",), ("B",), ("A", "B"), ())
_VALUES = 4


def random_graph(random: Random) -> gquery.Graph:
    """Vertices of two labels with a property `p`, edges of two types with a property `w`."""
    ranges = {"A": (0, int(random.integers(2, 9))), "B": (100, int(random.integers(1, 6)))}
    vertices = {
        label: pa.table({"id": begin + np.arange(count), "p": random.integers(0, _VALUES, count)})
        for label, (begin, count) in ranges.items()
    }
    edges = {}
    for source, (first, sources) in ranges.items():
        for target, (other, targets) in ranges.items():
            for type_ in "XY":
                count = int(random.integers(0, 6))
                edges[source, type_, target] = pa.table({
                    "source": first + random.integers(0, sources, count),
                    "target": other + random.integers(0, targets, count),
                    "w": random.integers(0, _VALUES, count),
                })  # fmt: skip
    return gquery.from_arrow(vertices=vertices, edges=edges)


def random_batch(random: Random, snapshot: Snapshot) -> Batch:
    """Some of everything: new vertices and edges, some with a new type or label set, vertices that go with their edges,
    edges that go, values and labels of what stays."""
    numbers = snapshot.vertex_numbers
    there = numbers.ids(range(len(snapshot.vertex_tables)), np.int32)
    edges = np.setdiff1d(np.arange(snapshot.edge_count), snapshot.edges.gone)
    vertices = tuple(_new_vertices(random))
    new = snapshot.vertex_count + np.arange(sum(each.count for each in vertices), dtype=np.int32)
    gone = _some(random, there, 2) if random.random() < 0.3 and len(there) > 2 else there[:0]
    staying = np.setdiff1d(np.concatenate([there, new]), gone)
    at_gone = edges[np.isin(np.stack(snapshot.edges.ends_of(edges)), gone).any(axis=0)]
    gone_edges = np.union1d(at_gone, _some(random, edges, 4))
    staying_edges = np.setdiff1d(edges, gone_edges)
    return Batch(
        vertices,
        tuple(_new_edges(random, staying)),
        np.sort(gone),
        gone_edges,
        tuple(_new_values(random, _some(random, staying, 3), "p")) if random.random() < 0.3 else (),
        tuple(_new_values(random, _some(random, staying_edges, 3), "w")) if random.random() < 0.3 else (),
        tuple(_new_labels(random, _some(random, staying, 3))) if random.random() < 0.2 else (),
    )


def random_edges(random: Random, snapshot: Snapshot) -> Batch:
    """Few edges that come and go; the vertices stay as they are."""
    edges = np.setdiff1d(np.arange(snapshot.edge_count), snapshot.edges.gone)
    vertices = snapshot.vertex_numbers.ids(range(len(snapshot.vertex_tables)), np.int32)
    new: tuple[NewEdges, ...] = ()
    if random.random() < 0.7:
        count = int(random.integers(1, 4))
        source, target = random.choice(vertices, (2, count)).astype(np.int32)
        columns = pa.table({"w": random.integers(0, _VALUES, count)})
        new = (NewEdges("XY"[random.integers(2)], source, target, columns),)
    return Batch(edges=new, gone_edges=_some(random, edges, 3) if random.random() < 0.6 else edges[:0])


def random_steps(
    random: Random, snapshot: Snapshot, count: int, make: Callable[[Random, Snapshot], Batch] = random_batch
) -> Iterator[Between]:
    """So many batches, one after the other."""
    for _ in range(count):
        batch = make(random, snapshot)
        after = applied(snapshot, batch)
        yield Between.by(snapshot, after, [batch])
        snapshot = after


def _some(random: Random, ids: NDArray[np.integer], below: int) -> NDArray[np.integer]:
    """Less than so many of some ids, ascending."""
    return np.sort(random.choice(ids, min(len(ids), int(random.integers(0, below))), replace=False))


def _values(random: Random, count: int) -> pa.Array:
    """Numbers, and now and then none."""
    return pa.array([int(each) or None for each in random.integers(0, _VALUES + 1, count)], pa.int64())


def _new_vertices(random: Random) -> Iterator[NewVertices]:
    for labels in LABELS:
        if random.random() < 0.1:
            yield NewVertices(labels, pa.table({"p": _values(random, 1)}))


def _new_edges(random: Random, vertices: NDArray[np.integer]) -> Iterator[NewEdges]:
    for type_, chance in (("X", 0.6), ("Y", 0.6), ("Z", 0.1)):
        if random.random() < chance:
            count = int(random.integers(1, 4))
            source, target = (random.choice(vertices, count).astype(np.int32) for _ in range(2))
            yield NewEdges(type_, source, target, pa.table({"w": _values(random, count)}))


def _new_values(random: Random, ids: NDArray[np.integer], name: str) -> Iterator[NewValues]:
    if len(ids):
        yield NewValues(ids, name, _values(random, len(ids)))


def _new_labels(random: Random, vertices: NDArray[np.integer]) -> Iterator[NewLabels]:
    if len(vertices):
        yield NewLabels(vertices.astype(np.int32), LABELS[random.integers(len(LABELS))])
