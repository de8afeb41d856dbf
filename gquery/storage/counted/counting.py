"""Counting a graph: from the ends of its edges to `counts.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gquery.storage.counted.counts import Between, Counts, DegreeSums, TypeCounts
from gquery.storage.numbering import Numbering
from gquery.storage.schema import Direction

if TYPE_CHECKING:
    from gquery.storage.graph import Snapshot

_FEW_PAIRS = 1 << 16  # of tables, that are counted in an array


def count(snapshot: Snapshot) -> Counts:
    """Count a graph: a few linear passes over the ends of its edges."""
    counts = tuple(table.count for table in snapshot.vertex_tables)
    table_of = snapshot.vertex_numbers.each_table()
    types = {}
    for name in snapshot.schema.types:
        source, target, _ = snapshot.edges.of_types({name})
        types[name] = _count_type(source, target, table_of, snapshot.vertex_numbers)
    return Counts(counts, types)


def _count_type(
    source: NDArray[np.int32], target: NDArray[np.int32], table_of: NDArray[Any], numbers: Numbering
) -> TypeCounts:
    if len(source) == 0:
        return TypeCounts()
    loops = source[source == target]
    simple_both = not _has_repeats(_pair_keys(np.minimum(source, target), np.maximum(source, target)))
    pairs = count_pairs(table_of[source], table_of[target])
    return TypeCounts(
        between=between(pairs, table_of[loops]),
        degrees=tuple(_count_degrees(source, target, loops, numbers)),
        simple=simple_both or not _has_repeats(_pair_keys(source, target)),
        simple_both=simple_both,
    )


def count_pairs(source_table: NDArray[Any], target_table: NDArray[Any]) -> Counter[tuple[int, int]]:
    """How many edges lead from which table to which."""
    tables = int(max(source_table.max(initial=0), target_table.max(initial=0))) + 1
    pairs = source_table * np.int64(tables) + target_table
    if tables * tables <= max(_FEW_PAIRS, len(pairs)):
        edges = np.bincount(pairs)
        numbers = np.flatnonzero(edges)
        edges = edges[numbers]
    else:
        numbers, edges = np.unique(pairs, return_counts=True)
    each = (divmod(number, tables) for number in numbers.tolist())
    return Counter(dict(zip(each, edges.tolist(), strict=True)))


def between(pairs: Mapping[tuple[int, int], int], loop_table: NDArray[Any]) -> tuple[Between, ...]:
    """Edges by pair of tables, with those that are loops. loop_table: the table of each loop."""
    loops = Counter(loop_table.tolist())
    return tuple(
        Between(source, target, edges, loops[source] if source == target else 0)
        for (source, target), edges in sorted(pairs.items())
    )


def _count_degrees(
    source: NDArray[np.int32], target: NDArray[np.int32], loops: NDArray[np.int32], numbers: Numbering
) -> Iterator[DegreeSums]:
    first = min(source.min(), target.min())
    end = max(source.max(), target.max()) + 1
    out, into, loop = (np.bincount(vertices - first, minlength=end - first) for vertices in (source, target, loops))
    return degree_sums(out, into, loop, int(first), numbers)


def degree_sums(
    out: NDArray[np.int64], into: NDArray[np.int64], loop: NDArray[np.int64], first: int, numbers: Numbering
) -> Iterator[DegreeSums]:
    """The sums for each table, of int64 degrees of the vertices from `first` on; loop: those that are loops."""
    degrees: dict[Direction, NDArray[np.int64]] = {"out": out, "in": into, "both": out + into - loop}
    for direction, all_degrees in degrees.items():
        sums: dict[int, DegreeSums] = {}
        for begin, end, table, _ in numbers.within(first, first + len(out)):
            degree = all_degrees[begin - first : end - first]
            with_any = int(np.count_nonzero(degree))
            if with_any:
                total, squares = int(degree.sum()), int(np.dot(degree, degree))
                found = DegreeSums(table, direction, with_any, total, squares, int(degree.max()))
                sums[table] = sums[table].and_of(found) if table in sums else found
        yield from sums.values()


def _pair_keys(high: NDArray[np.int32], low: NDArray[np.int32]) -> NDArray[np.uint64]:
    key = high.astype(np.uint64) << np.uint64(32)
    key |= low.astype(np.uint64)
    return key


def _has_repeats(keys: NDArray[np.uint64]) -> bool:
    """Whether a key occurs twice. The keys are sorted then."""
    keys.sort()
    return bool(np.any(keys[1:] == keys[:-1]))
