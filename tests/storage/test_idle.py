"""What is between two uses is in one hand at a time, bounded, and forgotten with what it may hold."""

from __future__ import annotations

import numpy as np

from gquery.storage.cache import Cache
from gquery.storage.idle import Idle


def rest(idle: Idle, key: object, value: object, nbytes: int = 0, limit: int | None = None) -> None:
    if idle.expects(key):
        idle.put(key, value, nbytes, idle.epoch, limit)


def test_who_asks_once_leaves_nothing() -> None:
    idle = Idle()
    rest(idle, "key", "first")
    assert idle.take("key") is None
    rest(idle, "key", "second")
    assert idle.take("key") == "second"


def test_a_value_is_in_one_hand() -> None:
    idle = Idle()
    idle.expects("key")
    for value in ("one", "other"):
        rest(idle, "key", value)
    assert {idle.take("key"), idle.take("key")} == {"one", "other"}
    assert idle.take("key") is None


def test_the_bound_holds() -> None:
    idle = Idle(1 << 20)
    for _ in range(2):
        for key in range(100):
            rest(idle, key, key, 100_000)
            assert idle.nbytes <= idle.most
    kept = [key for key in range(100) if idle.take(key) is not None]
    assert kept == [94, 95, 96, 97, 98, 99]
    assert idle.nbytes == 0
    for key in range(10_000):
        idle.expects(("once", key))
    assert len(idle._seen) < 2_000


def test_what_is_asked_for_stays() -> None:
    idle = Idle(1 << 20)
    for key in range(50):
        for _ in range(2):
            rest(idle, key, key, 200_000)
        if key:
            assert idle.take(0) == 0
            rest(idle, 0, 0, 200_000)


def test_what_is_large_is_not_kept() -> None:
    idle = Idle(1 << 20)
    for nbytes, limit in ((1 << 20, None), (200_000, 250_000)):
        for _ in range(2):
            rest(idle, nbytes, "value", nbytes, limit)
        assert idle.take(nbytes) is None
    assert idle.nbytes == 0


def test_all_goes_before_a_cache_forgets() -> None:
    """Else it would hold what the cache has forgotten, and nobody would count that."""
    idle = Idle()
    cache = Cache(100, idle.clear)
    cache.get("a", lambda: np.zeros(60, np.int8), 60, "it")
    idle.expects("resting"), idle.expects("in use")
    before = idle.epoch
    rest(idle, "resting", "value")
    cache.get("b", lambda: np.zeros(40, np.int8), 40, "it")
    assert idle.take("resting") == "value"
    rest(idle, "resting", "value")
    cache.get("c", lambda: np.zeros(10, np.int8), 10, "it")
    assert idle.take("resting") is None
    assert idle.nbytes == 0
    idle.expects("in use")
    idle.put("in use", "value", 0, before)
    assert idle.take("in use") is None
