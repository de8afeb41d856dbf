"""A saved graph is the graph: types, order, adjacencies, statistics; saving over one never spoils what is open."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.errors import LoadError, QueryTimeout
from gquery.storage.graph import Snapshot
from gquery.storage.persist import is_saved, open_snapshot, save
from tests.storage.snapshots import content, rich_snapshot


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "saved.gq"


def test_what_is_saved_is_what_opens(folder: Path) -> None:
    save(rich_snapshot(), folder)
    assert is_saved(folder)
    assert content(open_snapshot(folder)) == content(rich_snapshot())


def test_an_empty_graph(folder: Path) -> None:
    save(Snapshot([], []), folder)
    opened = open_snapshot(folder)
    assert (opened.vertex_count, opened.edge_count, opened.schema.labels) == (0, 0, ())


def test_an_opened_graph_can_be_saved_elsewhere_and_over_itself(folder: Path, tmp_path: Path) -> None:
    save(rich_snapshot(3), folder)
    opened = open_snapshot(folder)
    save(opened, tmp_path / "copy.gq")
    save(opened, folder)
    assert content(open_snapshot(tmp_path / "copy.gq")) == content(rich_snapshot(3))
    assert content(open_snapshot(folder)) == content(rich_snapshot(3))


def test_a_graph_that_is_open_stays_what_it_was(folder: Path) -> None:
    save(rich_snapshot(1), folder)
    untouched = open_snapshot(folder)
    save(rich_snapshot(2), folder)
    assert content(untouched) == content(rich_snapshot(1))
    assert content(open_snapshot(folder)) == content(rich_snapshot(2))


def test_only_files_of_the_last_save_are_left(folder: Path) -> None:
    save(rich_snapshot(1), folder)
    before = set(os.listdir(folder))
    save(rich_snapshot(2), folder)
    after = set(os.listdir(folder))
    assert len(after) == len(before)
    assert before & after == {"gquery.json", "gquery.lock"}


def test_leftovers_of_a_killed_save_go_and_other_files_stay(folder: Path) -> None:
    save(rich_snapshot(1), folder)
    for name in ("0123abcd-7.arrow", "gquery.0123abcd.tmp", "notes.txt", "mine.arrow"):
        (folder / name).write_text("x")
    save(rich_snapshot(2), folder)
    assert {"notes.txt", "mine.arrow"} <= set(os.listdir(folder))
    assert not {"0123abcd-7.arrow", "gquery.0123abcd.tmp"} & set(os.listdir(folder))


def test_arrays_and_columns_are_views_of_the_files(folder: Path) -> None:
    save(rich_snapshot(), folder)
    before = pa.total_allocated_bytes()
    opened = open_snapshot(folder)
    adjacency = opened.adjacency(["KNOWS"], "out")
    kept = [opened.vertex_tables[0].columns["name"], opened.edge_tables[0].ends]
    assert pa.total_allocated_bytes() - before < 1024  # nothing that grows with the graph
    assert not adjacency.neighbours.flags.owndata
    assert not adjacency.neighbours.flags.writeable
    assert adjacency.edges.flags.c_contiguous
    assert len(kept) == 2


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not list descriptors")
def test_an_open_graph_holds_maps_and_no_descriptors(folder: Path) -> None:
    """A process has a thousand descriptors, a graph may have more columns; and maps go with whoever reads them."""
    save(rich_snapshot(), folder)
    before = len(os.listdir("/proc/self/fd"))
    opened = open_snapshot(folder)
    names = opened.vertex_tables[0].columns["name"]
    assert len(os.listdir("/proc/self/fd")) == before
    assert str(folder) in Path("/proc/self/maps").read_text()
    del opened
    gc.collect()
    assert names.to_pylist() == rich_snapshot().vertex_tables[0].columns["name"].to_pylist()
    del names
    gc.collect()
    assert str(folder) not in Path("/proc/self/maps").read_text()


def test_opening_reads_no_file_but_the_manifest(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(rich_snapshot(), folder)
    monkeypatch.setattr("gquery.storage.persist.files.pa.ipc.open_file", lambda *_: pytest.fail("a file was read"))
    opened = open_snapshot(folder)
    assert (opened.vertex_count, opened.edge_count) == (8, 8)
    assert opened.schema.vertex_properties()["score"] == (pa.float64(),)


def test_ids_that_are_a_property_are_written_once(folder: Path) -> None:
    save(rich_snapshot(), folder)
    opened = open_snapshot(folder)
    people = opened.vertex_tables[0]
    assert people.ids.chunk(0).buffers()[1].address == people.columns["id"].chunk(0).buffers()[1].address


def test_verifying_can_be_stopped_and_begun_again(folder: Path) -> None:
    save(rich_snapshot(), folder)
    opened = open_snapshot(folder)

    def stop() -> None:
        raise QueryTimeout("enough")

    with pytest.raises(QueryTimeout):
        opened.counts.make_sure(["KNOWS"], stop)
    assert content(opened) == content(rich_snapshot())
    opened.counts.make_sure(["KNOWS", "ABSENT"], stop)  # which it is already


def test_a_slice_is_saved_alone(folder: Path) -> None:
    column = pa.chunked_array([pa.array(["no", "a", "b", None, "c"])]).slice(1)
    graph = rich_snapshot()
    table = graph.vertex_tables[1].from_arrow(("Post",), column, pa.table({"text": column}), None)
    save(Snapshot([table], []), folder)
    assert open_snapshot(folder).vertex_tables[0].columns["text"].to_pylist() == ["a", "b", None, "c"]


def test_a_folder_of_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(LoadError, match="holds other things"):
        save(rich_snapshot(), tmp_path)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "graph.csv"
    file.write_text("a,b")
    with pytest.raises(LoadError, match="is a file"):
        save(rich_snapshot(), file)
    with pytest.raises(LoadError, match="cannot be saved"):
        save(rich_snapshot(), file / "below")


def test_an_empty_folder_and_new_parents_are_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "a" / "b" / "graph.gq"):
        save(rich_snapshot(), path)
        assert is_saved(path)


def test_opening_what_is_no_saved_graph(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="does not exist"):
        open_snapshot(tmp_path / "absent.gq")
    with pytest.raises(LoadError, match=r"is no saved graph[^$]*gquery\.load"):
        open_snapshot(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(LoadError, match="is no saved graph"):
        open_snapshot(tmp_path / "file")


@pytest.mark.parametrize("path", [None, b"saved.gq", 5, "", "a\0b", "x" * 5000, "\ud800", ["a"], 1.5])
def test_what_is_no_path(path: Any) -> None:
    with pytest.raises(LoadError) as opening:
        gquery.open(path)
    with pytest.raises(LoadError) as saving:
        gquery.from_arrow({"A": {"id": [1]}}, {}).save(path)
    assert len(str(opening.value)) < 500 or len(path) > 500
    assert str(saving.value)
    assert not is_saved(path)


def test_a_folder_without_permission(folder: Path) -> None:
    save(rich_snapshot(), folder)
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("nothing is forbidden to root")
    (folder / "gquery.json").chmod(0)
    with pytest.raises(LoadError, match="Permission denied"):
        open_snapshot(folder)


def test_two_saves_at_once(folder: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    save(rich_snapshot(1), folder)
    with open(folder / "gquery.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LoadError, match="is being written to by process"):
            save(rich_snapshot(2), folder)
    save(rich_snapshot(2), folder)
    assert content(open_snapshot(folder)) == content(rich_snapshot(2))


def test_a_full_disk_leaves_the_old_graph(folder: Path) -> None:
    """The limit on the size of a file stands for the end of the disk."""
    resource = pytest.importorskip("resource")
    save(rich_snapshot(1), folder)
    before = set(os.listdir(folder))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (700, hard))
    try:
        with pytest.raises(LoadError, match="cannot be saved") as raised:
            save(rich_snapshot(2), folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert raised.value.file is not None
    assert raised.value.file.endswith(".arrow")
    assert set(os.listdir(folder)) == before
    assert content(open_snapshot(folder)) == content(rich_snapshot(1))


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
def test_a_refusal_of_the_system_leaves_the_old_graph(folder: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    save(rich_snapshot(1), folder)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    new = folder.parent / "new" / "graph.gq"
    with monkeypatch.context() as patched:
        patched.setattr(os, call, refuse)
        for place in (folder, new):
            with pytest.raises(LoadError, match="Permission denied"):
                save(rich_snapshot(2), place)
    assert not new.parent.exists()
    assert content(open_snapshot(folder)) == content(rich_snapshot(1))
    save(rich_snapshot(2), folder)
    assert content(open_snapshot(folder)) == content(rich_snapshot(2))


def test_opening_while_a_save_ends_takes_the_new_graph(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(rich_snapshot(1), folder)
    from gquery.storage.persist import open as opening

    read = opening.read_manifest
    manifests = iter([read(folder)])
    save(rich_snapshot(2), folder)
    monkeypatch.setattr(opening, "read_manifest", lambda directory: next(manifests, None) or read(directory))
    assert content(open_snapshot(folder)) == content(rich_snapshot(2))


def test_adjacency_over_several_saved_types_is_built(folder: Path) -> None:
    save(rich_snapshot(), folder)
    both = open_snapshot(folder).adjacency(["KNOWS", "LIKES"], "out")
    expected = rich_snapshot().adjacency(["KNOWS", "LIKES"], "out")
    assert np.array_equal(both.neighbours, expected.neighbours)
