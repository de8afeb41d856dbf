"""Pinned memory that is lent, and comes back."""

from __future__ import annotations

import gc

import pytest

from gquery.executor.gpu import pinned
from gquery.executor.gpu.pinned import Pinned

KB = 1 << 10


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes that were pinned; 1 MB is all there may be."""
    monkeypatch.setattr(pinned, "_MOST", 1024 * KB)
    return []


@pytest.fixture
def lender(made: list[int]) -> Pinned:
    def pin(size: int) -> bytearray:
        if size == 512 * KB:
            raise MemoryError
        made.append(size)
        return bytearray(size)

    return Pinned(pin, (MemoryError,))


def test_what_comes_back_is_lent_again(lender: Pinned, made: list[int]) -> None:
    for turn in range(3):
        array = lender.lend(100 * KB)
        assert array is not None
        assert array.nbytes == 100 * KB
        array[:] = turn
        part = array[5:7].view("int8")
        del array
        gc.collect()
        assert part.tolist() == [turn, turn]  # a part of it keeps the whole
        other = lender.lend(100 * KB)
        assert other is not None
        del part, other
        gc.collect()
    assert made == [128 * KB, 128 * KB]


def test_there_is_a_bound(lender: Pinned, made: list[int]) -> None:
    lent = [lender.lend(256 * KB) for _ in range(4)]
    assert all(each is not None for each in lent)
    assert lender.lend(256 * KB) is None
    del lent
    gc.collect()
    assert lender.lend(1000 * KB) is not None  # what has come back makes room
    assert made == [256 * KB] * 4 + [1024 * KB]


def test_little_is_not_worth_it_and_errors_are_none(lender: Pinned, made: list[int]) -> None:
    assert lender.lend(0) is None
    assert lender.lend(KB) is None
    assert lender.lend(300 * KB) is None
    assert not made
