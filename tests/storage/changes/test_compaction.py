"""Compaction while others read and write: the same graph, no version lost, and what fails is told."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.errors import LoadError
from gquery.storage.changes.applied import applied, first_free
from gquery.storage.changes.batch import Batch
from gquery.storage.changes.durable.log import Record, open_changed
from gquery.storage.changes.new_ids import NewIds
from gquery.storage.persist.save import save
from gquery.store import compaction, folder
from gquery.store.compaction import Compacted
from gquery.store.folder import Folder
from tests.storage.changes.model import Model
from tests.storage.changes.test_applied import check_answers, check_counts

KNOWS = ("Person", "KNOWS", "Person")


def begun(path: Path, edges: int = 3) -> gquery.Store:
    people = {"id": [1, 2, 3], "name": ["Ann", "Bob", "Cid"]}
    knows = {"source": [1] * edges, "target": [2] * edges, "number": range(edges)}
    gquery.from_arrow({"Person": people}, {KNOWS: pa.table({**knows, "number": [*range(edges)]})}).save(path)
    return gquery.Store.open(path)


def numbers(graph: gquery.Graph) -> list[int]:
    return [row[0] for row in graph.query("MATCH ()-[k:KNOWS]->() RETURN k.number AS n ORDER BY n").rows()]


def add(store: gquery.Store, number: int) -> None:
    store.apply(insert={KNOWS: {"source": [number % 3 + 1], "target": [1], "number": [number]}})


def add_and_wait(store: gquery.Store, number: int) -> None:
    add(store, number)
    store._behind.wait()


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every version is worth a compaction."""
    monkeypatch.setattr(folder, "_VERSION", 1 << 30)
    monkeypatch.setattr(folder, "_LEAST", 0)


@pytest.mark.filterwarnings("ignore::gquery.QueryWarning")
@pytest.mark.parametrize("seed", range(4))
def test_versions_that_come_meanwhile(seed: int, tmp_path: Path) -> None:
    """Batches on what was there before are right on what is compacted, in memory and read again."""
    random, model = Random(f"meanwhile {seed}"), Model()
    save(model.snapshot(), tmp_path / "graph.gq")
    place = Folder(tmp_path / "graph.gq") if seed % 2 else None
    snapshot = model.snapshot() if place is None else place.opened.snapshot
    version = 0

    def follow(count: int) -> Iterator[Any]:
        nonlocal snapshot, version
        for _ in range(count):
            batches, free_ids = [model.batch(random) for _ in range(random.choice([1, 1, 2]))], []
            for batch in batches:
                free_ids.append(first_free(snapshot, batch))
                snapshot = applied(snapshot, batch)
            version += 1
            yield Record(version, batches, free_ids)

    for _ in range(3):
        [*follow(random.randint(1, 8))]
        compacted = Compacted(snapshot, version, place)
        for _ in range(3):
            compacted.follow([*follow(random.choice([0, 1, 3]))])
        compacted.install()
        check_counts(compacted.snapshot)
    check_answers(compacted.snapshot, model)
    if place is not None:
        place.close()
        opened = open_changed(tmp_path / "graph.gq")
        assert opened.version == version
        check_answers(opened.snapshot, model)


def test_new_ids_are_those_that_compacting_gives() -> None:
    graph = gquery.from_arrow(
        {"A": {"id": range(5)}, "B": {"id": range(4)}}, {("A", "T", "B"): _edges(8), ("B", "U", "A"): _edges(3)}
    )
    snapshot = applied(graph.snapshot, Batch(gone_vertices=np.array([1], np.int32), gone_edges=np.array([1, 5, 8])))
    told = NewIds(snapshot).batch(
        Batch(gone_vertices=np.array([8, 0, 9, 2], np.int32), gone_edges=np.array([10, 0, 7, 11, 2]))
    )
    assert told.gone_vertices.tolist() == [7, 0, 8, 1]
    assert told.gone_vertices.dtype == np.int32
    assert told.gone_edges.tolist() == [7, 0, 5, 8, 1]


def _edges(count: int) -> pa.Table:
    return pa.table({"source": np.arange(count) % 4, "target": np.arange(count) % 4})


def test_behind_the_writer(tmp_path: Path, always: None) -> None:
    """Again and again, while four read and one writes: every answer is that of one version."""
    ended, wrong = Event(), list[object]()

    def read(store: gquery.Store) -> None:
        try:
            while not ended.is_set():
                graph = store.graph
                found = numbers(graph)
                assert found == [*range(len(found))]
                assert graph.query("MATCH ()-[:KNOWS]->() RETURN count(*)").scalar() == len(found)
        except BaseException as error:
            wrong.append(error)

    with begun(tmp_path / "graph.gq") as store:
        first = logs(tmp_path)
        readers = [Thread(target=read, args=(store,)) for _ in range(4)]
        for reader in readers:
            reader.start()
        for number in range(3, 60):
            add(store, number)
        ended.set()
        for reader in readers:
            reader.join()
        late = time.monotonic() + 20  # others may share the processors
        while logs(tmp_path) == first and time.monotonic() < late:
            time.sleep(0.01)
        assert logs(tmp_path) != first
        assert store.version == 57
    assert not wrong
    assert len(logs(tmp_path)) == 1
    opened = open_changed(tmp_path / "graph.gq")
    assert opened.version == 57
    assert opened.replayed < 57
    assert numbers(gquery.open(tmp_path / "graph.gq")) == [*range(60)]


