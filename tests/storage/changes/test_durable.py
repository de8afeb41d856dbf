"""A store in a folder: what was told to be kept is there, whole, whatever happened to who wrote it."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.errors import LoadError
from gquery.session import Graph
from gquery.storage.changes.batch import Batch, NewEdges, NewLabels, NewValues, NewVertices
from gquery.storage.changes.durable import log as logs
from gquery.storage.changes.durable.log import Log, Record, open_changed
from gquery.storage.persist.save import save
from gquery.store.compaction import Compacted
from tests.storage.changes.model import Model
from tests.storage.changes.test_applied import check_answers, check_counts, check_elements
from tests.storage.snapshots import rich_snapshot

KNOWS = ("Person", "KNOWS", "Person")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(rich_snapshot(), tmp_path / "graph.gq")
    return tmp_path / "graph.gq"


def known(graph: Graph) -> int:
    return int(graph.query("MATCH (:Person)-[k:KNOWS]->(:Person) RETURN count(*) AS n").scalar())


def log_of(folder: Path) -> Path:
    (path,) = folder.glob("changes-*.log")
    return path


def test_versions_are_kept(folder: Path) -> None:
    with gquery.Store.open(folder) as store:
        assert store.version == 0
        store.apply(insert={"Person": {"id": [40], "name": ["Eve"]}, KNOWS: {"source": [40], "target": [10]}})
        assert known(gquery.open(folder)) == known(store.graph) == 6  # others see it by opening again
        store.apply(delete={"Person": {"id": [10]}})
        told = store.graph.query("MATCH (p:Person) RETURN p").rows()
    again = gquery.Store.open(folder)
    assert again.version == 2
    assert again.graph.query("MATCH (p:Person) RETURN p").rows() == told
    again.apply(set={"Person": {"id": [40], "name": ["Eva"]}})
    again.close()
    assert gquery.open(folder).query("MATCH (p:Person {id: 40}) RETURN p.name").scalar() == "Eva"
    with pytest.raises(LoadError, match="the store is closed"):
        again.apply(delete={"Person": {"id": [40]}})


def test_in_memory_nothing_is_kept(folder: Path) -> None:
    store = gquery.Store.open(folder, durable=False)
    store.apply(delete={"Person": {"id": [10]}})
    assert not [*folder.glob("changes-*.log")]
    assert known(store.graph) < known(gquery.open(folder))


@pytest.mark.filterwarnings("ignore::gquery.QueryWarning")
@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_change(seed: int, tmp_path: Path) -> None:
    random, model = Random(f"durable {seed}"), Model()
    save(model.snapshot(), tmp_path / "graph.gq")
    for _ in range(3):
        with gquery.Store.open(tmp_path / "graph.gq") as store:
            for _ in range(random.randint(0, 5)):
                store.commit([model.batch(random) for _ in range(random.choice([1, 2]))])
            version = store.version
        opened = open_changed(tmp_path / "graph.gq")
        assert opened.version == version
        check_elements(opened.snapshot, model)
        check_counts(opened.snapshot)
    check_answers(opened.snapshot, model)


def test_ids_that_were_given_out_stay(folder: Path) -> None:
    new = NewVertices(("New",), pa.table({"x": [1, 2]}))
    with gquery.Store.open(folder) as store:
        store.commit([Batch((new,)), Batch((new,))])
        first = store.graph.snapshot.vertex_count
        store.commit([Batch(gone_vertices=np.arange(first - 2, first, dtype=np.int32))])
        store.commit([Batch((new,))])
        told = store.graph.query("MATCH (n:New) RETURN id(n) AS id ORDER BY id").rows()
    assert told == [(31,), (32,), (35,), (36,)]
    assert gquery.open(folder).query("MATCH (n:New) RETURN id(n) AS id ORDER BY id").rows() == told


@pytest.mark.parametrize(
    "statement",
    ["MATCH (p:Person {id: 10}) SET p.id = 50 CREATE (:Person)", "MATCH (n) DETACH DELETE n CREATE (:Person)"],
)
def test_ids_that_a_statement_gives_out_stay(statement: str, folder: Path) -> None:
    """Which number is free depends on what the statement has done before."""
    with gquery.Store.open(folder) as store:
        store.execute(statement)
        told = store.graph.query("MATCH (p:Person) RETURN id(p)").rows()
    assert gquery.open(folder).query("MATCH (p:Person) RETURN id(p)").rows() == told


def test_a_record_that_is_cut_off_is_left_out(folder: Path) -> None:
    with gquery.Store.open(folder) as store:
        store.apply(insert={KNOWS: {"source": [10], "target": [30]}})
        end = log_of(folder).stat().st_size
        store.apply(insert={KNOWS: {"source": [20], "target": [30]}})
    content, path = log_of(folder).read_bytes(), log_of(folder)
    random = Random("cut off")
    for cut in [end, end + 1, len(content) - 1, *(random.randrange(end, len(content)) for _ in range(30))]:
        torn = bytearray(content)
        torn[cut:] = bytes(len(content) - cut) if random.random() < 0.5 else b""
        path.write_bytes(torn)
        opened = open_changed(folder)
        if torn == content:  # which ends with zeros
            continue
        assert (opened.version, opened.snapshot.edge_count) == (1, 9), cut
    with gquery.Store.open(folder) as store:
        store.apply(insert={KNOWS: {"source": [30], "target": [30]}})
    assert (gquery.open(folder).edge_count, open_changed(folder).version) == (10, 2)


def test_damage_is_told(folder: Path) -> None:
    with gquery.Store.open(folder) as store:
        for target in (10, 20, 30):
            store.apply(insert={KNOWS: {"source": [10], "target": [target]}})
    content, path = log_of(folder).read_bytes(), log_of(folder)
    random = Random("damage")
    last = content.rindex(b"gqry")
    for place in [0, *(random.randrange(last) for _ in range(30))]:
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << random.randrange(8)]) + content[place + 1 :])
        with pytest.raises(LoadError, match="damaged"):
            gquery.open(folder)


def test_another_file_in_place_of_the_changes(folder: Path) -> None:
    """It was taken for a first record that was never written to its end: the graph was there without any change."""
    with gquery.Store.open(folder) as store:
        store.apply(insert={KNOWS: {"source": [10], "target": [20]}})
    for content in (b"PAR1" * 20, bytes(1000), log_of(folder).read_bytes()[1:]):
        log_of(folder).write_bytes(content)
        with pytest.raises(LoadError, match="damaged"):
            gquery.open(folder)


@pytest.mark.skipif(not hasattr(os, "SEEK_DATA"), reason="the system does not tell holes")
def test_a_log_that_is_a_hole(folder: Path) -> None:
    """A terabyte that nobody wrote: left out at the end, and refused before something."""
    with gquery.Store.open(folder) as store:
        store.apply(insert={KNOWS: {"source": [10], "target": [30]}})
    os.truncate(log_of(folder), 1 << 40)
    assert open_changed(folder).version == 1
    with open(log_of(folder), "ab") as file:
        file.write(b"something")
    with pytest.raises(LoadError, match="is mostly a hole"):
        gquery.open(folder)


def test_one_writer(folder: Path) -> None:
    with gquery.Store.open(folder) as store:
        with pytest.raises(LoadError, match=f"is being written to by process {os.getpid()}, this one"):
            gquery.Store.open(folder)
        with pytest.raises(LoadError, match="is being written to"):
            store.graph.save(folder)
    gquery.Store.open(folder).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_does_not_write(folder: Path) -> None:
    """Of two that write behind the same record one would lose what the other keeps. Nor does it keep others out."""
    code = f"""
