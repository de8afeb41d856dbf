"""A process that is forked at any moment asks on: nothing that a thread of its parent was at is waited for."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import gquery
from gquery import imports
from gquery.lasting.promises import Promise
from gquery.lasting.properties import cached_property
from gquery.planner.memo.recent import Recent
from gquery.storage.cache import Cache
from gquery.storage.changes import ahead
from gquery.store.compaction import Compacted

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def forked(work: Callable[[], object]) -> bool:
    """Whether it ends, and well, in a process that is forked now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that there are
        process = os.fork()
    if process == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.01)
    os.kill(process, 9)
    os.waitpid(process, 0)
    return False


@contextmanager
def at_work(work: Callable[[Callable[[], None]], object]) -> Iterator[None]:
    """Within, another thread stands in the middle of the work, where it calls what it is given."""
    there, go_on, process = threading.Event(), threading.Event(), os.getpid()

    def stand() -> None:
        if os.getpid() == process:
            there.set()
            go_on.wait(60)

    thread = threading.Thread(target=work, args=(stand,))
    thread.start()
    assert there.wait(20)
    try:
        yield
    finally:
        go_on.set()
        thread.join()


class Holder:
    def __init__(self, made: Callable[[], object]) -> None:
        self.made = made

    @cached_property
    def value(self) -> object:
        self.made()
        return object()


def test_a_property_that_another_thread_works_out() -> None:
    slow, quick = [], Holder(lambda: None)

    def work(stand: Callable[[], None]) -> None:
        slow.append(Holder(stand))
        slow[0].value  # noqa: B018

    with at_work(work):
        assert quick.value is quick.value  # no thread waits for another's object
        assert forked(lambda: Holder(lambda: None).value)
        slow[0].made = lambda: None
        first = slow[0].value
    assert slow[0].value is first  # somebody may have taken its address


def test_what_a_graph_keeps() -> None:
    cache: Cache = Cache()

    def made(stand: Callable[[], None]) -> Sized:
        stand()
        return Sized()

    with at_work(lambda stand: cache.get("a", lambda: made(stand), 1, "a test")):
        assert forked(lambda: cache.get("a", Sized, 1, "a test"))


class Sized:
    nbytes = 1


def test_what_is_remembered_of_queries() -> None:
    recent: Recent[int] = Recent(10)

    def work(stand: Callable[[], None]) -> None:
        with recent._lock:
            stand()

    with at_work(work):
        assert forked(lambda: recent.get("a", lambda: 1))


def _writes(store: gquery.Store, stand: Callable[[], None]) -> None:
    end = store.on_commit(lambda made: stand())
    store.apply(insert={"P": {"id": [2]}})
    end()


def _compacts(store: gquery.Store, stand: Callable[[], None]) -> None:
    store.apply(insert={"P": {"id": [2]}})
    install = Compacted.install
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compacted, "install", lambda compacted: (stand(), install(compacted)))
        store.compact()


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("work", [_writes, _compacts])
def test_a_store_that_another_thread_is_at(
    work: Callable[[gquery.Store, Callable[[], None]], None], kept: bool, tmp_path: Path
) -> None:
    """It was waited for by what was to write, to compact or to close in the new process."""
    graph = gquery.from_arrow(vertices={"P": {"id": [1]}}, edges={})
    graph.save(tmp_path / "graph.gq")
    store = gquery.Store.open(tmp_path / "graph.gq") if kept else gquery.Store(graph)
    watch = store.watch("MATCH (p:P) RETURN p.id AS id")

    def go_on() -> None:
        for change in (lambda: store.apply(insert={"P": {"id": [3]}}), store.compact):
            try:
                change()
            except gquery.LoadError:
                assert kept
            else:
                assert not kept
        while watch.next() is not None:
            pass
        store.close()

    with at_work(lambda stand: work(store, stand)):
        assert forked(go_on)
    assert store.graph.vertex_count == 2
    store.close()


def test_a_package_that_is_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.5)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(imports, "_asked", imports.Counter())
    assert not imports.is_imported("slow_to_import", 1)
    while "slow_to_import" not in sys.modules:
        time.sleep(0.001)
    assert forked(lambda: __import__("slow_to_import"))


def test_room_that_another_thread_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first change waited for it, and so did that of any later store of the same graph."""
    monkeypatch.setattr(ahead, "_LEAST", 1)
    edges = {"source": [*range(99)], "target": [*range(1, 100)]}
    graph = gquery.from_arrow({"A": {"id": [*range(100)]}}, {("A", "T", "A"): edges})
    for direction in ("out", "in"):
        graph.snapshot.adjacency(["T"], direction)
    with_room = ahead.with_room

    def work(stand: Callable[[], None]) -> None:
        monkeypatch.setattr(ahead, "with_room", lambda adjacency: (stand(), with_room(adjacency))[1])
        ahead.RoomAhead(graph.snapshot.edges).make()

    def change() -> None:
        store = gquery.Store(graph)
        store.apply(insert={("A", "T", "A"): {"source": [7], "target": [20]}})
        assert store.graph.query("MATCH ({id: 7})-->(b) RETURN b.id AS b ORDER BY b").rows() == [(8,), (20,)]
        store.close()

    with at_work(work):
        assert forked(change)


def test_what_another_thread_has_made_is_there() -> None:
    promise = Promise[int]()
    promise.keep(3)
    assert forked(lambda: {3: None}[promise.result()])