def logs(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*/changes-*.log")}


def test_not_before_it_pays(tmp_path: Path) -> None:
    with begun(tmp_path / "graph.gq") as store:
        add(store, 3)
        first = logs(tmp_path)
        for number in range(4, 40):
            add(store, number)
        store._behind.wait()
        assert logs(tmp_path) == first


def test_what_is_gone_is_given_back_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "_FEWEST", 4)
    people = {"Person": {"id": [1, 2, 3]}}
    store = gquery.Store(
        gquery.from_arrow(people, {KNOWS: pa.table({"source": [1] * 9, "target": [2] * 9, "n": range(9)})})
    )
    for number in range(3):
        store.apply(delete={KNOWS: {"source": [1], "target": [2], "n": [number]}})
    assert store.graph.snapshot.edge_count == 9
    store.apply(delete={KNOWS: {"source": [1], "target": [2], "n": [3]}})
    store._behind.wait()
    assert store.graph.snapshot.edge_count == store.graph.edge_count == 5
    assert store.graph.query("MATCH ()-[k:KNOWS]->() RETURN k.n AS n ORDER BY n").rows() == [(n,) for n in range(4, 9)]
    store.close()


def test_what_fails_is_told_and_tried_again(tmp_path: Path, always: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with begun(tmp_path / "graph.gq") as store:
        monkeypatch.setattr(os, "replace", _no_space)
        with pytest.warns(gquery.StoreWarning, match="could not be compacted.*No space"):
            add_and_wait(store, 3)
        files = {path.name for path in (tmp_path / "graph.gq").iterdir()}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            monkeypatch.setattr(folder, "_VERSION", 0)
            add_and_wait(store, 4)  # nothing is worth it
        assert {path.name for path in (tmp_path / "graph.gq").iterdir()} == files
        with pytest.raises(LoadError, match="No space"):
            store.compact()
        monkeypatch.undo()
        monkeypatch.setattr(folder, "_LEAST", 0)
        monkeypatch.setattr(folder, "_VERSION", 1 << 30)
        first = logs(tmp_path)
        add_and_wait(store, 5)
        assert logs(tmp_path) != first
    assert numbers(gquery.open(tmp_path / "graph.gq")) == [*range(6)]


def _no_space(*_: object) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_nobody_knows_which_graph_a_disk_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder's name of the new manifest was not made durable: whatever is written next might be lost."""
    store = begun(tmp_path / "graph.gq")
    add(store, 3)
    swapped: Callable[..., None] = os.replace

    def replaced_and_no_more(*paths: Any) -> None:
        swapped(*paths)
        monkeypatch.setattr("gquery.storage.persist.manifest.sync_directory", _no_space)

    monkeypatch.setattr(os, "replace", replaced_and_no_more)
    with pytest.raises(LoadError, match="No space"):
        store.compact()
    with pytest.raises(LoadError, match="the store is closed"):
        add(store, 4)
    monkeypatch.undo()
    assert numbers(store.graph) == numbers(gquery.open(tmp_path / "graph.gq")) == [*range(4)]
    with gquery.Store.open(tmp_path / "graph.gq") as again:
        add(again, 4)
    assert numbers(gquery.open(tmp_path / "graph.gq")) == [*range(5)]


def test_what_a_kill_has_left_is_removed(tmp_path: Path) -> None:
    begun(tmp_path / "graph.gq").close()
    files = {path.name for path in (tmp_path / "graph.gq").iterdir()}
    (tmp_path / "graph.gq" / "0123abcd-1.arrow").write_bytes(b"half of it")
    (tmp_path / "graph.gq" / "changes-0123456789abcdef.log").write_bytes(b"")
    gquery.Store.open(tmp_path / "graph.gq").close()
    assert {path.name for path in (tmp_path / "graph.gq").iterdir()} == files


SCRIPT = """
import sys, gquery
from gquery.store import folder
folder._VERSION, folder._LEAST = 1 << 30, 0
store = gquery.Store.open(sys.argv[1])
for number in range(3, 6):
    store.apply(insert={("Person", "KNOWS", "Person"): {"source": [1], "target": [2], "number": [number]}})
"""


def test_a_process_that_ends_without_closing(tmp_path: Path) -> None:
    begun(tmp_path / "graph.gq").close()
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "graph.gq")], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert len(logs(tmp_path)) == 1
    assert open_changed(tmp_path / "graph.gq").replayed < 3
    assert numbers(gquery.open(tmp_path / "graph.gq")) == [*range(6)]


def test_it_ends_beside_a_writer_who_is_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And who never waits for more than some versions at once."""
    asked, follow = list[int](), Compacted.follow

    def slow(self: Compacted, records: Sequence[Record]) -> None:
        asked.append(len(records))
        time.sleep(0.02 * len(records))
        follow(self, records)

    monkeypatch.setattr(Compacted, "follow", slow)
    store = begun(tmp_path / "graph.gq")
    add(store, 3)
    compacting = Thread(target=store.compact)
    compacting.start()
    number = 4
    while compacting.is_alive() and number < 300:
        add(store, number)
        number += 1
    assert number < 300
    assert max(asked) <= 16
    assert numbers(store.graph) == [*range(number)]
    store.close()
    assert numbers(gquery.open(tmp_path / "graph.gq")) == [*range(number)]
