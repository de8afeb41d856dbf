"""Kernels of a card may have to be compiled, which takes some seconds: whoever asks waits no longer than a timeout
says, hears why, and can be stopped."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress

import pytest

import gquery
from gquery.executor import devices
from gquery.stopping import awaited, unchecked

COUNT = "MATCH (a)-[:X]->(b) RETURN count(*)"


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A card whose kernels are compiled until this is set."""
    ready = threading.Event()
    monkeypatch.setattr(devices, "_getting_ready", lambda: ready)
    return ready


def small() -> gquery.Graph:
    return gquery.from_arrow({"A": {"id": [1, 2]}}, {("A", "X", "A"): {"source": [1], "target": [2]}})


def test_a_timeout_holds(compiling: threading.Event) -> None:
    began = time.perf_counter()
    with pytest.raises(gquery.QueryTimeout):
        small().query(COUNT, device="gpu", timeout=0.2).scalar()
    assert time.perf_counter() - began < 2.0


def test_a_cancel_is_heard(compiling: threading.Event) -> None:
    result = small().query(COUNT, device="gpu")
    threading.Timer(0.2, result.cancel).start()
    with pytest.raises(gquery.QueryCancelled):
        result.scalar()


def test_who_waits_is_told(
    compiling: threading.Event, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(devices, "_SOON", 0.0)
    threading.Timer(0.2, compiling.set).start()
    with caplog.at_level(logging.WARNING, "gquery"), suppress(gquery.UnsupportedError):  # there is none here
        small().query(COUNT, device="gpu").scalar()
    assert "compiles its kernels for the card" in caplog.text


def test_what_is_made_is_handed_over() -> None:
    assert awaited(lambda: 7, unchecked) == 7
    with pytest.raises(ZeroDivisionError):
        awaited(lambda: 1 // 0, unchecked)


def test_who_waits_is_checked() -> None:
    done = threading.Event()

    def stop() -> None:
        raise gquery.QueryCancelled("no more")

    with pytest.raises(gquery.QueryCancelled):
        awaited(lambda: done.wait(10), stop)
    done.set()
