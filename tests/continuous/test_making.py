"""Sums that are made behind who asks for changes: what is told meanwhile, how they come, and how making them ends."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest

import gquery
from gquery.continuous import standing
from gquery.continuous.numbers import kept, making
from gquery.continuous.numbers.counting import Counting
from gquery.continuous.numbers.making import THREAD
from gquery.continuous.watch import Watch
from gquery.errors import MemoryLimitError
from gquery.store import Store
from tests.continuous.making import are_there

QUERY = "MATCH (a:A)-[:X]->(b:B)-[:Y]->(c:C) RETURN count(*) AS n"
X, Y = ("A", "X", "B"), ("B", "Y", "C")
SIZE = 12
Key = tuple[str, str, str]


class Gate:
    """Where the thread that makes sums waits. passed: the versions that it has followed at once."""

    def __init__(self) -> None:
        self.begun, self.open = threading.Event(), threading.Event()
        self.failure: BaseException | None = None
        self.passed = 0

    def wait(self, control: Any) -> None:
        self.begun.set()
        while not self.open.wait(0.001):
            control.check()
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Sums are begun after the first change, and not made before the gate is opened."""
    values = {"_CHANGES": 1, "_LEAST": 0.0, "_CALL": -60.0, "_PATIENCE": 1e9, "_SOON": 60.0}
    for name, value in values.items():
        monkeypatch.setattr(kept, name, value)
    found, of, follow = Gate(), Counting.of, Counting.follow

    def wait_and_make(counting: Counting, snapshot: Any, control: Any) -> Any:
        found.wait(control)
        return of(counting, snapshot, control)

    def count_and_follow(counting: Counting, *given: Any) -> Any:
        found.passed += threading.current_thread().name == THREAD
        return follow(counting, *given)

    monkeypatch.setattr(Counting, "of", wait_and_make)
    monkeypatch.setattr(Counting, "follow", count_and_follow)
    yield found
    found.open.set()


def _store() -> Store:
    vertices = {label: {"id": list(range(SIZE))} for label in "ABC"}
    return Store(gquery.from_arrow(vertices, {key: {"source": [0, 1], "target": [0, 0]} for key in (X, Y)}))


class Beside:
    """A watch, and what it should tell of random single edges that come and go."""

    def __init__(self, **settings: Any) -> None:
        self.store = _store()
        self.watch: Watch = self.store.watch(QUERY, emit="counts", **settings)
        self._random = np.random.default_rng(7)
        self._edges: list[tuple[Key, int, int]] = [(key, source, 0) for key in (X, Y) for source in (0, 1)]

    def count(self) -> int:
        return int(self.store.graph.query(QUERY).scalar())

    def step(self) -> None:
        """One edge more or less; AssertionError where the change is told wrong."""
        before = self.count()
        self.write()
        self.follow(before)

    def write(self) -> None:
        if len(self._edges) > 8 and self._random.random() < 0.5:
            key, source, target = self._edges.pop(int(self._random.integers(len(self._edges))))
            self.store.apply(delete={key: {"source": [source], "target": [target]}})
            self._edges = [each for each in self._edges if each != (key, source, target)]
        else:
            key = (X, Y)[self._random.integers(2)]
            source, target = self._random.integers(0, SIZE // 3, 2).tolist()
            self._edges.append((key, source, target))
            self.store.apply(insert={key: {"source": [source], "target": [target]}})

    def follow(self, before: int) -> None:
        change = self.watch.next()
        assert change is not None
        added, removed = (each["n"][0].as_py() for each in (change.added, change.removed))
        assert added - removed == self.count() - before
        assert not (added and removed)

    @property
    def kept(self) -> kept.Kept:
        return self.watch._standing._kept

    def wait(self) -> None:
        """Until nothing is being made."""
        if self.kept._making is not None:
            self.kept._making._thread.join(120)
        assert not self.kept.is_making

    @property
    def is_told_by_sums(self) -> bool:
        return are_there(self.watch._standing, self.store.graph.snapshot)

    def go_on_by_sums(self) -> None:
        for _ in range(10):
            assert self.is_told_by_sums
            self.step()


def _alive() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == THREAD]