import os, gquery
store = gquery.Store.open({str(folder)!r})
asked, told = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(asked[1])
    for write in (lambda: store.apply(delete={{"Person": {{"id": [10]}}}}), lambda: store.execute("CREATE (:New)")):
        try:
            write()
        except gquery.LoadError as error:
            os.write(told[1], str(error).encode() + b"\\n")
    people = store.graph.query("MATCH (p:Person) RETURN count(*)").scalar()
    store.close()
    os.write(told[1], b"%d people\\n" % people)
    os.read(asked[0], 1)
    os._exit(0)
while not (text := os.read(told[0], 10_000).decode()).endswith("people\\n"):
    print(text, end="")
print(text, end="")
try:
    gquery.Store.open({str(folder)!r})
except gquery.LoadError as error:
    print(error)
store.apply(insert={{"Person": {{"id": [40]}}}})
store.close()
with gquery.Store.open({str(folder)!r}) as store:
    print("version", store.version)
os.write(asked[1], b".")
os.wait()
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    lines = [line for line in process.stdout.splitlines() if not line.startswith(("  file", "hint"))]
    assert [line[:45] for line in lines[:2]] == ["Load error: the store is written to by proces"] * 2, process.stderr
    assert lines[2].endswith(" people")
    assert lines[3].endswith(", this one")
    assert lines[4:] == ["version 1"]


