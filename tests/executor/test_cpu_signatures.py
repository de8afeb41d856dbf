"""Signatures of rows: pairs that they tell apart have nothing in common, and counts stay what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gquery
from gquery.executor.cpu.candidates import row_bitmaps, row_signatures
from gquery.executor.cpu.search import pack
from gquery.storage.changes import rows
from gquery.storage.changes.paged import ChangedAdjacency

MESSAGES, TAGS = 150, 90
COMMON = """MATCH (m:Message)<-[:REPLY_OF]-(c:Message), (m)-[:HAS_TAG]->(t:Tag)<-[:HAS_TAG]-(c)
RETURN count(*) AS n"""
MISSED = """MATCH (t:Tag)<-[:HAS_TAG]-(m:Message)<-[:REPLY_OF]-(c:Message) WHERE NOT (c)-[:HAS_TAG]->(t)
RETURN count(*) AS n"""


def drawn(seed: int) -> tuple[gquery.Graph, list[set[int]], set[tuple[int, int]]]:
    """Messages with zero to four tags that reply to others: the graph, tags by message, replies."""
    random = np.random.default_rng(seed)
    # No tag is left out by a filter, after which it would have to be looked for in a bitset, too.
    tags = [{message} if message < TAGS else set() for message in range(MESSAGES)]
    tags = [own | set(random.integers(0, TAGS, random.integers(0, 5)).tolist()) for own in tags]
    replies = {(child, int(child + random.integers(1, MESSAGES)) % MESSAGES) for child in range(MESSAGES)}
    tagged = [(message, tag) for message, own in enumerate(tags) for tag in own]
    ends = {("Message", "HAS_TAG", "Tag"): tagged, ("Message", "REPLY_OF", "Message"): sorted(replies)}
    edges = {key: {"source": [a for a, _ in pairs], "target": [b for _, b in pairs]} for key, pairs in ends.items()}
    vertices = {"Message": {"id": np.arange(MESSAGES)}, "Tag": {"id": np.arange(TAGS)}}
    graph = gquery.from_arrow(vertices=vertices, edges=edges)
    return graph.with_settings(device="cpu"), tags, replies


@pytest.fixture
def signed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pairs of rows always get signatures; the numbers of those that are made."""
    made: list[int] = []
    signatures = row_signatures.signatures

    def counted(*arguments: Any) -> tuple[row_signatures.Signatures, ...]:
        found = signatures(*arguments)
        made.append(len(found))
        return found

    monkeypatch.setattr(row_signatures, "_SAVED", 1e9)
    monkeypatch.setattr(row_bitmaps, "LARGEST", 0)
    monkeypatch.setattr(pack, "signatures", counted)
    return made


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_signatures_tell_apart_have_nothing_in_common(seed: int, signed: list[int]) -> None:
    graph, tags, replies = drawn(seed)
    common = [len(tags[child] & tags[parent]) for child, parent in replies]
    missed = [len(tags[parent] - tags[child]) for child, parent in replies]
    assert graph.query(COMMON).scalar() == sum(common)
    assert graph.query(MISSED).scalar() == sum(missed)
    assert signed == [2, 2]


def test_signatures_are_kept_with_the_graph(signed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    graph, tags, replies = drawn(9)
    expected = sum(len(tags[child] & tags[parent]) for child, parent in replies)
    graph.query(COMMON).scalar()
    monkeypatch.setattr(row_signatures, "write_signatures", None)
    assert graph.query(COMMON + " // once more").scalar() == expected
    assert set(signed) == {2}


def test_signatures_without_room_are_left_out(signed: list[int]) -> None:
    graph, tags, replies = drawn(4)
    expected = sum(len(tags[child] & tags[parent]) for child, parent in replies)
    assert graph.query(COMMON, memory_limit=50_000).scalar() == expected
    assert graph.query(COMMON).scalar() == expected


def test_signatures_of_rows_that_have_changed(signed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in pages have signatures of their own, and those of the graph before stay what they are."""
    monkeypatch.setattr(rows, "_SMALL", 0)
    monkeypatch.setattr(rows, "_WHOLE", 0)
    graph, tags, replies = drawn(3)
    before = sum(len(tags[child] & tags[parent]) for child, parent in replies)
    assert graph.query(COMMON).scalar() == before
    store = gquery.Store(graph)
    child, parent = sorted(replies)[0]
    tag = next(tag for tag in range(TAGS) if tag not in tags[child] | tags[parent])
    more = {"source": [child, parent], "target": [tag, tag]}
    store.apply(insert={("Message", "HAS_TAG", "Tag"): more})
    for message in (child, parent):
        tags[message].add(tag)
    assert isinstance(store.graph.snapshot.adjacency(["HAS_TAG"], "out"), ChangedAdjacency)
    after = sum(len(tags[child] & tags[parent]) for child, parent in replies)
    assert after > before
    assert store.graph.query(COMMON).scalar() == after
    assert graph.query(COMMON).scalar() == before
    assert set(signed) == {2}
    store.close()