def test_changes_are_told_without_while_sums_are_made(gate: Gate) -> None:
    beside = Beside()
    beside.step()
    assert gate.begun.wait(120)
    for _ in range(3):
        beside.step()
        assert not beside.is_told_by_sums
    gate.open.set()
    beside.wait()
    assert gate.passed == 0  # so few are left to who asks
    beside.go_on_by_sums()


def test_many_changes_before_they_are_handed_over(gate: Gate) -> None:
    beside = Beside()
    for _ in range(40):
        beside.step()
    gate.open.set()
    beside.wait()
    assert gate.passed == 1
    beside.go_on_by_sums()


def test_changes_that_come_while_others_are_followed(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Round after round, until few are left."""
    beside, gates = Beside(), [Gate(), Gate()]
    follow = Counting.follow

    def wait_and_follow(counting: Counting, sums: Any, between: Any, control: Any) -> Any:
        if threading.current_thread().name == THREAD and gate.passed < len(gates):
            gates[gate.passed].wait(control)
        return follow(counting, sums, between, control)

    monkeypatch.setattr(Counting, "follow", wait_and_follow)
    monkeypatch.setattr(making, "_FEW", 1)
    beside.step()
    for current in (gate, *gates):
        assert current.begun.wait(120)
        for _ in range(5):
            beside.step()
        current.open.set()
    beside.wait()
    assert gate.passed == 3
    beside.go_on_by_sums()


def test_a_change_that_is_asked_again(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is noted once."""
    beside = Beside()
    beside.step()
    before = beside.count()
    beside.write()
    with monkeypatch.context() as patch:
        patch.setattr(standing.Standing, "_found", lambda *_: pytest.fail("late"))
        with pytest.raises(pytest.fail.Exception):
            beside.watch.next()
    beside.follow(before)
    gate.open.set()
    beside.wait()
    beside.go_on_by_sums()


@pytest.mark.parametrize("what", ["large", "compacted", "other properties"])
def test_what_sums_cannot_follow_to(what: str, gate: Gate) -> None:
    """Then they are not made to the end, and begun anew by a later change."""
    beside = Beside()
    for _ in range(12):
        beside.step()
    before = beside.count()
    if what == "large":
        beside.store.apply(insert={X: {"source": [1] * 20, "target": [2] * 20}})
    elif what == "compacted":
        beside.write()
        beside.follow(before)
        beside.store.compact()
        before = beside.count()
        beside.write()
    else:
        beside.store.apply(set={"A": {"id": [1], "p": [1.5]}})
    beside.follow(before)
    assert not beside.is_told_by_sums
    beside.wait()
    beside.step()
    assert not beside.is_told_by_sums
    gate.open.set()
    beside.wait()
    beside.go_on_by_sums()


@pytest.mark.parametrize("how", ["watch", "store", "forgotten"])
def test_no_thread_is_left_behind(how: str, gate: Gate) -> None:
    beside = Beside()
    beside.step()
    assert gate.begun.wait(120)
    assert _alive()
    if how == "watch":
        before = beside.count()
        beside.write()
        beside.watch.close()
        assert not _alive()
        beside.follow(before)
    elif how == "store":
        beside.store.close()
    else:
        watch = ref(beside.watch)
        del beside
        gc.collect()
        assert watch() is None
        for thread in _alive():
            thread.join(120)
    assert not _alive()


def test_waiting_ends_with_the_store() -> None:
    store = _store()
    thread = threading.Thread(target=lambda: list(store.watch(QUERY, emit="counts")))
    thread.start()
    while store._versions is None or not store._versions._followers:
        time.sleep(0.001)
    store.close()
    thread.join(120)
    assert not thread.is_alive()


def test_the_process_ends_while_sums_are_made() -> None:
    script = """
import time
import gquery
from gquery.continuous.numbers import kept
from gquery.continuous.numbers.counting import Counting
from tests.continuous.test_making import Beside

def wait(counting, snapshot, control):
    print("begun", flush=True)
    while True:
        control.check()
        time.sleep(0.001)

kept._CHANGES, kept._LEAST, kept._CALL = 1, 0.0, -60.0
Counting.of = wait
Beside().step()
beside = Beside()
beside.step()
time.sleep(0.1)
"""
    root = Path(__file__).parents[2]
    run = partial(subprocess.run, cwd=root, capture_output=True, text=True, timeout=120, check=False)
    done = run([sys.executable, "-c", script])
    assert (done.returncode, done.stdout) == (0, "begun\nbegun\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("told", ["next", "close", "store"])
def test_what_goes_wrong_behind_is_raised_once(told: str, gate: Gate) -> None:
    beside = Beside()
    beside.step()
    gate.failure = ZeroDivisionError("a fault")
    gate.open.set()
    beside.wait()
    before = beside.count()
    beside.write()
    with pytest.raises(ZeroDivisionError, match="a fault"):
        {"next": beside.watch.next, "close": beside.watch.close, "store": beside.store.close}[told]()
    gate.failure = None
    beside.follow(before)
    beside.store.close()


def test_what_a_query_may_raise_is_no_fault(gate: Gate) -> None:
    """Changes are told without, and sums are tried again later."""
    beside = Beside()
    beside.step()
    gate.failure = MemoryLimitError("no room")
    gate.open.set()
    beside.wait()
    beside.step()
    assert not beside.is_told_by_sums


def test_no_thread_is_to_be_had(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    beside = Beside()
    with monkeypatch.context() as patch:
        patch.setattr(making.threading.Thread, "start", refuse)
        beside.step()
        beside.kept.stop()
    gate.open.set()
    beside.step()
    beside.wait()
    assert beside.is_told_by_sums


def test_who_reads_an_old_version_keeps_it(gate: Gate) -> None:
    beside = Beside()
    beside.step()
    held, number = beside.store.graph, beside.count()
    for _ in range(12):
        beside.step()
    gate.open.set()
    beside.wait()
    for _ in range(3):
        beside.step()
    assert beside.kept._making is None
    assert held.query(QUERY).scalar() == number


def test_both_keep_to_the_memory_limit(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """While sums are made changes have half of it, and all of it where that is not enough: then sums wait."""
    limits: list[int | None] = []
    whole = standing.Standing._change

    def change(asked: Any, between: Any, control: Any) -> Any:
        limits.append(control.memory_limit)
        if len(limits) == 3:
            control.memory.reserve(control.memory_limit + 1, "a test")
        return whole(asked, between, control)

    monkeypatch.setattr(standing.Standing, "_change", change)
    beside = Beside(memory_limit=2**28)
    beside.step()
    assert beside.kept._making is not None
    assert beside.kept._making._control.memory_limit == 2**27
    beside.step()
    beside.step()
    assert limits == [2**28, 2**27, 2**27, 2**28]


def test_a_change_that_takes_long_waits_for_the_sums(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside()
    beside.step()
    assert gate.begun.wait(120)
    monkeypatch.setattr(kept, "_SOON", 0.0)  # whatever terms take is long
    threading.Timer(0.1, gate.open.set).start()
    began = time.monotonic()
    beside.step()
    assert time.monotonic() - began > 0.05
    assert beside.kept._sums is not None
    for _ in range(20):
        beside.step()
    beside.store.close()


def test_nobody_waits_for_long_or_twice(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside()
    beside.step()
    assert gate.begun.wait(120)
    monkeypatch.setattr(kept, "_SOON", 0.0)
    monkeypatch.setattr(kept, "_AWAITED", 0.05)
    waited: list[float] = []
    wait = kept.Kept.wait

    def noted(self: kept.Kept, control: Any) -> None:
        began = time.monotonic()
        wait(self, control)
        waited.append(time.monotonic() - began)

    monkeypatch.setattr(kept.Kept, "wait", noted)
    for _ in range(10):
        beside.step()
    assert len(waited) == 1
    assert waited[0] >= 0.05
    assert beside.kept._sums is None
    gate.open.set()
    beside.wait()
    beside.step()
    assert beside.kept._sums is not None
    beside.store.close()


def test_who_waits_for_sums_has_time_left_to_do_without(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside(timeout=2.0)
    beside.step()
    assert gate.begun.wait(120)
    monkeypatch.setattr(kept, "_SOON", 0.0)
    taken: list[float] = []
    answered = kept.Kept.answered_without

    def noted(self: kept.Kept, apart: Any, between: Any, seconds: float) -> None:
        taken.append(seconds)
        answered(self, apart, between, seconds)

    monkeypatch.setattr(kept.Kept, "answered_without", noted)
    began = time.monotonic()
    beside.step()
    assert time.monotonic() - began > 0.5
    assert taken[0] < 0.5  # what was waited for in vain does not count as work
    gate.open.set()
    beside.wait()
    beside.store.close()