def _removed(folder: Path) -> None:
    shutil.rmtree(folder)


def _renamed(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere.gq"))


def _replaced(folder: Path) -> None:
    _renamed(folder)
    save(rich_snapshot(), folder)


def _unlocked(folder: Path) -> None:
    (folder / "gquery.lock").unlink()


def _emptied(folder: Path) -> None:
    (folder / "gquery.json").unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="what is open there stays")
@pytest.mark.parametrize("happens", [_removed, _renamed, _replaced, _unlocked, _emptied])
def test_a_folder_that_is_there_no_more(folder: Path, happens: Callable[[Path], None]) -> None:
    """What was written then was kept for nobody, and a compaction took the place of another's graph."""
    with gquery.Store.open(folder) as store:
        store.apply(insert={"Person": {"id": [40]}})
        happens(folder)
        left = {path.name: path.read_bytes() for path in folder.glob("*")}
        for write in (lambda: store.apply(insert={"Person": {"id": [50]}}), lambda: store.execute("CREATE (:New)")):
            with pytest.raises(LoadError, match="folder has been removed, renamed or replaced"):
                write()
        with pytest.raises(LoadError, match="folder has been removed, renamed or replaced"):
            store.compact()
        assert {path.name: path.read_bytes() for path in folder.glob("*")} == left
        assert store.version == 1
        assert store.graph.query("MATCH (p:Person) WHERE p.id >= 40 RETURN p.id").rows() == [(40,)]


