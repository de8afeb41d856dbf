"""Indexes find what a scan finds; those that a saved graph brings along are verified."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import gquery
from gquery.executor.progress import Control
from gquery.storage import indexes
from gquery.storage.indexes import Index, is_order, order_of

Order = NDArray[np.int32]


def _column(kind: str, random: Random) -> pa.ChunkedArray:
    count = random.randint(0, 300)
    values: list[Any] = [random.randint(-40, 40) for _ in range(count)]
    if kind == "text":
        values = ["ä€😀ab"[value % 5] * (value % 3) for value in values]
    elif kind == "days":
        values = [datetime.date(2000, 1, 1) + datetime.timedelta(value) for value in values]
    values = [None if random.random() < 0.1 else value for value in values]
    cut = random.randint(0, count)
    type_ = {"int8": pa.int8(), "text": pa.string(), "days": pa.date32()}[kind]
    return pa.chunked_array([pa.array(values[:cut], type_), pa.array(values[cut:], type_)])


@pytest.mark.parametrize("kind", ["int8", "text", "days"])
@pytest.mark.parametrize("seed", range(20))
def test_rows(kind: str, seed: int) -> None:
    values = _column(kind, Random(f"{kind} {seed}"))
    index = Index(values, order_of(values))
    plain = values.to_pylist()
    assert is_order(index.order, values)
    for value in {*plain[:20], *plain[-20:]}:
        expected = [row for row, each in enumerate(plain) if each is not None and each == value]
        assert index.rows([value]).tolist() == expected
    some = plain[::7]
    assert index.rows(some).tolist() == [row for row, each in enumerate(plain) if each is not None and each in some]


LIES: dict[str, Callable[[Order], Order]] = {
    "two swapped": lambda order: order[[1, 0, *range(2, len(order))]],
    "one twice": lambda order: order[[0, 0, *range(2, len(order))]],
    "one missing": lambda order: order[1:],
    "one beyond": lambda order: np.where(order == order.max(), len(order), order).astype(np.int32),
    "one before": lambda order: np.where(order == 0, -1, order).astype(np.int32),
    "equal ones swapped": lambda order: order[[0, 1, 3, 2, *range(4, len(order))]],
    "of another type": lambda order: order.astype(np.int64),
    "empty": lambda order: order[:0],
}


@pytest.mark.parametrize("lie", LIES)
def test_a_saved_index_that_lies_is_refused(lie: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "FEWEST", 4)
    monkeypatch.setattr(indexes, "_PROBE", 0)
    honest = indexes.order_of
    people = pa.table({"id": [5, 3, 9, 1, 7, 4, 2, 8], "name": ["a", "b", "c", "c", "d", "e", "f", "g"]})
    graph = gquery.from_arrow(vertices={"P": people}, edges={})
    graph.snapshot.indexes._asked[0, "name"] = indexes.ENOUGH + 1
    monkeypatch.setattr(indexes, "order_of", lambda values: LIES[lie](honest(values)))
    graph.save(tmp_path / "saved.gq")
    opened = gquery.open(tmp_path / "saved.gq").snapshot
    control = Control(None)
    with pytest.raises(gquery.LoadError, match="damaged"):
        opened.indexes.index(0, "name", 1, control.check, control.memory)


def test_saved_indexes_are_there_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "FEWEST", 4)
    monkeypatch.setattr(indexes, "_PROBE", 0)
    people = pa.table({"id": [5, 3, 9, 1, 7], "name": ["a", None, "c", "c", "d"]})
    graph = gquery.from_arrow(vertices={"P": people}, edges={})
    graph.snapshot.indexes._asked[0, "name"] = indexes.ENOUGH + 1
    for folder in (tmp_path / "one.gq", tmp_path / "two.gq"):
        graph.save(folder)
        graph = gquery.open(folder)
        control = Control(None)
        of_names = graph.snapshot.indexes.index(0, "name", 1, control.check, control.memory)
        of_ids = graph.snapshot.indexes.index(0, None, 1, control.check, control.memory)
        as_property = graph.snapshot.indexes.index(0, "id", 1, control.check, control.memory)
        assert of_names is not None
        assert of_names.rows(["c", "x", None]).tolist() == [2, 3]
        assert of_ids is not None
        assert of_ids.rows([9, 5]).tolist() == [0, 2]
        assert as_property is not None
        assert as_property.rows([7]).tolist() == [4]


def test_an_index_is_made_once_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    count = indexes.FEWEST
    graph = gquery.from_arrow(vertices={"P": {"id": np.arange(count), "x": np.arange(count) % 7}}, edges={})
    control = Control(None)
    asked = [graph.snapshot.indexes.index(0, "x", 1, control.check, control.memory) for _ in range(indexes.ENOUGH + 2)]
    assert [index is not None for index in asked] == [False] * indexes.ENOUGH + [True] * 2
    assert graph.snapshot.indexes.index(0, "x", count, control.check, control.memory) is None


@pytest.mark.parametrize("last", [0, 2**18, None])
def test_a_column_that_ascends_needs_no_sorting(last: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "order_of", lambda _: pytest.fail("sorted"))
    numbers: list[int | None] = [number // 2 for number in range(indexes._BLOCK + 5)]
    numbers[-1] = last
    graph = gquery.from_arrow(vertices={"P": {"id": range(len(numbers)), "x": numbers}}, edges={})
    control = Control(None)
    found = graph.snapshot.indexes.index(0, "x", 1, control.check, control.memory)
    assert (found is not None) == (last == 2**18)
    if found is not None:
        assert found.rows([7, 2**18]).tolist() == [14, 15, len(numbers) - 1]


def test_sorting_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    count = indexes.FEWEST
    graph = gquery.from_arrow(vertices={"P": {"id": np.arange(count)}}, edges={})
    graph.snapshot.indexes._asked[0, None] = indexes.ENOUGH
    graph.snapshot.indexes._ascending[0, None] = False

    def stop() -> None:
        raise gquery.QueryTimeout("now")

    sorted_at_last = threading.Event()
    monkeypatch.setattr(indexes, "order_of", lambda _: sorted_at_last.wait())
    with pytest.raises(gquery.QueryTimeout):
        graph.snapshot.indexes.index(0, None, 1, stop, Control(None).memory)
    sorted_at_last.set()


@pytest.mark.parametrize("seed", range(5))
def test_numbers_that_nearly_count_up(seed: int) -> None:
    """A number stands where it would if all counted up, or before, or behind, once or several times."""
    random = np.random.default_rng(seed)
    steps = random.choice([0, 1, 2], 3_000, p=[0.02, 0.96, 0.02])
    values = np.cumsum(steps) - 40
    index = indexes.Index(pa.chunked_array([values[:1_000], values[1_000:]]), np.arange(3_000, dtype=np.int32))
    for value in [*range(-45, 3_010, 7), *random.choice(values, 200).tolist()]:
        assert index.rows([value]).tolist() == np.flatnonzero(values == value).tolist(), (seed, value)