@pytest.mark.skipif(sys.platform == "win32", reason="what is open there stays")
def test_a_folder_that_goes_while_it_is_compacted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end was an error of Python's own."""
    with gquery.Store.open(folder) as store:
        store.apply(insert={"Person": {"id": [40]}})
        install = Compacted.install
        monkeypatch.setattr(Compacted, "install", lambda compacted: (shutil.rmtree(folder), install(compacted)))
        with pytest.raises(LoadError, match="folder has been removed"):
            store.compact()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_folder_is_the_same_from_elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the process moves, and where a link leads later."""
    monkeypatch.chdir(folder.parent)
    Path("link").symlink_to(folder.name)
    with gquery.Store.open("link") as store:
        Path("link").unlink()
        monkeypatch.chdir("/")
        store.apply(insert={"Person": {"id": [40]}})
        store.compact()
        store.apply(insert={"Person": {"id": [50]}})
    assert gquery.open(folder).query("MATCH (p:Person) WHERE p.id >= 40 RETURN count(*)").scalar() == 2


def test_compacting(folder: Path) -> None:
    with gquery.Store.open(folder) as store:
        store.apply(delete={"Person": {"id": [10]}}, insert={"Person": {"id": [50]}})
        reader = gquery.open(folder)
        before = Counter(map(str, reader.query("MATCH (n) RETURN id(n), n").rows()))
        old = log_of(folder)
        store.compact()
        assert log_of(folder) != old
        assert Counter(map(str, gquery.open(folder).query("MATCH (n) RETURN id(n), n").rows())) == before
        store.apply(insert={KNOWS: {"source": [50], "target": [50]}})
        assert (store.version, open_changed(folder).version) == (2, 2)
    with gquery.Store.open(folder) as store:
        assert store.version == 2
    assert Counter(map(str, reader.query("MATCH (n) RETURN id(n), n").rows())) == before
    gquery.open(folder).save(folder)  # which is another graph, without changes
    assert not [*folder.glob("changes-*.log")]
    assert open_changed(folder).version == 0


def test_a_compaction_that_fails_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with gquery.Store.open(folder) as store:
        store.apply(insert={KNOWS: {"source": [10], "target": [30]}})
        files = {path.name for path in folder.iterdir()}
        monkeypatch.setattr(os, "replace", _no_space)
        with pytest.raises(LoadError, match="No space"):
            store.compact()
        monkeypatch.undo()
        assert {path.name for path in folder.iterdir()} == files
        store.apply(insert={KNOWS: {"source": [10], "target": [30]}})
    assert gquery.open(folder).edge_count == 10


def test_a_disk_that_is_full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with gquery.Store.open(folder) as store:
        store.apply(insert={KNOWS: {"source": [10], "target": [30]}})
        write = os.write
        monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:10]) if len(data) > 200 else _no_space())
        with pytest.raises(LoadError, match="cannot be kept: No space"):
            store.apply(insert={KNOWS: {"source": [10], "target": [30]}})
        monkeypatch.undo()
        assert (store.version, store.graph.edge_count) == (1, 9)
        store.apply(insert={KNOWS: {"source": [30], "target": [30]}})
    assert gquery.open(folder).edge_count == 10


def _no_space(*_: object) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def edge(source: int, target: int) -> NewEdges:
    return NewEdges("KNOWS", np.array([source], np.int32), np.array([target], np.int32), pa.table({}))


NOBODY = np.zeros(0, np.int32)
LIES = {
    "an end that is no vertex": Batch(edges=(edge(99, 0),)),
    "a negative end": Batch(edges=(edge(0, -1),)),
    "an end that is gone": Batch(edges=(edge(4, 0),), gone_vertices=np.array([4], np.int32)),
    "a vertex whose edges stay": Batch(gone_vertices=np.array([0], np.int32)),
    "an edge that there is not": Batch(gone_edges=np.array([99])),
    "a value of nobody": Batch(vertex_values=(NewValues(np.array([99], np.int32), "x", pa.array([1])),)),
    "two values of one": Batch(vertex_values=(NewValues(np.array([1, 1], np.int32), "x", pa.array([1, 2])),)),
    "a value of an edge of nobody": Batch(edge_values=(NewValues(np.array([-1]), "x", pa.array([1])),)),
    "labels of nobody": Batch(labels=(NewLabels(np.array([99], np.int32), ("A",)),)),
    "a label twice": Batch(labels=(NewLabels(np.array([1], np.int32), ("A", "A")),)),
    "the planner's types": Batch(edges=(NewEdges("\0x", NOBODY, NOBODY, pa.table({})),)),
    "no id": Batch(vertices=(NewVertices(("A",), pa.table({"x": [1]}), pa.nulls(1, pa.int64())),)),
    "ids that are no ids": Batch(vertices=(NewVertices(("A",), pa.table({"x": [1]}), pa.array([1.5])),)),
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
def test_crafted_changes_are_refused(name: str, folder: Path) -> None:
    opened = open_changed(folder)
    log = Log(folder, opened.digest, 0, 0)
    log.append([Record(1, [LIES[name]], [0])])
    log.close()
    with pytest.raises(LoadError, match="damaged"):
        gquery.open(folder)


def test_bytes_that_are_no_changes(folder: Path) -> None:
    """With right checksums: whoever wrote them knows the format."""
    opened, random = open_changed(folder), Random("bytes")
    with gquery.Store.open(folder) as store:
        store.apply(insert={"Person": {"id": [40], "name": ["Eve"]}, KNOWS: {"source": [40], "target": [10]}})
    *_, (_, record, _) = logs._records(log_of(folder).read_bytes(), log_of(folder))
    content = bytes(record)
    for _ in range(300):
        wrong = bytearray(content)
        for _ in range(random.choice([1, 1, 3, 20])):
            wrong[random.randrange(len(wrong))] = random.randrange(256)
        path = log_of(folder)
        path.write_bytes(logs._head(0, b"") + logs._head(1, bytes(wrong)) + wrong)
        try:
            graph = Graph(open_changed(folder).snapshot)
            graph.query("MATCH (a)-[k]->(b) RETURN a, k, b").to_arrow()
        except LoadError:
            continue
    assert opened.version == 0
